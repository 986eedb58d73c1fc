import { canonical } from "./tokens.js";

// What readers repeat of a question around their answer: the name of what is asked, a unit, the transposes of matrices.

const oneSpace = (words) => words.trim().replace(/\s+/g, " ");
const spelled = (words) => oneSpace([...words].map(canonical).join(""));
const plain = (words) => spelled(words.replace(/[,:;]/g, " ").replace(/∂|\\partial\s*/g, "d"));

// How much of "w = 0", "w is 0" or "at w = 0" is left out where w is what is asked.
export function lengthOfName(text, ask) {
  const sign = /[=≈]|\b(?:is|equals)\b/.exec(text);
  if (!sign) return 0;
  const name = plain(text.slice(0, sign.index)).replace(/^at /i, "");
  return !name || ` ${plain(ask)} `.includes(` ${name} `) ? sign.index + sign[0].length : 0;
}

// Plural nouns say of what there are so many; these say how many, or how much.
const AMOUNTS = /(ss|ths|thirds|quarters|halves|tens|hundreds|thousands|millions)$/i;
const singular = (word) => word.toLowerCase().replace(/s$/, "");

// Whether a word behind a number only says what is counted, the "seeds" of "62 seeds".
export function isUnit(word, ask) {
  if (!/^[a-z]{3,}s$/i.test(word) || AMOUNTS.test(word)) return false;
  return (ask.match(/\p{L}+/gu) ?? []).some((asked) => singular(asked) === singular(word));
}

// Whether the letters stand for matrices of one entry, so that a transpose changes nothing.
export const withoutTransposes = (ask) => /\bd = (p = )?1\b/.test(ask);
