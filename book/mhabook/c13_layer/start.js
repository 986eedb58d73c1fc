import { singularValues } from "mhabook/live/engine/singular.js";

// A layer at its start, and what the theorem on the values says of it.

// W^Q, W^K, W^V, W^O are drawn one after the other from one stream; tied: W^K = W^Q.
export function layerStart({ stream }, { H, d, scale, tied }, { D, m }) {
  const all = H * D * d,
    theta = Float64Array.from(stream.slice(0, 3 * all + H * d * m));
  for (let k = 0; k < 3 * all; k++) theta[k] *= scale / Math.sqrt(D);
  for (let k = 3 * all; k < theta.length; k++) theta[k] /= Math.sqrt(d);
  if (tied) theta.copyWithin(all, 0, all);
  return theta;
}

// What the theorem on the values says of a start: singular values of B, rate α, curvature L.
export function valueConstants(layer, theta, { N, n, D, m }, { H, d }) {
  const T = N * n,
    out = theta.length - H * d * m;
  layer.forward(theta);
  const spectrum = singularValues(layer.mixed.slice(), T, H * D),
    least = T > H * D ? 0 : spectrum[T - 1];
  const outputs = Array.from({ length: H }, (_, h) => theta.slice(out + h * d * m, out + (h + 1) * d * m));
  const smallest = Math.min(...outputs.map((W) => (m > d ? 0 : singularValues(W, d, m)[m - 1])));
  const largest = Math.max(...outputs.map((W) => singularValues(W, d, m)[0]));
  return { spectrum, least, alpha: (smallest * least) ** 2 / N, L: (largest * spectrum[0]) ** 2 / N };
}
