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

// One spelling of a name: η, eta and \eta; v₁, v1, v_1 and v_{1}; letters that were copied from a formula.
export function canonical(word) {
  const plain = word
    .normalize("NFKC")
    .replace(/[\\_{}]/g, "")
    .replaceAll("'", "′");
  return Object.hasOwn(GREEK, plain) ? GREEK[plain] : (GREEK[plain[0]] ?? plain.slice(0, 1)) + plain.slice(1);
}

export const isGreek = (word) => GREEK_NAMES.has(canonical(word));

const LEFT_OUT =
  /(?:[\s\u200b\u2061-\u2064$]|\\[,;:! ]|\\(?:left|right|[bB]igg?[lr]?|mathrm|operatorname)(?![a-zA-Z]))+/uy;
const NAME = String.raw`(?:\\[a-zA-Z]+|\p{L}[\p{L}\p{M}\d₀-₉′']*)(?:_(?:\{[^{}]*\}|[\p{L}\d]+))?`;
const TOKEN = new RegExp(
  [
    String.raw`(?<half>\\[dt]?frac\s*(?<over>\d)\s*(?<under>\d)|(?<whole>\d*)(?<vulgar>[¼-¾⅐-⅞]))`,
    String.raw`(?<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+\-−]?\d+)?)`,
    String.raw`(?<power>[⁺⁻]?[⁰¹²³⁴-⁹]+)`,
    String.raw`(?<sign>\*\*|\\(?:cdot|times|ast|div)(?![a-zA-Z])|\\%|[-+*/^(),\[\]{}|%−–·×⋅∗•÷∕⁄])`,
    `(?<name>${NAME}|√)`,
  ].join("|"),
  "uy",
);

const number = (value, word) => ({ kind: "number", value, word });

// ½ as 1/2, 2½ as 2+1/2, \frac12 as 1/2.
function fraction({ over, under, whole, vulgar }) {
  const [above, below] = vulgar ? vulgar.normalize("NFKC").split("⁄") : [over, under];
  return number(Number(whole ?? 0) + above / below, whole ? `(${whole}+${above}/${below})` : `(${above}/${below})`);
}

function made(groups, raw) {
  if (groups.half) return [fraction(groups)];
  if (groups.number) return [number(Number(raw.replace("−", "-")), raw.replace("−", "-"))];
  if (groups.power) {
    const digits = raw.normalize("NFKC").replace("−", "-");
    return [{ kind: "sign", word: "^" }, number(Number(digits), digits)];
  }
  if (groups.sign) return [{ kind: "sign", word: SIGNS[raw] ?? raw }];
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
      const sign = String.fromCodePoint(text.codePointAt(at)); // 😀 is two units of a text
      throw new Fault(meaningless(sign), at, sign.length);
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
  return `“${sign}” means nothing here.`;
}
