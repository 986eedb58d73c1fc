// The order of search results: pages before the reference of the code, and what explains a word before the glossary.
/* global Scorer, Search */
Scorer.score = ([page, , , , score]) =>
  page.startsWith("book/api") ? score / 1000 : score - Number(page === "book/start/glossary");

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

// A place without text of its own, as a mark of the index is, shows that of its page.
const summary = Search.makeSearchSummary;
Search.makeSearchSummary = (html, words, place) => summary(html, words, place) ?? summary(html, words);
