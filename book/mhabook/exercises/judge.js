import { read } from "./formula.js";
import { Fault, tokensOf } from "./tokens.js";

// An answer compared with ours on drawn instances, and what may have been meant where it is wrong.

// The same numbers for the same text, everywhere: a hash (FNV-1a), and from it a generator (mulberry32).
export function uniforms(text) {
  let state = 2166136261;
  for (const letter of text) state = Math.imul(state ^ letter.codePointAt(0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const DRAWS = 24;

// Drawn values for the variables of a question, with three digits, so that what is shown is what was used.
export function instances({ ask, variables }) {
  const uniform = uniforms(ask);
  const one = ({ low, high, whole }) => {
    const x = low + (high - low + (whole ? 1 : 0)) * uniform();
    return whole ? Math.floor(x) : Number(x.toPrecision(3));
  };
  const drawn = () => Object.fromEntries(variables.map((variable) => [variable.name, one(variable)]));
  return Array.from({ length: variables.length ? DRAWS : 1 }, drawn);
}

const spelled = (part) => [
  part.variables.map(({ name }) => name),
  Object.fromEntries(part.variables.map(({ name, symbol }) => [symbol || name, name])),
];

export const DIGITS = 3; // of a number, where a question does not ask for others

// How far from the right value an answer may lie. Whole numbers and the values of formulas have to be right; of any other
// number so many digits, and a little more than half a unit of the last.
export function allowance(right, { tolerance, digits, variables }, fewer = 0) {
  if (variables.length || (!digits && Number.isInteger(right))) return tolerance * (Math.abs(right) || 1) + 1e-14;
  const last = Math.floor(Math.log10(Math.abs(right))) + 1 - ((digits || DIGITS) - fewer);
  return Math.max(0.6 * 10 ** last, tolerance * Math.abs(right));
}

// Whether a number is asked for that may be rounded to DIGITS, because no other accuracy is asked for.
export function rounds(part) {
  if (part.variables.length || part.digits || part.tolerance > 1e-3) return false;
  return !Number.isInteger(read(part.answer, []).value({}));
}

const near = (x, right, part) => Math.abs(x - right) <= allowance(right, part);

// Not right, but as near as a number with a digit less, or a formula with a rounded number in it, would be.
function almost(x, right, part) {
  if (part.variables.length) return Math.abs(x - right) <= 2e-3 * Math.abs(right);
  if (part.digits === 1 || part.tolerance > 1e-3 || Number.isInteger(right)) return false;
  return Math.abs(x - right) <= Math.min(allowance(right, part, 1), 0.05 * Math.abs(right));
}

// Percents without their sign, 99 for 0.99: the share that they are.
function share({ yours, ours }, part) {
  const isShare = !part.variables.length && ours > 0 && ours < 1;
  return isShare && near(yours / 100, ours, part) ? yours / 100 : null;
}

// What becomes of an answer: where it first differs, or that it does nowhere; the mistake that it is, or the formula that
// it would be with other parentheses, where that is right; the share that it would be in percent; the letters that it
// lacks; how it was read.
export function judge(part, text) {
  const [names, aliases] = spelled(part);
  const yours = read(text, names, aliases, part.ask),
    ours = read(part.answer, names, aliases);
  const rows = instances(part).map((values) => ({ values, yours: yours.value(values), ours: ours.value(values) }));
  const off = rows.filter((row) => !near(row.yours, row.ours, part));
  const mistake = off.length
    ? part.common_mistakes.find(([formula]) => agrees(read(formula, names, aliases).value, rows, part))
    : null;
  const right = (other) => {
    const formula = readable(other, names, aliases, part.ask);
    return formula && rows.every(({ values, ours }) => near(formula.value(values), ours, part));
  };
  return {
    right: !off.length,
    of: rows.length,
    off: off.length,
    first: off[0] ?? null,
    mistake: mistake?.[1] ?? null,
    almost: off.every((row) => almost(row.yours, row.ours, part)),
    meant: off.length ? (regroupings(text, yours.from).find(right) ?? null) : null,
    share: off.length ? share(rows[0], part) : null,
    missing: [...ours.used].filter((name) => off.length && !yours.used.has(name)),
    reading: yours.reading,
  };
}

function readable(...formula) {
  try {
    return read(...formula);
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    return null;
  }
}

// The formula with parentheses more: around what follows a ^ or a /, and what stands before the /. What may have been
// meant by x^1/2, a/b*c, a-b/c+d, from the place on where a name that stands in front ends.
export function regroupings(text, from = 0) {
  const tokens = tokensOf(text, from),
    found = [];
  if (tokens.length > 80) return found; // they grow with the square of the length
  const wrapped = (from, to) => `(${text.slice(from, to).trim()})`;
  for (const [k, { word, at, length }] of tokens.entries()) {
    if (word !== "^" && word !== "/") continue;
    const start = levelStart(tokens, k, from),
      after = at + length,
      sign = text.slice(at, after);
    for (const end of levelEnds(tokens, k, text.length)) {
      const right = wrapped(after, end),
        rest = text.slice(end);
      found.push(text.slice(0, after) + right + rest);
      if (word === "/") found.push(text.slice(0, start) + wrapped(start, at) + sign + right + rest);
    }
  }
  return found;
}

const opens = ({ word }) => word === "(",
  closes = ({ word }) => word === ")";

// Where the innermost parentheses around token k begin.
function levelStart(tokens, k, from) {
  for (let depth = 0, j = k - 1; j >= 0; j--) {
    depth += closes(tokens[j]) - opens(tokens[j]);
    if (depth < 0 || (depth === 0 && tokens[j].word === ",")) return tokens[j].at + 1;
  }
  return from;
}

// Behind token k: before each operation on its level, and where the level ends.
function levelEnds(tokens, k, length) {
  const ends = [];
  for (let depth = 0, j = k + 2; j < tokens.length; j++) {
    depth += opens(tokens[j - 1]) - closes(tokens[j - 1]);
    if (depth === 0 && (closes(tokens[j]) || tokens[j].word === ",")) return [...ends, tokens[j].at];
    const between = tokens[j - 1].kind !== "sign" || closes(tokens[j - 1]); // of two numbers, and no sign of the second
    if (depth === 0 && between && "+-*/".includes(tokens[j].word)) ends.push(tokens[j].at);
  }
  return [...ends, length];
}

function agrees(formula, rows, part) {
  return rows.every(({ values, yours }) => near(yours, formula(values), part));
}
