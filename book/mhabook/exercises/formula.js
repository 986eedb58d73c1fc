import { isUnit, lengthOfName, withoutTransposes } from "./asked.js";
import { CONSTANTS, FUNCTIONS, applied, binary, constant, functionNamed, negative, raised, single } from "./parts.js";
import { Fault, canonical, isGreek, meaningless, tokensOf } from "./tokens.js";

// Formulas that a reader types: read without eval, into the parts of parts.js.

// What is read is read at once, and within the stack of any browser.
const LONGEST = 2000, // characters
  DEEPEST = 100; // levels
const TOO_DEEP = `This formula is nested too deep: ${DEEPEST} levels are read at most. Leave out the parentheses and signs that it does not need.`;
const tooLong = (count) =>
  `This formula is too long: it has ${count} characters, and ${LONGEST} are read at most. Write a shorter one.`;
const COMMA = "A comma stands between the arguments of min, max and binom, or once inside a decimal number.";
const MISSING = "Between these two an operation is missing: +, −, *, / or ^.";
const CHOOSE = "Put this into parentheses of its own, (k choose 2), or write binom(k, 2).";
const TRANSPOSE = "A letter here is a number, and its own transpose: leave out the T.";
const TRANSPOSES = ["T", "\\top", "\\intercal"];
const ABOVE_TEN = /^(eleven|twelve|\w+teen|(twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand)$/i;
// In TeX with two arguments in braces.
const BRACED = {
  frac: ["Write a fraction as \\frac{1}{2} or 1/2.", (above, below) => binary("/", above, below)],
  binom: ["Write a binomial coefficient as \\binom{k}{2} or binom(k, 2).", (...given) => applied("binom", given)],
};
const fault = (message, token) => new Fault(message, token.at, token.length);

// A name, and the primes behind it.
const withPrimes = (name) => /^(.*?)(′*)$/.exec(name).slice(1);

// Reads one level of a formula after the other, from the loosest operation to a single number.
class Reader {
  constructor(tokens, letters, ask) {
    Object.assign(this, { letters, k: 0, depth: 0, calls: 0, bars: 0, bare: null, used: new Set() });
    this.loose = tokens.some((token) => token.loose);
    this.transposes = withoutTransposes(ask) && !letters.has("T");
    this.tokens = this.withoutUnit(tokens, ask).flatMap((token, k, all) => this.parted(token, all[k - 1]));
  }

  get token() {
    return this.tokens[this.k];
  }

  is(...signs) {
    return this.token?.kind === "sign" && signs.includes(this.token.word);
  }

  // The letter that a word is; at d = 1 B' is B as well.
  letter(word) {
    const name = canonical(word),
      transposed = this.transposes && name.endsWith("′");
    return this.letters.get(name) ?? (transposed ? this.letters.get(name.slice(0, -1)) : undefined);
  }

  // The function that a word names. No letter of the question is taken for one: not C, and not σ in σ′.
  functionOf(word) {
    if (word === "C") return this.letters.has("C") ? null : "binom";
    const [name, primes] = withPrimes(canonical(word.toLowerCase().replace("σ", "sigma")));
    return primes && this.letters.has(name) ? null : functionNamed(name, primes);
  }

  known(word) {
    return this.letter(word) || Object.hasOwn(CONSTANTS, canonical(word)) || this.functionOf(word);
  }

  // "62 seeds" is 62 where seeds are asked for.
  withoutUnit(tokens, ask) {
    const [before, last] = tokens.slice(-2);
    if (last?.kind !== "name" || /^[-+*/^(|]$/.test(before.word) || !isUnit(last.word, ask)) return tokens;
    if (this.known(last.word) || this.parted(last).length > 1) return tokens;
    this.loose = true;
    return tokens.slice(0, -1);
  }

  // A word that nobody knows, as the one product of letters that it can be: ηλ, 2qk, uexp(…); B^Tx as B^T x.
  parted(token, before) {
    const { kind, word, at } = token;
    if (kind !== "name" || word.includes("\\") || this.known(word) || isGreek(word)) return [token];
    const glued = this.transposes && before?.word === "^" && word[0] === "T" && this.products(word.slice(1));
    const ways = glued ? glued.map((rest) => ["T", ...rest]) : this.products(word);
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
        .filter((head) => this.letter(head))
        .flatMap((head) => ways[k + head.length].map((rest) => [head, ...rest]));
      ways[k] = this.functionOf(ending) ? [[ending]] : begun.slice(0, 2);
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
    return word === "+" ? inner : negative(inner);
  }

  // Binds more tightly than a sign in front, and to the right: -2^2 = -4, 2^3^2 = 2^9.
  power() {
    const start = this.k,
      base = this.single();
    if (this.token?.kind === "name" && canonical(this.token.word) === "choose") return this.chosen(base, start);
    while (this.transposed()) this.loose = true;
    if (!this.is("^")) return base;
    this.k++;
    return raised(base, this.signed());
  }

  // B^T, B^{T}, B^\top, where they are B.
  transposed() {
    if (!this.transposes || !this.is("^") || !this.letter(this.tokens[this.k - 1].word)) return false;
    const [first, inner, last] = this.tokens.slice(this.k + 1, this.k + 4).map(({ word }) => word);
    const braced = first === "(" && last === ")";
    if (!TRANSPOSES.includes(braced ? inner : first)) return false;
    this.k += braced ? 4 : 2;
    return true;
  }

  // k choose 2, with nothing beside it: of 2k choose 2 nobody knows from what one chooses.
  chosen(from, start) {
    const sign = this.tokens[this.k++],
      given = [from, this.single()];
    const beside = [this.tokens[start - 1], this.token];
    if (beside.some((token) => token && !"(,)".includes(token.word))) throw fault(CHOOSE, sign);
    this.loose = true;
    return applied("binom", given);
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
    if (/^a[\s-]/i.test(token.raw) && this.letters.has(token.raw[0])) throw this.article(token);
    if (this.is("of")) return this.share(token);
    const { value, word } = this.decimal(token);
    if (!this.is("%")) return constant(value, word);
    this.k++;
    this.loose = true;
    return binary("/", constant(value, word), constant(100, "100"));
  }

  // 99 of 100, or nine out of ten, with nothing beside it: half of 100 is no 1/200.
  share(token) {
    const [before, of, whole, after] = [-2, 0, 1, 2].map((step) => this.tokens[this.k + step]);
    const beside = [before, after].some((each) => each && !"()".includes(each.word)),
      counts = [token, whole].every((each) => Number.isInteger(each?.value));
    if (beside || !counts || token.value > whole.value) throw fault(meaningless("of"), of);
    this.k += 2;
    return binary("/", ...[token, whole].map(({ value, word }) => constant(value, word)));
  }

  // With a letter a, "a half" may be its half.
  article({ raw, word, ...token }) {
    return fault(`“${raw}” may be ${word.replace("1", raw[0])} or ${word}: write one of them.`, token);
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
    if (!this.token) throw fault("This parenthesis is never closed.", open);
    if (!this.is(")")) throw fault(meaningless(this.token.word), this.token);
    this.k++;
  }

  named(token) {
    const name = canonical(token.word),
      letter = this.letter(token.word);
    if (letter) {
      this.used.add(letter);
      return single((values) => values[letter], this.shownLetter(token.word));
    }
    if (Object.hasOwn(CONSTANTS, name)) return constant(CONSTANTS[name], name);
    const inTeX = /^\\[dt]?(frac|binom)$/.exec(token.word);
    if (inTeX) return this.braced(token, ...BRACED[inTeX[1]]);
    const called = this.functionOf(token.word),
      isC = token.word === "C"; // which is a function only in front of its arguments
    if (!called || (isC && !this.is("("))) throw fault(this.unknown(token.word), token);
    this.loose ||= isC;
    return this.is("(") ? this.called(called, token) : this.uncalled(called, token);
  }

  // As it was typed, and without the prime of a transpose.
  shownLetter(word) {
    const shown = word.replace(/\\prime\s*/g, "′").replace(/[\\{}^]/g, "");
    if (this.letters.has(canonical(word))) return shown;
    this.loose = true;
    return shown.slice(0, -1);
  }

  braced(token, words, made) {
    const parts = [0, 1].map(() => {
      if (!this.is("(")) throw fault(words, token);
      return this.inside(this.tokens[this.k++]);
    });
    this.loose = true;
    return made(...parts);
  }

  called(name, token) {
    const [least, most] = FUNCTIONS[name],
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
    const wanted = most > least ? "two numbers or more" : "two numbers";
    if (given.length < least) throw fault(`${name} takes ${wanted}: ${name}(a, b).`, token);
    return applied(name, given);
  }

  // ln 81, √2: the argument is what comes next, and no product without a sign follows.
  uncalled(name, token) {
    const [least] = FUNCTIONS[name];
    if (least > 1 || !this.token || (this.token.kind === "sign" && !this.is("+", "-", "|"))) throw this.argument(token);
    const inner = this.signed();
    this.bare = { token, end: this.k };
    this.loose = true;
    return applied(name, [inner]);
  }

  argument(token) {
    const name = token.word.replace("\\", "");
    return fault(`Give ${name} its argument in parentheses: ${name}(…).`, token);
  }

  // Of a function that has its name at the end: tanh′, uσ‴.
  isDerivative(word) {
    const [name, primes] = withPrimes(canonical(word)),
      endings = Array.from(name, (_, k) => name.slice(k));
    return primes && endings.some((ending) => !this.letter(ending) && this.functionOf(ending));
  }

  unknown(word) {
    if (this.isDerivative(word)) return `“${word}” is not known here. Write the derivative out.`;
    if (TRANSPOSES.includes(word) && (this.transposes || word !== "T")) return TRANSPOSE;
    if (ABOVE_TEN.test(word)) return "Write numbers above ten in digits.";
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
  const from = lengthOfName(text, ask),
    tokens = tokensOf(text, from);
  if (!tokens.length) throw new Fault("Type a number or a formula.", from, 0);
  const reader = new Reader(tokens, letters, ask),
    { value, text: reading } = reader.whole();
  const loose = reader.loose || text.includes("\\");
  return { value, used: reader.used, reading: loose ? reading : null, from };
}
