import { copy, download } from "mhalib/live/export.js";
import { draw, drawn, fits, take } from "./curve.js";
import { packed } from "./handed_in.js";
import { UNKEPT, forget, keep, keeps, kept, keptUnder } from "./kept.js";

// The guesses of a page, as book/_ext/guesses.py wrote them: fields below "Predict", what was said beside each result, and
// all of them on a page of their own, where a chapter without a guess is its title alone. Without a script or a guess they
// are not there.

const all = (selector) => [...document.querySelectorAll(selector)];

const plotOf = (name) =>
  all(".mha-plot").find((plot) =>
    [plot.closest("[data-guess]")?.dataset.guess, plot.querySelector("input")?.name].includes(name),
  );

// Null of a guess that was not given, and of a curve that nobody can have drawn: what is kept may be damaged.
function said(name) {
  const guess = kept(`guess:${name}`),
    plot = plotOf(name);
  return guess && plot && !fits(plot, guess) ? null : guess;
}

// Whether a guess is one of a page, or of any where none is named.
const isOf = (page, name) => !page || name.slice(0, name.lastIndexOf("-")) === page;

function show() {
  for (const place of all("[data-guess]")) {
    const guess = said(place.dataset.guess);
    place.querySelector(".mha-your-guess").textContent = guess ?? "";
    place.hidden = !guess;
    for (const plot of guess ? place.querySelectorAll(".mha-plot") : []) draw(plot, guess.split(", "));
  }
  const guessed = Object.keys(keptUnder("guess:"));
  for (const choice of all(".mha-hands-in option")) choice.hidden = !guessed.some((name) => isOf(choice.value, name));
  for (const table of all(".mha-all-guesses"))
    table.classList.toggle("mha-none", !table.querySelector("[data-guess]:not([hidden])"));
  for (const none of all("[data-unless]")) none.hidden = Boolean(said(none.dataset.unless));
}

// What the reader has drawn, for a live figure to draw: {x, y}, or null.
window.mhaGuess = (name) => {
  const guess = said(name),
    columns = guess ? plotOf(name).querySelectorAll("label") : [];
  return columns.length
    ? { x: Array.from(columns, (one) => Number(one.textContent.replace("−", "-"))), y: guess.split(", ").map(Number) }
    : null;
};

function fill(input) {
  const guess = said(input.name) ?? "";
  if (input.type === "radio") input.checked = input.value === guess;
  else input.value = guess;
}

for (const fields of all(".mha-guesses")) {
  fields.querySelectorAll(":not(.mha-plot) > label > input").forEach(fill);
  for (const plot of fields.querySelectorAll(".mha-plot")) take(plot, said(plot.querySelector("input").name));
  fields.addEventListener("input", ({ target }) => {
    const plot = target.closest(".mha-plot");
    keep(`guess:${target.name}`, plot ? drawn(plot).join(", ") : target.value.trim(), fields);
    show();
    document.dispatchEvent(new Event("mha-guess"));
  });
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
    button.nextElementSibling.textContent = keeps() ? "All is forgotten." : UNKEPT;
    show();
  });
}
show();
document.dispatchEvent(new Event("mha-guess"));
