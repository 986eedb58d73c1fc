import { followed, placeOf } from "livegrad/live/address.js";
import { AROUND, element } from "livegrad/live/element.js";

// Tables of the reference pages: a header sorts, words and menus filter. Without scripts they are plain tables.
const order = new Intl.Collator("en", { numeric: true });
const words = (cell) => cell.textContent.trim().replace(/\s+/g, " ");
// −0.5, 2,573 and 2.1·10⁻⁸ are numbers.
const raised = (power) => [...power].map((digit) => "0123456789-"["⁰¹²³⁴⁵⁶⁷⁸⁹⁻".indexOf(digit)]).join("");
const number = (text) =>
  Number(
    text
      .replace("−", "-")
      .replace(/,(?=\d{3})/g, "")
      .replace(/\s?·\s?10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)$/, (_, power) => `e${raised(power)}`),
  );

// What has no value stands last, whichever way the rest is sorted.
const compare = (a, b, sign) => {
  if (!a || !b || a === "–" || b === "–") return ["", "–"].includes(a) - ["", "–"].includes(b);
  const [x, y] = [number(a), number(b)];
  return sign * (Number.isNaN(x - y) ? order.compare(a, b) : x - y);
};

const sort = (table, heads, column, direction) => {
  heads.forEach((head, i) => {
    if (i === column && direction) head.setAttribute("aria-sort", direction);
    else head.removeAttribute("aria-sort");
  });
  const sign = direction === "descending" ? -1 : 1;
  const rows = [...table.rowsInOrder];
  if (direction) rows.sort((a, b) => compare(words(a.cells[column]), words(b.cells[column]), sign));
  table.tBodies[0].append(...rows);
};

// A header becomes a button: up, down, and back to the order of the book.
const addSorting = (table, heads) =>
  heads.forEach((head, column) => {
    const next = { none: "ascending", ascending: "descending", descending: "" };
    const button = element("button", { type: "button", className: "sort", dataset: AROUND }, ...head.childNodes);
    button.addEventListener("click", () => sort(table, heads, column, next[head.getAttribute("aria-sort") ?? "none"]));
    head.replaceChildren(button);
  });

// The value of a cell for a menu: its text up to the first dot between spaces.
const value = (row, column) => words(row.cells[column]).split(" · ")[0];

const addMenu = (head, column, rows, changed) => {
  const name = words(head);
  const values = [...new Set(rows.map((row) => value(row, column)))].sort(order.compare);
  const options = [
    element("option", { value: "" }, "all"),
    ...values.map((each) => element("option", { value: each }, each)),
  ];
  const menu = element("select", {}, ...options);
  menu.addEventListener("change", changed);
  return {
    label: element("label", {}, `${name.split(" · ")[0]} `, menu),
    menu,
    fits: (row) => !menu.value || value(row, column) === menu.value,
  };
};

// "Converging" finds "convergence": an ending counts for nothing, if four letters are left.
const stem = (word) => word.replace(/(?<=\p{L}{4})(?:ations?|ence|ing|ed|es|e|s)$/u, "");

// One spelling of what can be typed in several ways: sqrt(H) is √H, H^-1/2 is 1/√H, and a hyphen is a space.
const oneSpelling = (text) =>
  text
    .toLowerCase()
    .replace(/\\?sqrt\s?/g, "√")
    .replace(/√[({]([\p{L}\d]+)[)}]/gu, "√$1")
    .replace(/(\p{L})\^[({]?[-−]1\/2[)}]?/gu, "1/√$1")
    .replace(/[-‐‑–]/g, " ");

// What a row is found by: its words without the name of its test, and the topics that the page gives it.
const searchable = (row) => {
  const copy = row.cloneNode(true);
  copy.querySelectorAll("code").forEach((code) => code.remove());
  return oneSpelling(`${words(copy)} ${row.querySelector("[data-words]")?.dataset.words ?? ""}`);
};

// A word of at most two letters stands within too many others: it is looked for as a word of its own.
const isIn = (word) => {
  if (word.replace(/\P{L}/gu, "").length > 2) return (text) => text.includes(word);
  const before = /^[\p{L}\d]/u.test(word) ? "(?<![\\p{L}\\d])" : "";
  const after = /[\p{L}\d]$/u.test(word) ? "(?![\\p{L}\\d])" : "";
  const whole = new RegExp(before + word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&") + after, "u");
  return (text) => whole.test(text);
};

// "Theorem 4" asks for the theorems of chapter 4, "Theorem 4.7" for one; all else for rows with all of its words.
const seeker = (query) => {
  const asked = query.trim().toLowerCase().replace(/\s+/g, " ");
  if (/^(theorem|lemma|proposition|corollary|definition) \d+(\.\d+)?$/.test(asked))
    return (row) => `${words(row.cells[0])}.`.toLowerCase().startsWith(`${asked}.`);
  const all = oneSpelling(asked).split(" ").filter(Boolean).map(stem).map(isIn);
  return (row, text) => all.every((each) => each(text));
};

const addFilters = (box, table, heads) => {
  const rows = table.rowsInOrder;
  const search = element("input", { type: "search" });
  const shown = element("output", { className: "shown" });
  const texts = new Map(rows.map((row) => [row, searchable(row)]));
  const apply = () => {
    const found = seeker(search.value);
    rows.forEach((row) => {
      row.hidden = !(menus.every((menu) => menu.fits(row)) && found(row, texts.get(row)));
    });
    shown.textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  const menus = heads.flatMap((head, i) =>
    head.querySelector("[data-filter]") ? [addMenu(head, i, rows, apply)] : [],
  );
  search.addEventListener("input", apply);
  box.before(
    element(
      "div",
      { className: "table-filters" },
      element("label", {}, "Words ", search),
      ...menus.map((menu) => menu.label),
      shown,
    ),
  );
  apply();
  // A link to a row that is filtered out brings it back.
  const rowOf = (hash) => rows.find((row) => row.contains(placeOf(hash))) ?? null;
  const address = followed(rowOf, (row) => {
    if (!row.hidden) return;
    search.value = "";
    menus.forEach(({ menu }) => {
      menu.value = "";
    });
    apply();
    row.scrollIntoView();
  });
  for (const field of [search, ...menus.map(({ menu }) => menu)]) field.addEventListener("input", address.leave);
};

// On a phone a row is a card, whose cells carry the names of their columns. Roles, as the style takes the table's away.
const addLabels = (table, heads) => {
  const names = heads.map(words);
  const roles = { table: [table], rowgroup: [table.tHead, table.tBodies[0]], row: table.rows, columnheader: heads };
  Object.entries(roles).forEach(([role, nodes]) => [...nodes].forEach((node) => node.setAttribute("role", role)));
  table.rowsInOrder.forEach((row) =>
    [...row.cells].forEach((cell, i) => {
      cell.setAttribute("role", "cell");
      cell.dataset.label = names[i];
      cell.classList.toggle("empty", ["", "–"].includes(words(cell)));
    }),
  );
};

// The rows in the order of the book, which a page that was saved may have changed.
function inOrder(rows) {
  rows.forEach((row, k) => {
    row.dataset.place ??= k;
  });
  return rows.sort((a, b) => a.dataset.place - b.dataset.place);
}

export function enhance(box) {
  const table = box.querySelector("table");
  const heads = [...table.tHead.rows[0].cells];
  table.rowsInOrder = inOrder([...table.tBodies[0].rows]);
  addLabels(table, heads);
  addFilters(box, table, heads);
  addSorting(table, heads);
  box.classList.add("enhanced");
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", table.caption ? words(table.caption) : "Table");
  box.tabIndex = 0;
  new ResizeObserver(() => box.classList.toggle("fits", table.offsetWidth <= box.clientWidth)).observe(box);
}
