import { copy, download } from "livegrad/live/export.js";
import { all, begin, show } from "./guess.js";
import { packed } from "./handed_in.js";
import { UNKEPT, forget, keep, keeps, kept, keptUnder } from "./kept.js";

// The guesses of a page of the book: fields below "Predict", what was said beside each result, and all of them on a page
// of their own, where a chapter without a guess is its title alone. Without a script or a guess they are not there.

// Whether a guess is one of a page, or of any where none is named.
const isOf = (page, name) => !page || name.slice(0, name.lastIndexOf("-")) === page;

function showAll() {
  show(document);
  const guessed = Object.keys(keptUnder("guess:"));
  for (const choice of all(".mha-hands-in option")) choice.hidden = !guessed.some((name) => isOf(choice.value, name));
  for (const table of all(".mha-all-guesses"))
    table.classList.toggle("mha-none", !table.querySelector("[data-guess]:not([hidden])"));
  for (const none of all("[data-unless]")) none.hidden = !none.nextElementSibling.hidden;
}

// What a reader hands in to a class: the guesses of a page, or all that this browser keeps, under a number that says who
// it is only to itself.
function chosen(place) {
  const page = place.querySelector("select").value;
  return Object.fromEntries(Object.entries(keptUnder("guess:")).filter(([name]) => isOf(page, name)));
}

function sheet(place) {
  const reader = kept("reader") ?? crypto.getRandomValues(new Uint32Array(2)).join("-");
  keep("reader", reader, place);
  return packed({ reader, at: new Date().toISOString(), guesses: chosen(place) });
}

const HAND_IN = {
  // The address of a page on disk would name the folders of its reader.
  async link(place) {
    if (location.protocol !== "file:")
      return copy(`${new URL(place.dataset.class, location.href)}#${sheet(place)}`, "The link");
    const done = await copy(sheet(place), "A text");
    return `This page was opened from a disk, and a link would name its folders. ${done} It can be pasted where links are.`;
  },
  file(place) {
    download("my-guesses.txt", sheet(place), "text/plain");
    return "The file my-guesses.txt is saved.";
  },
};

for (const place of all(".mha-hands-in"))
  place.addEventListener("click", async ({ target }) => {
    const handIn = HAND_IN[target.dataset.as],
      guessed = Object.keys(chosen(place)).length;
    if (handIn)
      place.querySelector("[role=status]").textContent = guessed ? await handIn(place) : "There is no guess yet.";
  });

for (const button of all(".mha-forget")) {
  if (!keeps()) button.nextElementSibling.textContent = UNKEPT;
  button.addEventListener("click", () => {
    if (!confirm("Forget all your guesses and answers? They are kept nowhere else.")) return;
    forget();
    button.nextElementSibling.textContent = keeps() ? "Everything is deleted." : UNKEPT;
    showAll();
  });
}
begin(document);
showAll();
