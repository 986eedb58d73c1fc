import { program } from "mhalib:program";
import { liveFigure } from "./figure.js";

// A figure of a reader's own model: `program` is what Python has printed of its formulas.

const given = ({ arrays }) =>
  Object.fromEntries(Object.entries(arrays).map(([name, numbers]) => [name, Float64Array.from(numbers)]));

// The program must give here what it gives in Python, at the start moved a little: the loss, a sum of the gradient, and
// the curves.
function check(model, { theta, check }) {
  const there = Float64Array.from(theta, (x, k) => x + check.by * Math.cos(k + 1)),
    grad = new Float64Array(model.size),
    loss = model.lossAndGrad(there, grad),
    sum = grad.reduce((all, g, k) => all + Math.cos(k + 1) * g, 0);
  const found = [loss, sum, ...Object.values(model.curves).map((curve) => curve({ theta: there, loss }))];
  const wanted = [check.wanted[0], check.wanted[1], check.wanted[0], ...check.wanted.slice(2)];
  if (!found.every((x, k) => Math.abs(x - wanted[k]) <= 1e-9 * Math.max(check.scale, Math.abs(wanted[k]))))
    throw new Error(`loss, gradient and curves are ${found.join(", ")} here and ${wanted.join(", ")} in Python.`);
}

const checked = new WeakSet(); // starts, of which a page has one: the program is the same at all values

function own(data, values, { start }) {
  if (!checked.has(start)) check(program(data, start.fixed), start);
  checked.add(start);
  return program(data, { ...start.fixed, ...values });
}

export default liveFigure({
  datasets: { given },
  starts: { given: ({ theta }) => Float64Array.from(theta) },
  models: { own },
});
