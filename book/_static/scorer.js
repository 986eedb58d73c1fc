// The search: the order of its results, what each shows of its page, and which words are marked there.
/* global Scorer, Search, DOCUMENTATION_OPTIONS, stopwords */

// A section whose heading the words are comes before pages, pages come before the reference of the code, and what explains
// a word before the glossary.
Scorer.score = ([page, title, , , score]) => {
  if (page.startsWith("book/api")) return score / 1000;
  return score + Scorer.title * title.includes(" > ") - (page === "book/start/glossary");
};

// Words that make a question of what is looked for.
stopwords.push("can", "do", "does", "how", "what", "when", "where", "which", "why");

// In the tables of its index the search finds whatever a JavaScript object inherits, as pages of the words "constructor"
// and "__proto__". They inherit no more than the method that the search calls.
const INHERITED = Object.assign(Object.create(null), { hasOwnProperty: Object.prototype.hasOwnProperty });

// The search stands by now, and begins when the page has been read.
const find = Search.performTermsSearch;
Search.performTermsSearch = (...words) => {
  const { terms, titleterms } = Search._index;
  for (const table of [terms, titleterms]) Object.setPrototypeOf(table, INHERITED);
  return find(...words);
};

// Sphinx keeps what was looked for until a page is opened, whichever it is and in whatever tab, and marks it there. Here
// the links of the results carry it, so that a page marks it if one of them leads there. No letter alone is marked.
const parse = Search._parseQuery;
Search._parseQuery = (query) => {
  const parsed = parse(query);
  const marked = parsed[3];
  marked.forEach((word) => word.length < 3 && marked.delete(word));
  localStorage.removeItem("sphinx_highlight_terms");
  const carried = new URLSearchParams({ highlight: [...marked].join(" ") });
  DOCUMENTATION_OPTIONS.LINK_SUFFIX = DOCUMENTATION_OPTIONS.FILE_SUFFIX + (marked.size ? `?${carried}` : "");
  return parsed;
};

// A formula in one line: what is drawn above, below or under something has a sign for it.
const whole = (text) => (/^(√?\p{L}|\p{L}+|[\d.]+)$/u.test(text) ? text : `(${text})`);
const raised = (power) => {
  if (/^\d$/.test(power)) return "⁰¹²³⁴⁵⁶⁷⁸⁹"[power];
  return /[\p{L}\d]/u.test(power) ? `^${whole(power)}` : power;
};
const IN_LINE = {
  mfrac: (above, below) => `${whole(above)}/${whole(below)}`,
  msqrt: (...parts) => `√${whole(parts.join(""))}`,
  msub: (base, index) => `${base}_${whole(index)}`,
  munder: (base, index) => `${base}_${whole(index)}`,
  msup: (base, power) => base + raised(power),
  msubsup: (base, index, power) => `${base}_${whole(index)}${raised(power)}`,
  munderover: (base, from, to) => `${base}_${whole(from)}^${whole(to)}`,
};
const inLine = (node) => {
  if (!node.children.length) return node.textContent.trim();
  const parts = [...node.children].map(inLine);
  return IN_LINE[node.localName]?.(...parts) ?? parts.join("");
};

// What no excerpt is taken from: links of headings, folded code, fields, and what stands there without scripts.
const LEFT_OUT =
  ".headerlink, script, style, details.hide, noscript, .mha-fallback, .mha-guesses, .mha-guessed, .mha-quiz-said";

// An entry of the glossary begins with its term.
const textOf = (passage) => {
  const term = passage.closest("dl.glossary > dd")?.previousElementSibling.textContent;
  return `${term ? `${term}: ` : ""}${passage.textContent}`.replace(/\s+/g, " ").trim();
};

// The passages of a page's article; or those of a place in it, or else what the place stands in or before.
const PASSAGES = "p:not(td p), tbody tr, legend, div.math, pre";
const passages = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const article = page.querySelector(".bd-article");
  if (!article) return [];
  article.querySelectorAll(LEFT_OUT).forEach((node) => node.remove());
  article.querySelectorAll(".math").forEach((formula) => {
    const set = formula.querySelector("math");
    if (set) formula.textContent = inLine(set);
  });
  const all = [...article.querySelectorAll(PASSAGES)].filter(textOf);
  const place = anchor && page.getElementById(anchor.slice(1));
  if (!place) return all;
  const within = all.filter((each) => place.contains(each));
  const onward = Node.DOCUMENT_POSITION_CONTAINS | Node.DOCUMENT_POSITION_FOLLOWING;
  const after = (each) => place.compareDocumentPosition(each) & onward;
  return within.length ? within : all.filter(after).slice(0, 3);
};

// What begins with a stem of the search. A short one is a word of its own, and a root is written as a sign.
const wordOf = (stem) => {
  if (stem === "sqrt") return /√|sqrt/i;
  const end = stem.length < 3 ? "(?![\\p{L}\\d])" : "";
  return new RegExp(`(?<![\\p{L}\\d])${stem.replace(/i$/, "[iy]")}${end}`, "iu");
};

const countIn = (text, words) => words.filter((word) => word.test(text)).length;
const bestOf = (values) => values.indexOf(Math.max(...values));

// About 240 letters with most of the words, from the beginning of a sentence or else from shortly before a word.
const LENGTH = 240;
const cut = (text, words) => {
  const sentences = [...text.matchAll(/[.?!] (?=\p{Lu})/gu)].map(({ index }) => index + 2);
  const places = words.map((word) => text.lastIndexOf(" ", text.search(word) - LENGTH / 3) + 1);
  const starts = [0, ...sentences, ...places];
  const counts = starts.map((start) => countIn(text.slice(start, start + LENGTH), words));
  const start = starts[bestOf(counts)];
  const shown = text.slice(start, start + LENGTH);
  const isWhole = start + LENGTH >= text.length;
  return `${start ? "… " : ""}${isWhole ? shown : `${shown.replace(/\s\S*$/, "")} …`}`;
};

// From the first passage with the most words of the search, prose before code; where none has any, from the first of all.
// An entry of the glossary stands alone.
const excerpt = (found, words) => {
  const texts = found.map(textOf);
  const prose = found.map((each) => Number(each.matches("p, tr")) / 2);
  const counts = texts.map((text) => countIn(text, words));
  const from = Math.max(0, bestOf(counts.map((count, i) => count && count + prose[i])));
  const length = found[from]?.matches(".glossary p") ? 1 : 5;
  return cut(texts.slice(from, from + length).join(" "), words);
};

Search.makeSearchSummary = (html, stems, anchor) => {
  const summary = document.createElement("p");
  summary.className = "context";
  summary.textContent = excerpt(passages(html, anchor), [...stems].map(wordOf));
  return summary;
};
