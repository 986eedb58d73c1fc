import { hex, program } from "livegrad:program";
import { liveFigure } from "./figure.js";
import { programOf } from "./programs.js";

// A figure of a reader's own model: `program` is what Python has printed of its formulas. It numbers the model's own
// numbers that have a slider, and the curves; what they are called is known here alone.

// JSON has no word for what is not finite: such a number comes as a text.
const doubles = (numbers) => Float64Array.from(numbers, Number);

const given = ({ arrays }) =>
  Object.fromEntries(Object.entries(arrays).map(([name, numbers]) => [name, doubles(numbers)]));

// The program where it can be compiled, and where not as JavaScript. It is made for the number of samples.
const [compiled, plain] = [hex && programOf(hex, () => null), program];

// The model of a program: θ is one vector, as are its derivatives; `moved` are values of the model's own numbers. They
// are written at every call, because two runs may take turns.
function modelOf(made, moved) {
  const call = (entry, theta) => {
    made.theta.set(theta);
    moved.forEach((value, k) => (made[`set_${k}`][0] = value));
    return made.call(entry);
  };
  return {
    size: made.theta.length,
    forward: (theta) => call("forward", theta),
    lossAndGrad(theta, grad) {
      const loss = call("gradient", theta);
      grad.set(made.slope);
      return loss;
    },
    curve:
      (k) =>
      ({ theta }) =>
        call(`curve${k}`, theta),
  };
}

// The program must give here what it gives in Python, at the start moved a little: the loss, a sum of the gradient, and
// the curves.
function differs(made, { theta, check, fixed }, curves) {
  const model = modelOf(made, fixed),
    there = doubles(theta).map((x, k) => x + check.by * Math.cos(k + 1)),
    grad = new Float64Array(model.size),
    loss = model.lossAndGrad(there, grad),
    sum = grad.reduce((all, g, k) => all + Math.cos(k + 1) * g, 0);
  const found = [loss, sum, ...curves.map((_, k) => model.curve(k)({ theta: there }))],
    { scale, wanted } = check,
    right = found.every((x, k) => Math.abs(x - wanted[k]) <= 1e-9 * Math.max(scale, Math.abs(wanted[k])));
  return right ? null : `loss, gradient and curves are ${found.join(", ")} here and ${wanted.join(", ")} in Python.`;
}

const programs = new WeakMap(); // of starts, of which a page has one: the program is the same at all values

function programFor(data, start, curves) {
  let reason = null;
  for (const make of [compiled, plain]) {
    const made = make && make(start.sizes);
    if (!made) continue;
    for (const [name, values] of Object.entries(data)) made[name].set(values);
    made.loaded();
    reason = differs(made, start, curves);
    if (!reason) return made;
  }
  throw new Error(reason);
}

function own(data, values, { start, spec }) {
  const [, ...names] = spec.curves; // the first is the loss
  if (!programs.has(start)) programs.set(start, programFor(data, start, names));
  const model = modelOf(
      programs.get(start),
      start.moved.map((name) => values[name]),
    ),
    curves = Object.fromEntries(names.map((name, k) => [name, model.curve(k)]));
  return { ...model, curves: { ...curves, loss: ({ loss }) => loss }, final: {} };
}

export default liveFigure({
  datasets: { given },
  starts: { given: ({ theta }) => doubles(theta) },
  models: { own },
});
