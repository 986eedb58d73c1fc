import { asking, filled } from "livegrad/live/engine/models.js";
import { program } from "./program.js";

// The alignment of a multi-head model with a planted head, in "W" or in "U": functions of {theta}.
export const alignment = ({ T, d, heads }, planted) =>
  asking(() => filled(program([heads, d, T]), { plantedW: planted.W, plantedU: planted.U }));

// The alignment in W of each head alone, also of those that are computed as copies of one.
export function cosines({ T, d, H, heads, head }, planted) {
  const alone = alignment({ T, d, heads: 1 }, planted)("W");
  const of = (theta, h) => alone({ theta: theta.subarray(h * head, (h + 1) * head) });
  return ({ theta }) => Array.from({ length: H }, (_, h) => of(theta, h % heads));
}
