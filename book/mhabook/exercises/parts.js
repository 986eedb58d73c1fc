// What a formula is made of. A part is {value, text, level}: a function of the variables, and the formula as it was read,
// whose level says where parentheses belong.

const [SUM, PRODUCT, SIGN, POWER, SINGLE] = [1, 2, 3, 4, 5];
const OPERATIONS = {
  "+": [SUM, (a, b) => a + b],
  "-": [SUM, (a, b) => a - b],
  "*": [PRODUCT, (a, b) => a * b],
  "/": [PRODUCT, (a, b) => a / b],
};
const sigmoid = (x) => 1 / (1 + Math.exp(-x));
const MOST = 2000; // factors of a binomial coefficient, so that none takes long

// k(k−1)…(k−m+1)/m! for a whole m.
function binomial(k, m) {
  if (!Number.isInteger(m) || m < 0 || m > MOST) return NaN;
  let value = 1;
  for (let j = 0; j < m; j++) value *= (k - j) / (j + 1);
  return value;
}

// Name → the least and the largest number of arguments, and the function.
export const FUNCTIONS = {
  exp: [1, 1, Math.exp],
  log: [1, 1, Math.log],
  sqrt: [1, 1, Math.sqrt],
  abs: [1, 1, Math.abs],
  sin: [1, 1, Math.sin],
  cos: [1, 1, Math.cos],
  sinh: [1, 1, Math.sinh],
  cosh: [1, 1, Math.cosh],
  tanh: [1, 1, Math.tanh],
  sigmoid: [1, 1, sigmoid],
  "sigmoid′": [1, 1, (x) => sigmoid(x) * sigmoid(-x)], // σ(−x) is 1 − σ(x)
  "sigmoid′′": [1, 1, (x) => sigmoid(x) * sigmoid(-x) * (sigmoid(-x) - sigmoid(x))],
  binom: [2, 2, binomial],
  min: [2, Infinity, Math.min],
  max: [2, Infinity, Math.max],
};
const OTHER_NAMES = { ln: "log", sigma: "sigmoid", logistic: "sigmoid" };
export const CONSTANTS = { pi: Math.PI, e: Math.E };

// The name in FUNCTIONS of what is called so, with the primes of a derivative; null where there is none.
export function functionNamed(name, primes) {
  const plain = (Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : name) + primes;
  return Object.hasOwn(FUNCTIONS, plain) ? plain : null;
}

const wrapped = (part, level) => (part.level < level ? `(${part.text})` : part.text);

// A letter, or what needs no parentheses for another reason.
export const single = (value, text) => ({ value, text, level: SINGLE });

// A number; of ½ and 2½ the text is a quotient or a sum.
export function constant(value, text) {
  const [sign] = /\+(?=.*\/)|\/|^-/.exec(text) ?? [],
    level = { "+": SUM, "/": PRODUCT, "-": SIGN }[sign] ?? SINGLE;
  return { value: () => value, text, level, sign };
}

export function negative(part) {
  return { value: (values) => -part.value(values), text: `-${wrapped(part, SIGN)}`, level: SIGN };
}

// From left to right, and written so: 1/2*x as (1/2)*x.
export function binary(sign, left, right) {
  const [level, apply] = OPERATIONS[sign],
    plain = level === SUM || (sign === "*" && left.sign !== "/");
  return {
    value: (values) => apply(left.value(values), right.value(values)),
    text: wrapped(left, plain ? level : level + 1) + sign + wrapped(right, level + 1),
    level,
    sign,
  };
}

export function raised(base, exponent) {
  return {
    value: (values) => base.value(values) ** exponent.value(values),
    text: `${wrapped(base, SINGLE)}^${wrapped(exponent, SINGLE)}`,
    level: POWER,
  };
}

// A function with its arguments.
export function applied(name, given) {
  const apply = FUNCTIONS[name][2];
  return single(
    (values) => apply(...given.map((one) => one.value(values))),
    `${name}(${given.map((one) => one.text).join(", ")})`,
  );
}
