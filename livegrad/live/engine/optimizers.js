import { numbers, program } from "../programs/rules.js";

// --- update rules, by the formulas of livegrad.optim.rules: θ changes in place ------------------------------------------

// The step size of step k, for a number or a function of the step.
export const rate = (lr, k) => (typeof lr === "function" ? lr(k) : lr);

// A step is `move`, with θ, its gradient, and the number and the size of the step in the arrays of a program.
export function ruleOf(arrays, numbers, values, move) {
  for (const [key, number] of Object.entries(numbers)) arrays[key][0] = values[key] ?? number;
  return (theta, grad, k) => {
    arrays.theta.set(theta);
    arrays.grad.set(grad);
    arrays.lr[0] = rate(values.lr, k);
    arrays.k[0] = k;
    move(arrays);
    theta.set(arrays.theta);
  };
}

const rule = (name) => (values, size) => ruleOf(program([size]), numbers, values, (arrays) => arrays.call(name));

export const optimizers = Object.fromEntries(["gd", "momentum", "adam", "adamw"].map((name) => [name, rule(name)]));
