// Formulas that a reader types: read without eval, evaluated, and compared with another on drawn instances.
// A formula that cannot be read throws a Fault, which knows where in the text it is.

const FUNCTIONS = {
  exp: [1, 1, Math.exp],
  log: [1, 1, Math.log],
  ln: [1, 1, Math.log],
  sqrt: [1, 1, Math.sqrt],
  abs: [1, 1, Math.abs],
  sin: [1, 1, Math.sin],
  cos: [1, 1, Math.cos],
  tanh: [1, 1, Math.tanh],
  sigmoid: [1, 1, (x) => 1 / (1 + Math.exp(-x))],
  min: [2, Infinity, Math.min],
  max: [2, Infinity, Math.max],
};
const CONSTANTS = { pi: Math.PI, π: Math.PI, e: Math.E };
const OPERATORS = {
  "+": [1, (a, b) => a + b],
  "-": [1, (a, b) => a - b],
  "*": [2, (a, b) => a * b],
  "/": [2, (a, b) => a / b],
};
const OTHER_SIGNS = { "−": "-", "–": "-", "·": "*", "×": "*", "÷": "/", "**": "^", "[": "(", "]": ")" };
const TOKEN =
  /(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?<name>\p{L}[\p{L}\p{M}\d_₀-₉′']*)|(?<sign>\*\*|[-+*/^(),\[\]−–·×÷])/uy;

export class Fault extends Error {
  constructor(message, at, length = 1) {
    super(message);
    Object.assign(this, { at, length });
  }
}

function tokensOf(text) {
  const found = [];
  for (let at = 0; at < text.length;) {
    if (/\s/.test(text[at])) {
      at++;
      continue;
    }
    TOKEN.lastIndex = at;
    const { groups, 0: word } = TOKEN.exec(text) ?? { groups: null };
    if (!groups) throw new Fault(meaningless(text[at]), at);
    const kind = groups.number ? "number" : groups.name ? "name" : "sign";
    const plain = kind === "sign" ? (OTHER_SIGNS[word] ?? word) : word.replaceAll("'", "′");
    found.push({ kind, word: plain, at, length: word.length });
    at += word.length;
  }
  return found;
}

function meaningless(sign) {
  if (sign === "=") return "Give the value alone, without an equals sign.";
  if ("²³⁴".includes(sign)) return `Write powers with ^, as in x^${"  ²³⁴".indexOf(sign)}.`;
  if (sign === "√") return "Write a root as sqrt(…).";
  if (sign === "\\" || sign === "$") return "This is no TeX: write sqrt(x), 1/2, exp(-x).";
  if (sign === "|") return "Write an absolute value as abs(…).";
  return `“${sign}” means nothing here.`;
}

const COMMA = "A comma stands only between the arguments of min and max; a decimal number has a point.";
const fault = (message, token) => new Fault(message, token.at, token.length);

const product = (left, right) =>
  left.kind === "number" || right.kind === "number" || right.word === "("
    ? "Write every product with *, as in 2*x or x*(1 + y)."
    : "Between these two an operation is missing: +, −, *, / or ^.";

// Reads one level of a formula after the other, from the loosest operation to a single number.
class Reader {
  constructor(tokens, names, aliases) {
    Object.assign(this, { tokens, names, aliases, k: 0 });
  }

  get token() {
    return this.tokens[this.k];
  }

  is(sign) {
    return this.token?.kind === "sign" && this.token.word === sign;
  }

  whole() {
    const value = this.sum();
    if (this.is(",")) throw fault(COMMA, this.token);
    if (this.token) throw fault("This parenthesis was never opened.", this.token);
    return value;
  }

  // Left to right, * and / before + and -.
  sum(level = 1) {
    const next = () => (level === 2 ? this.signed() : this.sum(2));
    let left = next();
    while (this.token?.kind === "sign" && OPERATORS[this.token.word]?.[0] === level) {
      const [, apply] = OPERATORS[this.tokens[this.k++].word],
        before = left,
        right = next();
      left = (values) => apply(before(values), right(values));
    }
    return left;
  }

  signed() {
    if (this.is("+")) {
      this.k++;
      return this.signed();
    }
    if (!this.is("-")) return this.power();
    this.k++;
    const inner = this.signed();
    return (values) => -inner(values);
  }

  // Binds more tightly than a sign in front, and to the right: -2^2 = -4, 2^3^2 = 2^9.
  power() {
    const base = this.single();
    if (!this.is("^")) return base;
    this.k++;
    const exponent = this.signed();
    return (values) => base(values) ** exponent(values);
  }

  single() {
    const { token } = this;
    if (!token || (token.kind === "sign" && token.word !== "(")) throw this.missing();
    this.k++;
    const kinds = {
      number: () => () => Number(token.word),
      name: () => this.named(token),
      sign: () => this.inside(token),
    };
    const value = kinds[token.kind](),
      next = this.token;
    if (next && (next.kind !== "sign" || next.word === "(")) throw fault(product(token, next), next);
    return value;
  }

  inside(open) {
    const value = this.sum();
    this.close(open);
    return value;
  }

  close(open) {
    if (this.is(",")) throw fault(COMMA, this.token);
    if (!this.is(")")) throw fault("This parenthesis is never closed.", open);
    this.k++;
  }

  named(token) {
    const { names, aliases } = this,
      name = Object.hasOwn(aliases, token.word) ? aliases[token.word] : token.word;
    if (names.includes(name)) return (values) => values[name];
    if (Object.hasOwn(CONSTANTS, name)) return () => CONSTANTS[name];
    if (!Object.hasOwn(FUNCTIONS, name)) throw fault(this.unknown(token.word), token);
    if (!this.is("(")) throw fault(`Give ${name} its argument in parentheses: ${name}(…).`, token);
    return this.called(name, token);
  }

  called(name, token) {
    const [least, most, apply] = FUNCTIONS[name],
      open = this.tokens[this.k++],
      given = [this.sum()];
    while (this.is(",") && given.length < most) {
      this.k++;
      given.push(this.sum());
    }
    this.close(open);
    if (given.length < least) throw fault(`${name} takes two numbers or more: ${name}(a, b).`, token);
    return (values) => apply(...given.map((one) => one(values)));
  }

  unknown(word) {
    const { names, aliases } = this;
    const letters = [...names, ...Object.keys(aliases)];
    const parts = letters.flatMap((a) => letters.map((b) => [a, b])).find(([a, b]) => a + b === word);
    if (parts) return `“${word}” is not known here. Write a product with *: ${parts.join("*")}.`;
    if (word === "σ") return "“σ” is not known here. Write the logistic function as sigmoid(…).";
    const known = names.length
      ? `The letters here are ${names.join(", ")}`
      : "A number is asked for, so there are no letters";
    return `“${word}” is not known here. ${known}; there are also pi, e and functions such as exp, log, sqrt.`;
  }

  missing() {
    const before = this.tokens[this.k - 1],
      here = this.token;
    if (here?.word === ",") return fault(COMMA, here);
    if (here?.word === ")" && before?.word !== "(") return fault("Something is missing before this parenthesis.", here);
    if (before?.word === "(") return fault("There is nothing in these parentheses.", before);
    if (!before) return fault(`Something is missing before “${here.word}”.`, here);
    return fault(`Something is missing after “${before.word}”.`, before);
  }
}

// The formula as a function of its variables: name → value. `aliases` gives other spellings: η → eta.
export function read(text, names, aliases = {}) {
  const tokens = tokensOf(text);
  if (!tokens.length) throw new Fault("Type a number or a formula.", 0, 0);
  return new Reader(tokens, names, aliases).whole();
}

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

const near = (x, right, part) => Math.abs(x - right) <= allowance(right, part);

// Not right, but as near as a number with a digit less, or a formula with a rounded number in it, would be.
function almost(x, right, part) {
  if (part.variables.length) return Math.abs(x - right) <= 2e-3 * Math.abs(right);
  if (part.digits === 1 || part.tolerance > 1e-3 || Number.isInteger(right)) return false;
  return Math.abs(x - right) <= Math.min(allowance(right, part, 1), 0.05 * Math.abs(right));
}

// What becomes of an answer: where it first differs, or that it does nowhere; the mistake that it is, or the formula that
// it would be with other parentheses, where that is right.
export function judge(part, text) {
  const [names, aliases] = spelled(part);
  const yours = read(text, names, aliases),
    ours = read(part.answer, names, aliases);
  const rows = instances(part).map((values) => ({ values, yours: yours(values), ours: ours(values) }));
  const off = rows.filter((row) => !near(row.yours, row.ours, part));
  const mistake = off.length
    ? part.common_mistakes.find(([formula]) => agrees(read(formula, names, aliases), rows, part))
    : null;
  const right = (other) => {
    const formula = read(other, names, aliases);
    return rows.every(({ values, ours }) => near(formula(values), ours, part));
  };
  return {
    right: !off.length,
    of: rows.length,
    off: off.length,
    first: off[0] ?? null,
    mistake: mistake?.[1] ?? null,
    almost: off.every((row) => almost(row.yours, row.ours, part)),
    meant: off.length ? (regroupings(text).find(right) ?? null) : null,
  };
}

// The formula with parentheses more: around what follows a ^ or a /, and what stands before the /. What may have been
// meant by x^1/2, a/b*c, a-b/c+d.
export function regroupings(text) {
  const tokens = tokensOf(text),
    found = [];
  if (tokens.length > 80) return found; // they grow with the square of the length
  const wrapped = (from, to) => `(${text.slice(from, to).trim()})`;
  for (const [k, { word, at, length }] of tokens.entries()) {
    if (word !== "^" && word !== "/") continue;
    const start = levelStart(tokens, k),
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
function levelStart(tokens, k) {
  for (let depth = 0, j = k - 1; j >= 0; j--) {
    depth += closes(tokens[j]) - opens(tokens[j]);
    if (depth < 0 || (depth === 0 && tokens[j].word === ",")) return tokens[j].at + 1;
  }
  return 0;
}

// Behind token k: before each operation on its level, and where the level ends.
function levelEnds(tokens, k, length) {
  const ends = [];
  for (let depth = 0, j = k + 2; j < tokens.length; j++) {
    depth += opens(tokens[j - 1]) - closes(tokens[j - 1]);
    if (depth === 0 && (closes(tokens[j]) || tokens[j].word === ",")) return [...ends, tokens[j].at];
    const between = tokens[j - 1].kind !== "sign" || closes(tokens[j - 1]); // of two numbers, and no sign of the second
    if (depth === 0 && between && Object.hasOwn(OPERATORS, tokens[j].word)) ends.push(tokens[j].at);
  }
  return [...ends, length];
}

function agrees(formula, rows, part) {
  return rows.every(({ values, yours }) => near(yours, formula(values), part));
}
