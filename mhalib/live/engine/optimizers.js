import { numbers, program } from "../programs/rules.js";

// --- update rules, by the formulas of mhalib.optim.rules: θ changes in place ------------------------------------------

// The step size of step k, for a number or a function of the step.
export const rate = (lr, k) => (typeof lr === "function" ? lr(k) : lr);

const rule = (name) => (values, size) => {
  const arrays = program([size]);
  for (const [key, number] of Object.entries(numbers)) arrays[key][0] = values[key] ?? number;
  return (theta, grad, k) => {
    arrays.theta.set(theta);
    arrays.grad.set(grad);
    arrays.lr[0] = rate(values.lr, k);
    arrays.k[0] = k;
    arrays.call(name);
    theta.set(arrays.theta);
  };
};

export const optimizers = Object.fromEntries(["gd", "momentum", "adam", "adamw"].map((name) => [name, rule(name)]));
