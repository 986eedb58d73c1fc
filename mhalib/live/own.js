import { program } from "mhalib:program";
import { liveFigure } from "./figure.js";

// A figure of a reader's own model: `program` is what Python has printed of its formulas. It numbers the model's own
// numbers that have a slider, and the curves; what they are called is known here alone.

// JSON has no word for what is not finite: such a number comes as a text.
const doubles = (numbers) => Float64Array.from(numbers, Number);

const given = ({ arrays }) =>
  Object.fromEntries(Object.entries(arrays).map(([name, numbers]) => [name, doubles(numbers)]));

// The program must give here what it gives in Python, at the start moved a little: the loss, a sum of the gradient, and
// the curves.
function check(model, { theta, check }) {
  const there = doubles(theta).map((x, k) => x + check.by * Math.cos(k + 1)),
    grad = new Float64Array(model.size),
    loss = model.lossAndGrad(there, grad),
    sum = grad.reduce((all, g, k) => all + Math.cos(k + 1) * g, 0);
  const found = [loss, sum, ...model.curves.map((curve) => curve({ theta: there }))],
    { scale, wanted } = check;
  if (!found.every((x, k) => Math.abs(x - wanted[k]) <= 1e-9 * Math.max(scale, Math.abs(wanted[k]))))
    throw new Error(`loss, gradient and curves are ${found.join(", ")} here and ${wanted.join(", ")} in Python.`);
}

const checked = new WeakSet(); // starts, of which a page has one: the program is the same at all values

function own(data, values, { start, spec }) {
  if (!checked.has(start)) check(program(data, start.fixed), start);
  checked.add(start);
  const model = program(
      data,
      start.moved.map((name) => values[name]),
    ),
    [, ...names] = spec.curves, // the first is the loss
    curves = Object.fromEntries(names.map((name, k) => [name, model.curves[k]]));
  return { ...model, curves: { ...curves, loss: ({ loss }) => loss }, final: {} };
}

export default liveFigure({
  datasets: { given },
  starts: { given: ({ theta }) => doubles(theta) },
  models: { own },
});
