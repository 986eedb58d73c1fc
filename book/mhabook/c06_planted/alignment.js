import { dot, norm } from "mhalib/live/engine/matrices.js";

// The cosine of (W_1, …, W_H) with W* repeated H times, and the same for U; 0 where nothing has moved. Copies of a head
// change neither.
function cosine({ heads, head }, theta, from, planted) {
  let inner = 0,
    size = 0;
  for (let h = 0; h < heads; h++) {
    const part = theta.subarray(h * head + from, h * head + from + planted.length);
    inner += dot(part, planted);
    size += dot(part, part);
  }
  return size === 0 ? 0 : inner / (Math.sqrt(heads * size) * norm(planted));
}

export const alignW =
  (model, { W }) =>
  ({ theta }) =>
    cosine(model, theta, 0, W);
export const alignU =
  (model, { W, U }) =>
  ({ theta }) =>
    cosine(model, theta, W.length, U);
