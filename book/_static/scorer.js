// The order of search results: pages before the reference of the code, and what explains a word before the glossary.
/* global Scorer, Search */
Scorer.score = ([page, , , , score]) =>
  page.startsWith("book/api") ? score / 1000 : score - Number(page === "book/start/glossary");
// A place without text of its own, as a mark of the index is, shows that of its page.
addEventListener("DOMContentLoaded", () => {
  const summary = Search.makeSearchSummary;
  Search.makeSearchSummary = (html, words, place) => summary(html, words, place) ?? summary(html, words);
});
