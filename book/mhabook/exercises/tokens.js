// What a reader types, cut into numbers, names and signs: plain text, Unicode, or fragments of TeX.
// A formula that cannot be read throws a Fault, which knows where in the text it is.

export class Fault extends Error {
  constructor(message, at, length = 1) {
    super(message);
    Object.assign(this, { at, length });
  }
}

const SIGNS = {
  ...{ "−": "-", "–": "-", "·": "*", "×": "*", "⋅": "*", "∗": "*", "•": "*", "÷": "/", "∕": "/", "⁄": "/" },
  ...{ "**": "^", "[": "(", "]": ")", "{": "(", "}": ")", "\\%": "%" },
  ...{ "\\cdot": "*", "\\times": "*", "\\ast": "*", "\\div": "/" },
};
const GREEK = {
  ...{ α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "eps", ζ: "zeta", η: "eta", θ: "theta", κ: "kappa" },
  ...{ λ: "lambda", μ: "mu", ν: "nu", ξ: "xi", π: "pi", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi", χ: "chi" },
  ...{ ψ: "psi", ω: "omega", Σ: "Sigma", Φ: "Phi", epsilon: "eps", varepsilon: "eps", varphi: "phi" },
};
const GREEK_NAMES = new Set(Object.values(GREEK));
// Numbers and signs in words. The sign of "99 of 100" is one that parts two numbers alone.
const SPOKEN = {
  ...{ zero: "0", one: "1", two: "2", three: "3", four: "4", five: "5", six: "6", seven: "7", eight: "8", nine: "9" },
  ...{ ten: "10", half: "1/2", "a half": "1/2", "one half": "1/2" },
  ...{ "a third": "1/3", "one third": "1/3", "two thirds": "2/3" },
  ...{ "a quarter": "1/4", "one quarter": "1/4", "three quarters": "3/4" },
  ...{ minus: "-", percent: "%", "per cent": "%", of: "of", "out of": "of" },
};

// One spelling of a name: η, eta and \eta; v₁, v1, v_1 and v_{1}; x', x′, x’ and x^\prime; σ″, σ'' and σ"; letters that
// were copied from a formula.
export function canonical(word) {
  const plain = word
    .replace(/"/g, "″")
    .replace(/['’]|\\prime\s*/g, "′")
    .normalize("NFKC")
    .replace(/[\\_{}^]/g, "");
  return Object.hasOwn(GREEK, plain) ? GREEK[plain] : (GREEK[plain[0]] ?? plain.slice(0, 1)) + plain.slice(1);
}

export const isGreek = (word) => GREEK_NAMES.has(canonical(word));

const LEFT_OUT =
  /(?:[\s\u200b\u2061-\u2064$]|\\[,;:! ]|\\(?:left|right|[bB]igg?[lr]?|mathrm|operatorname)(?![a-zA-Z]))+/uy;
// Letters set high, as in Hᵖ, are powers and belong to no name.
const HIGH = "ʰ-ʸˡ-ˣᴬ-ᵡᶛ-ᶿⁱⁿⱽ",
  HIGH_DIGITS = "⁺⁻⁰¹²³⁴-⁹",
  PRIME = `['′’″‴"]`,
  LETTER = `(?![${HIGH}])\\p{L}`,
  PART = String.raw`${LETTER}|[\p{M}\d₀-₉]|${PRIME}`;
const NAME = [
  String.raw`(?:\\[a-zA-Z]+${PRIME}*|${LETTER}(?:${PART})*)`,
  String.raw`(?:_(?:\{[^{}]*\}|[\p{L}\d]+))?`,
  String.raw`(?:\^(?:\\prime(?![a-zA-Z])|\{(?:\\prime\s*)+\}))?`,
].join("");
// From the longest on, so that "one half" is found before "one".
const WORD = Object.keys(SPOKEN)
  .sort((one, other) => other.length - one.length)
  .map((word) => `[${word[0]}${word[0].toUpperCase()}]${word.slice(1).replace(" ", String.raw`(?:\s+|-)`)}`)
  .join("|");
const TOKEN = new RegExp(
  [
    String.raw`(?<half>\\[dt]?frac\s*(?<over>\d)\s*(?<under>\d)|(?<whole>\d*)(?<vulgar>[¼-¾⅐-⅞]))`,
    String.raw`(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+\-−]?\d+)?)`,
    `(?<power>[⁺⁻]?[⁰¹²³⁴-⁹]+(?![${HIGH_DIGITS}${HIGH}]))`,
    `(?<high>[${HIGH_DIGITS}]*[${HIGH}][${HIGH_DIGITS}${HIGH}]*)`,
    String.raw`(?<top>\^?\s*(?:⊤|\{\s*⊤\s*\}))`,
    String.raw`(?<sign>\*\*|\\(?:cdot|times|ast|div)(?![a-zA-Z])|\\%|[-+*/^(),\[\]{}|%−–·×⋅∗•÷∕⁄])`,
    `(?<spoken>(?:${WORD})(?!${PART}|_))`,
    `(?<name>${NAME}|√)`,
  ].join("|"),
  "uy",
);

const number = (value, word) => ({ kind: "number", value, word }),
  sign = (word) => ({ kind: "sign", word });

// ½ as 1/2, 2½ as 2+1/2, \frac12 as 1/2.
function fraction({ over, under, whole, vulgar }) {
  const [above, below] = vulgar ? vulgar.normalize("NFKC").split("⁄") : [over, under];
  return number(Number(whole ?? 0) + above / below, whole ? `${whole}+${above}/${below}` : `${above}/${below}`);
}

// Words and high letters may have been meant in another way: `loose` has the reading shown.
function spoken(raw) {
  const word = SPOKEN[raw.toLowerCase().replace(/[\s-]+/, " ")],
    [over, under] = word.split("/");
  if (!/^\d/.test(word)) return { ...sign(word), loose: true };
  return { ...(under ? fraction({ over, under }) : number(Number(over), over)), loose: true };
}

// Hᵖ⁻¹ as H^(p-1).
const high = (raw) => [sign("^"), sign("("), ...tokensOf(raw.normalize("NFKC")), { ...sign(")"), loose: true }];

function made(groups, raw) {
  if (groups.half) return [fraction(groups)];
  if (groups.number) return [number(Number(raw.replace("−", "-")), raw.replace("−", "-"))];
  if (groups.power) {
    const digits = raw.normalize("NFKC").replace("−", "-");
    return [sign("^"), number(Number(digits), digits)];
  }
  if (groups.high) return high(raw);
  if (groups.top) return [sign("^"), { kind: "name", word: "\\top" }];
  if (groups.spoken) return [spoken(raw)];
  if (groups.sign) return [sign(SIGNS[raw] ?? raw)];
  return [{ kind: "name", word: raw === "√" ? "sqrt" : raw }];
}

export function tokensOf(text, from = 0) {
  const found = [];
  for (let at = from; at < text.length;) {
    LEFT_OUT.lastIndex = TOKEN.lastIndex = at;
    const space = LEFT_OUT.exec(text);
    if (space) {
      at += space[0].length;
      continue;
    }
    const match = TOKEN.exec(text);
    if (!match) {
      const strange = String.fromCodePoint(text.codePointAt(at)); // 😀 is two units of a text
      throw new Fault(meaningless(strange), at, strange.length);
    }
    const { groups, 0: raw } = match;
    found.push(...made(groups, raw).map((token) => ({ ...token, raw, at, length: raw.length })));
    at += raw.length;
  }
  return found;
}

export function meaningless(sign) {
  if ("=≈".includes(sign)) return "Give the value of what is asked, alone or after its name and one equals sign.";
  if ("<>≤≥≠".includes(sign)) return "A value is asked for, not an inequality.";
  if ("±∓".includes(sign)) return "One value is asked for: choose the sign.";
  if (sign === "∞") return "Infinity is no answer here: a number or a formula is asked for.";
  if (sign === "%") return "A percent sign stands after a number, as in 50%.";
  if (sign === "|") return "This bar has no partner: write an absolute value as |x| or abs(x).";
  if (sign === "!") return "Factorials are not read here.";
  if (sign === "of") return "Write a fraction of a number as 99/100, and half of u as u/2.";
  return `“${sign}” means nothing here.`;
}
