import { draw, drawn, fits, take } from "./curve.js";
import { keep, kept } from "./kept.js";

// Guesses, as guess.py wrote them, on a page or in a notebook: their fields, and the places where they come back.

export const all = (selector, root = document) => [...root.querySelectorAll(selector)];

// Null of a guess that was not given, and of a curve that nobody can have drawn: what is kept may be damaged.
function said(name, plot) {
  const guess = kept(`guess:${name}`);
  return guess && plot && !fits(plot, guess) ? null : guess;
}

export function show(root) {
  for (const place of all("[data-guess]", root)) {
    const plot = place.querySelector(".mha-plot"),
      guess = said(place.dataset.guess, plot);
    place.querySelector(".mha-your-guess").textContent = guess ?? "";
    place.hidden = !guess;
    if (guess && plot) draw(plot, guess.split(", "));
  }
}

// What the reader has drawn, for a live figure to draw: {x, y}, or null.
function drawnFor(name) {
  const plot = all(".mha-guesses .mha-plot").find((one) => one.querySelector("input").name === name),
    guess = plot && said(name, plot);
  if (!guess) return null;
  const columns = all("label", plot);
  return { x: columns.map((one) => Number(one.textContent.replace("−", "-"))), y: guess.split(", ").map(Number) };
}

function fill(input) {
  const guess = said(input.name) ?? "";
  if (input.type === "radio") input.checked = input.value === guess;
  else input.value = guess;
}

// Fills the fields inside an element from what the browser keeps, and the places where guesses come back; what is guessed
// is kept, and comes back in all of the document.
export function begin(root) {
  window.mhaGuess = drawnFor;
  for (const fields of all(".mha-guesses", root)) {
    all(":not(.mha-plot) > label > input", fields).forEach(fill);
    for (const plot of all(".mha-plot", fields)) take(plot, said(plot.querySelector("input").name, plot));
    fields.addEventListener("input", ({ target }) => {
      const plot = target.closest(".mha-plot");
      keep(`guess:${target.name}`, plot ? drawn(plot).join(", ") : target.value.trim(), fields);
      show(document);
      document.dispatchEvent(new Event("mha-guess"));
    });
  }
  show(root);
  document.dispatchEvent(new Event("mha-guess"));
}
