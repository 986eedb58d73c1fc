// The order of search results: pages before the reference of the code, and what explains a word before the glossary.
/* global Scorer */
Scorer.score = ([page, , , , score]) =>
  page.startsWith("book/api") ? score / 1000 : score - Number(page === "book/start/glossary");
