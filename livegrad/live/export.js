import { element } from "./element.js";

// What leaves a page: a file that is saved, a text that is copied.

// Saves text, bytes, or an address of the kind data: as a file.
export function download(name, content, type) {
  const url =
    typeof content === "string" && content.startsWith("data:")
      ? content
      : URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  if (url.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Copies a text, and gives the sentence that says so, or that brings the text where the browser does not let it be copied.
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    return `${what} is copied.`;
  } catch {
    return `The browser does not let the page copy. Select and copy it here: ${text}`;
  }
}
