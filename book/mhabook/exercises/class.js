import { moveTo } from "livegrad/live/address.js";
import { element } from "livegrad/live/element.js";
import { fits, path } from "./curve.js";
import { read } from "./formula.js";
import { linesOf, sheetsIn, unpacked } from "./handed_in.js";

// The guesses of a class on one page (book/_ext/guesses.py): links that are pasted and files that are dropped, summed up.
// All of it stays in this window, until it is closed; of a reader who hands in again the newer guesses count.

const all = (selector) => [...document.querySelectorAll(selector)];
const rows = all("[data-asked]"),
  box = document.querySelector(".mha-hand-in"),
  said = box.querySelector("[role=status]"),
  links = box.querySelector("textarea"),
  files = box.querySelector("input");
const KEPT = "mha:class";
let sheets = new Map(); // reader → name of a guess → {guess, at}

const plotOf = (row) => row.querySelector(".mha-plot");
const choicesOf = (row) => JSON.parse(row.dataset.choices);

// Tells whether a guess is one that the page of the book takes.
function taken(row, guess) {
  if (plotOf(row)) return fits(plotOf(row), guess);
  const choices = choicesOf(row);
  return choices.length ? choices.includes(guess) : guess.trim() !== "";
}

function bar(words, count, of) {
  const percent = Math.round((100 * count) / of),
    share = element("span", { className: "mha-share" });
  share.style.width = `${percent}%`;
  return element("li", {}, `${words}: ${count} (${percent}%)`, element("span", { className: "mha-shares" }, share));
}

function show() {
  for (const row of rows) {
    const guesses = [...sheets.values()]
      .map((sheet) => sheet[row.dataset.asked]?.guess)
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

// What two spellings of one number have in common: 10^6, 1e6, 1 000 000. Words are their own.
function meaning(guess) {
  try {
    return read(guess, []).value({});
  } catch {
    return guess.trim().toLowerCase();
  }
}

// Choices in their order, with those that nobody took. Else numbers by size, then words by how many gave them, as the
// first wrote them.
function counted(choices, guesses) {
  const times = new Map(choices.map((choice) => [choice, { words: choice, count: 0 }]));
  for (const guess of guesses) {
    const key = choices.length ? guess : meaning(guess);
    if (!times.has(key)) times.set(key, { words: guess, count: 0 });
    times.get(key).count++;
  }
  const found = [...times.entries()];
  if (!choices.length) found.sort(bySizeOrCount);
  return guesses.length ? found.map(([, { words, count }]) => bar(words, count, guesses.length)) : [];
}

function bySizeOrCount([one, { count }], [other, { count: otherCount }]) {
  const numbers = [one, other].map(Number.isFinite);
  if (numbers[0] && numbers[1]) return one - other;
  return numbers[1] - numbers[0] || otherCount - count;
}

// Takes a sheet; gives how many of its guesses fit no question.
function take({ reader, at = "", guesses }) {
  const known = sheets.get(reader) ?? {};
  let left = 0;
  for (const [asked, guess] of Object.entries(guesses)) {
    const row = rows.find((each) => each.dataset.asked === asked);
    if (!row || !taken(row, guess)) left++;
    else if (!(known[asked]?.at > at)) known[asked] = { guess, at };
  }
  sheets.set(reader, known);
  return left;
}

// The sentence on what is wrong with a sheet, or nothing.
function fault(name, text) {
  try {
    const left = take(unpacked(text));
    return left ? `${name}: ${left} of its guesses fit no question of this page and were left out.` : "";
  } catch ({ message }) {
    return `${name} ${message}.`;
  }
}

// The sum stays where one comes back to this page. Where the browser keeps nothing it does not, and the page says so.
function remembered() {
  try {
    sessionStorage.setItem(KEPT, JSON.stringify([...sheets]));
    return sessionStorage instanceof Storage;
  } catch {
    return false;
  }
}

function recall() {
  try {
    sheets = new Map(JSON.parse(sessionStorage.getItem(KEPT)) ?? []);
  } catch {
    // nothing was kept
  }
}

function tell(...sentences) {
  show();
  const readers = `${sheets.size} reader${sheets.size === 1 ? "" : "s"}`;
  const told = [sheets.size ? `Guesses of ${readers}.` : "No guesses yet.", ...sentences.filter(Boolean)];
  if (!remembered()) told.push("This browser keeps nothing for this page: when you leave it, the sum is gone.");
  said.replaceChildren(...told.map((textContent) => element("p", { textContent })));
}

// Each text is taken or named with what is wrong; none stops the others.
function gather(texts, kind) {
  const before = sheets.size,
    found = texts.flatMap(([name, text]) => sheetsIn(text).map((each) => [name, each])),
    faults = found.map((each) => fault(...each)),
    empty = texts.filter(([, text]) => !sheetsIn(text).length).map(([name]) => name);
  const taken = found.length ? `Read just now: ${found.length}, of ${sheets.size - before} new readers.` : "";
  tell(taken, ...faults, empty.length && `Without a ${kind} of guesses: ${empty.join(", ")}.`);
}

async function gatherFiles(list) {
  gather(await Promise.all(Array.from(list, async (file) => [file.name, await file.text()])), "sheet");
  files.value = "";
}

const ACTS = {
  add: () =>
    gather(
      linesOf(links.value).map(({ number, text }) => [`Line ${number}`, text]),
      "link",
    ),
  clear() {
    if (!sheets.size || !confirm("Forget the guesses of this class? They are kept nowhere else.")) return;
    sheets.clear();
    links.value = "";
    moveTo(location.href.split("#")[0]); // else a reload would take the link again
    tell();
  },
};

box.addEventListener("click", ({ target }) => ACTS[target.dataset.act]?.());
files.addEventListener("change", () => gatherFiles(files.files));
box.addEventListener("dragover", (event) => event.preventDefault());
box.addEventListener("drop", (event) => {
  event.preventDefault();
  gatherFiles(event.dataTransfer.files);
});

// A link that was opened is counted. Most often who opens it made it, and does not know yet what to do with it.
function follow() {
  const [own] = sheetsIn(location.hash);
  const words =
    "The guesses in the link that led here are counted. If they are yours: this hands nothing in. Send the link to whoever teaches.";
  tell(own && (fault("The link", own) || words));
}

recall();
follow();
window.addEventListener("hashchange", follow);
