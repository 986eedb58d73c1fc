import { element } from "livegrad/live/element.js";

// What readers write is kept in their own browser, under keys that begin with "mha:", and goes nowhere else.
const PREFIX = "mha:";
export const UNKEPT = "This browser keeps nothing for this page: what you write here is forgotten when you leave it.";

// Null where nothing was kept, or where the browser refuses to tell.
export function kept(key) {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

// Tells whether it is kept; nothing is kept of an empty text. Where the browser keeps nothing, the page has a stand-in
// (STORAGE in book/_ext/bookext.py), which forgets when the page is left.
function written(key, text) {
  try {
    if (text) localStorage.setItem(PREFIX + key, text);
    else localStorage.removeItem(PREFIX + key);
    return localStorage instanceof Storage;
  } catch {
    return false;
  }
}

// A browser that keeps nothing is named once on the page, at the end of `place`.
export function keep(key, text, place) {
  if (!written(key, text) && !document.querySelector(".mha-unkept"))
    place.append(element("p", { className: "mha-unkept", role: "status", textContent: UNKEPT }));
}

// What is kept under keys that begin so: the rest of the key → its text.
export function keptUnder(beginning) {
  const start = PREFIX + beginning;
  try {
    const found = Object.keys(localStorage).filter((key) => key.startsWith(start));
    return Object.fromEntries(found.map((key) => [key.slice(start.length), localStorage.getItem(key)]));
  } catch {
    return {};
  }
}

export const keeps = () => written("tried", "yes") && written("tried", "");

export function forget() {
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  } catch {
    // nothing was kept
  }
}
