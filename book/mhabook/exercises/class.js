import { element } from "mhalib/live/element.js";
import { fits, path } from "./curve.js";
import { unpacked } from "./handed_in.js";

// The guesses of a class on one page (book/_ext/guesses.py): links that are pasted and files that are dropped, summed up.
// All of it stays in this window; a reader who hands in again takes the place of what came before.

const all = (selector) => [...document.querySelectorAll(selector)];
const rows = all("[data-asked]"),
  box = document.querySelector(".mha-hand-in"),
  said = box.querySelector("[role=status]"),
  links = box.querySelector("textarea"),
  files = box.querySelector("input");
const sheets = new Map(); // reader → guesses

const plotOf = (row) => row.querySelector(".mha-plot");
const choicesOf = (row) => JSON.parse(row.dataset.choices);

// Tells whether a guess is one that the page of the book takes.
function taken(row, guess) {
  if (plotOf(row)) return fits(plotOf(row), guess);
  const choices = choicesOf(row);
  return choices.length ? choices.includes(guess) : guess.trim() !== "";
}

function bar(words, count, of) {
  const share = element("span", { className: "mha-share" });
  share.style.width = `${Math.round((100 * count) / of)}%`;
  return element("li", {}, `${words}: ${count}`, element("span", { className: "mha-shares" }, share));
}

function show() {
  for (const row of rows) {
    const guesses = [...sheets.values()]
      .map((sheet) => sheet[row.dataset.asked])
      .filter((guess) => guess !== undefined);
    row.querySelector(".mha-count").textContent = guesses.length || "–";
    if (guesses.length && row.dataset.truth && !row.querySelector("details")) row.lastElementChild.append(truth(row));
    const plot = plotOf(row);
    if (plot)
      plot.querySelector(".mha-yours").setAttribute("d", guesses.map((guess) => path(guess.split(", "))).join(""));
    else row.querySelector("ul").replaceChildren(...counted(choicesOf(row), guesses));
  }
  for (const table of all(".mha-class"))
    table.hidden = !rows.some((row) => table.contains(row) && row.querySelector(".mha-count").textContent !== "–");
}

// What the chapter shows, folded until the class has been asked.
const truth = (row) => element("details", {}, element("summary", { textContent: "What is true" }), row.dataset.truth);

// Choices in their order, with those that nobody took; other answers by how many gave them.
function counted(choices, guesses) {
  const times = new Map(choices.map((choice) => [choice, 0]));
  for (const guess of guesses) times.set(guess, (times.get(guess) ?? 0) + 1);
  const found = choices.length ? [...times] : [...times].sort((one, other) => other[1] - one[1]);
  return guesses.length ? found.map(([words, count]) => bar(words, count, guesses.length)) : [];
}

function take(name, text) {
  const { reader, guesses } = unpacked(text);
  const known = {};
  let left = 0;
  for (const [asked, guess] of Object.entries(guesses)) {
    const row = rows.find((each) => each.dataset.asked === asked);
    if (row && taken(row, guess)) known[asked] = guess;
    else left++;
  }
  sheets.set(reader, known);
  return left ? `${name}: ${left} of its guesses fit no question of this page and were left out.` : "";
}

// Each text is taken or named with what is wrong; none stops the others.
function gather(texts) {
  const faults = texts.map(([name, text]) => {
    try {
      return take(name, text);
    } catch ({ message }) {
      return `${name} ${message}.`;
    }
  });
  show();
  const readers = `${sheets.size} reader${sheets.size === 1 ? "" : "s"}`;
  said.replaceChildren(
    ...[`Guesses of ${readers}.`, ...faults.filter(Boolean)].map((textContent) => element("p", { textContent })),
  );
}

async function gatherFiles(list) {
  gather(await Promise.all(Array.from(list, async (file) => [file.name, await file.text()])));
}

box.querySelector("button").addEventListener("click", () => {
  const lines = links.value.split("\n").filter((line) => line.trim());
  gather(lines.map((line, k) => [`Line ${k + 1}`, line]));
});
files.addEventListener("change", () => gatherFiles(files.files));
box.addEventListener("dragover", (event) => event.preventDefault());
box.addEventListener("drop", (event) => {
  event.preventDefault();
  gatherFiles(event.dataTransfer.files);
});
if (location.hash.includes("guesses=")) gather([["The link", location.hash]]);
else show();
