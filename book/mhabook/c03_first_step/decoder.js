import { filled } from "livegrad/live/engine/models.js";
import { program } from "./program.js";

// The program of one head with W = 0 on these data.
export const headOn = ({ n, T, d, X, y }) => filled(program([n, T, d]), { X, y });

// Its decoder becomes zero, that of a first phase, or Gaussian of the same norm; `size` makes the last two longer.
export function decoder(head, kind, { stream, sign, size = 1 }) {
  filled(head, { U: stream, sign: [sign] });
  if (kind === "zero") head.U.fill(0);
  else head.call(kind);
  head.U.forEach((u, k) => (head.U[k] = size * u));
  return head.U;
}
