import { assembled } from "mhalib/live/engine/data.js";
import { norm } from "livegrad/live/engine/matrices.js";
import { filled } from "livegrad/live/engine/models.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { liveFigure } from "livegrad/live/figure.js";
import { program } from "./program.js";

// Many heads in two equal groups, with what the training theorem says of the run.

// A mixture without noise, from patterns of norm 1.
function clean(carried, values) {
  const longer = (x) => x.map((entry) => values.S * entry),
    own = { ...carried, mu: longer(carried.mu), nu: longer(carried.nu) };
  const normal = new Float64Array(carried.n * carried.T * carried.d);
  return { ...own, ...assembled({ ...own, normal }, { ...values, sigma: 0 }) };
}

// H heads, half of them equal to (W_1, U_1) and half to (W_2, U_2).
function groups(data, values, context) {
  const { n, T, d, X, y, mu, nu } = data,
    { H, zeta, S, steps, lr, grid } = values,
    M = nu.length / d;
  const model = multihead(data, { H, groups: 2 }, context);
  const numbers = Object.entries({ H, zeta, S, steps, lr, patterns: M }).map(([name, number]) => [name, [number]]);
  const given = { X, y, minus: mu.slice(0, d), plus: mu.slice(d), nu, grid, ...Object.fromEntries(numbers) };
  const told = filled(program([n, T, d, M, grid.length]), given);
  told.call("theorem");

  const distance = (a, b) => Math.sqrt(model.copies) * norm(a.map((x, k) => x - b[k]));
  Object.assign(model.curves, {
    reference_loss: () => told.reference_loss[0],
    guarantee: ({ step }) => (told.k.fill(step), told.call("promise")),
    from_start: ({ theta, first }) => distance(theta, first),
    from_reference: ({ theta }) => distance(theta, told.reference),
    limit: () => told.limit[0],
  });
  const shown = (array) => (array.length > 1 ? [...array] : array[0]);
  model.final = Object.fromEntries(context.spec.final.map((name) => [name, () => shown(told[name])]));
  return Object.assign(model, { start: told.first });
}

export default liveFigure({
  datasets: { clean },
  starts: { first_phase: (start, model) => model.start.slice() },
  models: { groups },
});
