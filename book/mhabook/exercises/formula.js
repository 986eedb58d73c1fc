import { Fault, canonical, isGreek, meaningless, tokensOf } from "./tokens.js";

// Formulas that a reader types: read without eval. What is read is {value, text, level}: a function of the variables, and
// the formula as it was read, which says where parentheses belong.

const FUNCTIONS = {
  exp: [1, 1, Math.exp],
  log: [1, 1, Math.log],
  sqrt: [1, 1, Math.sqrt],
  abs: [1, 1, Math.abs],
  sin: [1, 1, Math.sin],
  cos: [1, 1, Math.cos],
  sinh: [1, 1, Math.sinh],
  cosh: [1, 1, Math.cosh],
  tanh: [1, 1, Math.tanh],
  sigmoid: [1, 1, (x) => 1 / (1 + Math.exp(-x))],
  min: [2, Infinity, Math.min],
  max: [2, Infinity, Math.max],
};
const OTHER_NAMES = { ln: "log", sigma: "sigmoid", logistic: "sigmoid" };
const CONSTANTS = { pi: Math.PI, e: Math.E };
const [SUM, PRODUCT, SIGN, POWER, SINGLE] = [1, 2, 3, 4, 5];
const OPERATIONS = {
  "+": [SUM, (a, b) => a + b],
  "-": [SUM, (a, b) => a - b],
  "*": [PRODUCT, (a, b) => a * b],
  "/": [PRODUCT, (a, b) => a / b],
};
// What is read is read at once, and within the stack of any browser.
const LONGEST = 2000, // characters
  DEEPEST = 100; // levels
const TOO_DEEP = `This formula is nested too deep: ${DEEPEST} levels are read at most. Leave out the parentheses and signs that it does not need.`;
const tooLong = (count) =>
  `This formula is too long: it has ${count} characters, and ${LONGEST} are read at most. Write a shorter one.`;
const COMMA = "A comma stands between the arguments of min and max, or once inside a decimal number.";
const MISSING = "Between these two an operation is missing: +, −, *, / or ^.";
const fault = (message, token) => new Fault(message, token.at, token.length);

const wrapped = (part, level) => (part.level < level ? `(${part.text})` : part.text);
const single = (value, text) => ({ value, text, level: SINGLE });

// From left to right, and written so: 1/2*x as (1/2)*x.
function binary(sign, left, right) {
  const [level, apply] = OPERATIONS[sign],
    plain = level === SUM || (sign === "*" && left.sign !== "/");
  return {
    value: (values) => apply(left.value(values), right.value(values)),
    text: wrapped(left, plain ? level : level + 1) + sign + wrapped(right, level + 1),
    level,
    sign,
  };
}

function functionOf(word) {
  const name = canonical(word.toLowerCase().replace("σ", "sigma"));
  const plain = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : name;
  return Object.hasOwn(FUNCTIONS, plain) ? plain : null;
}

// Reads one level of a formula after the other, from the loosest operation to a single number.
class Reader {
  constructor(tokens, letters) {
    Object.assign(this, { letters, k: 0, depth: 0, calls: 0, bars: 0, bare: null, loose: false, used: new Set() });
    this.tokens = tokens.flatMap((token) => this.parted(token));
  }

  get token() {
    return this.tokens[this.k];
  }

  is(...signs) {
    return this.token?.kind === "sign" && signs.includes(this.token.word);
  }

  known(word) {
    const name = canonical(word);
    return this.letters.has(name) || Object.hasOwn(CONSTANTS, name);
  }

  // A word that nobody knows, as the one product of letters that it can be: ηλ, 2qk, uexp(…).
  parted(token) {
    const { kind, word, at } = token;
    if (kind !== "name" || word.includes("\\") || this.known(word) || functionOf(word) || isGreek(word)) return [token];
    const ways = this.products(word);
    if (ways.length !== 1) return [token];
    this.loose = true;
    let start = at;
    return ways[0].map((part) => {
      const piece = { ...token, word: part, raw: part, at: start, length: part.length };
      start += part.length;
      return piece;
    });
  }

  // Two ways to part it, if there are so many: from its end on, so that no ending is parted twice.
  products(word) {
    const ways = { [word.length]: [[]] };
    for (let k = word.length - 1; k >= 0; k--) {
      const ending = word.slice(k),
        heads = Array.from({ length: Math.min(ending.length, 12) }, (_, j) => ending.slice(0, j + 1));
      const begun = heads
        .filter((head) => this.letters.has(canonical(head)))
        .flatMap((head) => ways[k + head.length].map((rest) => [head, ...rest]));
      ways[k] = functionOf(ending) ? [[ending]] : begun.slice(0, 2);
    }
    return ways[0];
  }

  whole() {
    const made = this.sum();
    if (this.is(",")) throw fault(COMMA, this.token);
    if (this.is(")")) throw fault("This parenthesis was never opened.", this.token);
    if (this.token) throw fault(meaningless(this.token.word), this.token);
    return made;
  }

  sum() {
    let left = this.product();
    while (this.is("+", "-")) left = binary(this.tokens[this.k++].word, left, this.product());
    return left;
  }

  // What stands side by side is multiplied, in its turn: 1/2 x is (1/2)*x.
  product() {
    let left = this.signed();
    for (;;) {
      if (this.is("*", "/")) left = binary(this.tokens[this.k++].word, left, this.signed());
      else if (this.juxtaposed()) left = binary("*", left, this.power());
      else return left;
    }
  }

  juxtaposed() {
    if (this.token?.kind === "number") throw fault(MISSING, this.token);
    if (this.token?.kind !== "name" && !this.is("(") && !(this.is("|") && !this.bars)) return false;
    if (this.bare?.end === this.k && !this.apart()) throw this.argument(this.bare.token);
    return (this.loose = true);
  }

  // √H φ is √H times φ; √2u and ln 2 u may be either.
  apart() {
    const before = this.tokens[this.k - 1];
    return this.bare.token.raw === "√" && this.token.at > before.at + before.length;
  }

  // Whatever stands inside another part is read through here: in parentheses, as an exponent, behind a sign.
  signed() {
    if (++this.depth > DEEPEST) throw fault(TOO_DEEP, this.token ?? this.tokens[this.k - 1]);
    const made = this.is("+", "-") ? this.behindSign() : this.power();
    this.depth--;
    return made;
  }

  behindSign() {
    const { word } = this.tokens[this.k++],
      inner = this.signed();
    if (word === "+") return inner;
    return { value: (values) => -inner.value(values), text: `-${wrapped(inner, SIGN)}`, level: SIGN };
  }

  // Binds more tightly than a sign in front, and to the right: -2^2 = -4, 2^3^2 = 2^9.
  power() {
    const base = this.single();
    if (!this.is("^")) return base;
    this.k++;
    const exponent = this.signed();
    return {
      value: (values) => base.value(values) ** exponent.value(values),
      text: `${wrapped(base, SINGLE)}^${wrapped(exponent, SINGLE)}`,
      level: POWER,
    };
  }

  single() {
    const { token } = this;
    if (!token || (token.kind === "sign" && !this.is("(", "|"))) throw this.missing();
    this.k++;
    if (token.kind === "number") return this.number(token);
    if (token.kind === "name") return this.named(token);
    return token.word === "|" ? this.absolute(token) : this.inside(token);
  }

  number(token) {
    const { value, word } = this.decimal(token);
    if (!this.is("%")) return { value: () => value, text: word, level: value < 0 ? SIGN : SINGLE };
    this.k++;
    this.loose = true;
    return { value: () => value / 100, text: `${word}/100`, level: PRODUCT, sign: "/" };
  }

  // 0,5 is 0.5, where the comma does not part arguments; 1,234 may be either, and is neither.
  decimal(token) {
    const [comma, digits] = this.tokens.slice(this.k, this.k + 2);
    const touch = comma?.at === token.at + token.length && digits?.at === comma.at + 1;
    if (!this.is(",") || !touch || this.calls || !/^\d+,\d+$/.test(`${token.raw},${digits.raw}`)) return token;
    if (digits.length === 3 && token.raw !== "0")
      throw fault(`Write ${token.raw}${digits.raw}, or ${token.raw}.${digits.raw}: the comma may mean either.`, comma);
    this.k += 2;
    this.loose = true;
    return { value: Number(`${token.raw}.${digits.raw}`), word: `${token.raw}.${digits.raw}` };
  }

  inside(open) {
    const [bars, value] = [this.bars, ((this.bars = 0), this.sum())];
    this.bars = bars;
    this.close(open);
    return value;
  }

  absolute(open) {
    this.bars++;
    const inner = this.sum();
    this.bars--;
    if (!this.is("|")) throw fault(meaningless("|"), open);
    this.k++;
    return single((values) => Math.abs(inner.value(values)), `abs(${inner.text})`);
  }

  close(open) {
    if (this.is(",")) throw fault(COMMA, this.token);
    if (!this.is(")")) throw fault("This parenthesis is never closed.", open);
    this.k++;
  }

  named(token) {
    const name = canonical(token.word),
      letter = this.letters.get(name);
    if (letter) {
      this.used.add(letter);
      return single((values) => values[letter], token.word.replace(/[\\{}]/g, ""));
    }
    if (Object.hasOwn(CONSTANTS, name)) return single(() => CONSTANTS[name], name);
    if (/^\\[dt]?frac$/.test(token.word)) return this.fraction(token);
    const called = functionOf(token.word);
    if (!called) throw fault(this.unknown(token.word), token);
    return this.is("(") ? this.called(called, token) : this.uncalled(called, token);
  }

  fraction(token) {
    const parts = [0, 1].map(() => {
      if (!this.is("(")) throw fault("Write a fraction as \\frac{1}{2} or 1/2.", token);
      return this.inside(this.tokens[this.k++]);
    });
    this.loose = true;
    return binary("/", ...parts);
  }

  called(name, token) {
    const [least, most, apply] = FUNCTIONS[name],
      open = this.tokens[this.k++];
    if (token.raw === "\\sqrt" && open.raw === "[") throw fault("Write another root as a power: x^(1/3).", token);
    this.calls += most > 1;
    const given = [this.sum()];
    while (this.is(",") && given.length < most) {
      this.k++;
      given.push(this.sum());
    }
    this.calls -= most > 1;
    this.close(open);
    if (given.length < least) throw fault(`${name} takes two numbers or more: ${name}(a, b).`, token);
    return single(
      (values) => apply(...given.map((one) => one.value(values))),
      `${name}(${given.map((one) => one.text).join(", ")})`,
    );
  }

  // ln 81, √2: the argument is what comes next, and no product without a sign follows.
  uncalled(name, token) {
    const [least, , apply] = FUNCTIONS[name];
    if (least > 1 || !this.token || (this.token.kind === "sign" && !this.is("+", "-", "|"))) throw this.argument(token);
    const inner = this.signed();
    this.bare = { token, end: this.k };
    this.loose = true;
    return single((values) => apply(inner.value(values)), `${name}(${inner.text})`);
  }

  argument(token) {
    const name = token.word.replace("\\", "");
    return fault(`Give ${name} its argument in parentheses: ${name}(…).`, token);
  }

  unknown(word) {
    if (/^\\?(σ|sigma)′?'?$/.test(word)) return `“${word}” is not known here. Write the derivative out.`;
    if (/^\\?(log|lg|ld)_?\{?\d*\}?$/.test(word))
      return "There is one logarithm, the natural one; for base b divide by log(b).";
    if (/^\\(leq?|geq?|neq?|lt|gt)$/.test(word)) return meaningless("≤");
    const names = [...new Set(this.letters.values())];
    const known = names.length
      ? `The letters here are ${names.join(", ")}`
      : "A number is asked for, so there are no letters";
    return `“${shortened(word)}” is not known here. ${known}; there are also pi, e and functions such as exp, log, sqrt.`;
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

const shortened = (word) => (word.length > 20 ? `${word.slice(0, 20)}…` : word);

// How much of "w = 0" is left out where w is what is asked.
function named(text, ask) {
  const end = text.search(/[=≈]/) + 1,
    plain = (words) =>
      [...words.replace(/[,:;]/g, " ").replace(/∂|\\partial\s*/g, "d")]
        .map(canonical)
        .join("")
        .trim()
        .replace(/\s+/g, " "),
    name = plain(text.slice(0, Math.max(end - 1, 0)));
  return !name || ` ${plain(ask)} `.includes(` ${name} `) ? end : 0;
}

// The formula: `value` is a function of name → value, `used` its names, `reading` how it was read where it could have been
// read in another way. `aliases` gives other spellings, δu → du; `ask` is the question, whose name may stand in front.
export function read(text, names, aliases = {}, ask = "") {
  if (text.length > LONGEST) throw new Fault(tooLong(text.length), 0, 0);
  const letters = new Map(
    [...names.map((name) => [name, name]), ...Object.entries(aliases)].map(([spelling, name]) => [
      canonical(spelling),
      name,
    ]),
  );
  const from = named(text, ask),
    tokens = tokensOf(text, from);
  if (!tokens.length) throw new Fault("Type a number or a formula.", from, 0);
  const reader = new Reader(tokens, letters),
    { value, text: reading } = reader.whole();
  const loose = reader.loose || text.includes("\\");
  return { value, used: reader.used, reading: loose ? reading : null };
}
