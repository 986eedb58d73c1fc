import { program } from "mhalib:program";
import { liveFigure } from "./figure.js";

// A figure of a reader's own model: `program` is what Python has printed of its formulas.

const given = ({ arrays }) =>
  Object.fromEntries(Object.entries(arrays).map(([name, numbers]) => [name, Float64Array.from(numbers)]));

// The program must give here what it gives in Python, at the start moved a little: the loss, and a sum of the gradient.
function check(model, { theta, check }) {
  const there = Float64Array.from(theta, (x, k) => x + check.by * Math.cos(k + 1)),
    grad = new Float64Array(model.size);
  const found = [model.lossAndGrad(there, grad), grad.reduce((sum, g, k) => sum + Math.cos(k + 1) * g, 0)];
  const same = (x, wanted) => Math.abs(x - wanted) <= 1e-9 * check.scale;
  if (!found.every((x, k) => same(x, check.wanted[k])))
    throw new Error(`the loss and gradient are ${found.join(", ")} here and ${check.wanted.join(", ")} in Python.`);
}

function own(data, values, { start }) {
  check(program(data, start.fixed), start);
  return program(data, { ...start.fixed, ...values });
}

export default liveFigure({
  datasets: { given },
  starts: { given: ({ theta }) => Float64Array.from(theta) },
  models: { own },
});
