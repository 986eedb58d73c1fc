import { numbers, program } from "../programs/structured.js";
import { filled } from "livegrad/live/engine/models.js";
import { optimizers, ruleOf } from "livegrad/live/engine/optimizers.js";
import { applied, eigen, spectralNorm } from "./symmetric.js";

// --- structure-aware descent on A (d, d) and B (d, d), by the formulas of mhalib.optim.structured ---------------------

// The root R of a second moment, and its inverse.
export function whiteningOf(moment, d) {
  const parts = eigen(moment, d);
  return { R: applied(parts, (x) => Math.sqrt(x)), inverse: applied(parts, (x) => 1 / Math.sqrt(x)) };
}

// The formulas in the coordinates of a whitening.
export const coordinates = (whitening, d) => filled(program([d, d]), whitening);

const rule =
  (move) =>
  (values, { d, whitening }) =>
    ruleOf(coordinates(whitening, d), numbers, values, (arrays) => move(arrays, d));

// Each is a function of (the values, the data with their whitening and d), as mhalib's rules are told their data.
export const structured = {
  gd: ({ lr, share }, { d }) => optimizers.gd({ lr: share * lr }, 2 * d * d),
  preconditioned: rule((arrays) => arrays.call("preconditioned")),
  structure_aware: rule((arrays, d) => {
    arrays.call("whiten");
    arrays.u[0] = spectralNorm(arrays.U, d, d);
    arrays.v[0] = spectralNorm(arrays.V, d, d);
    arrays.call("move");
    arrays.v[0] = spectralNorm(arrays.V, d, d);
    arrays.call("renormalize");
  }),
};
