import { defaultRng } from "livegrad/live/engine/numpy_random.js";

// From draws and the values of the controls to {n, T, d, X, y, relevant}. A control n takes the first n samples, as a
// smaller draw of the same seed would have them.

export function arrays({ n: all, T, d, X, y, relevant }, { n = all }) {
  return {
    n,
    T,
    d,
    X: Float64Array.from(X.slice(0, n * T * d)),
    y: Float64Array.from(y.slice(0, n)),
    relevant: relevant && Uint8Array.from(relevant.slice(0, n * T)),
  };
}

// The draws of mhalib.data.mixture: of n samples of T tokens with M patterns, each of its own stream.
export function mixtureDraws({ n, T, d, M, stream }) {
  const [sign, order, pattern, normal] = [0, 1, 2, 3].map((kind) => defaultRng([...stream, kind]));
  const uniform = order.random(n * T);
  const rank = uniform.map((x, k) => {
    let below = 0;
    for (let j = k - (k % T), end = j + T; j < end; j++) if (uniform[j] < x) below++;
    return below;
  });
  return {
    n,
    T,
    d,
    rank,
    sign: sign.random(n).map((x) => (x < 0.5 ? -1 : 1)),
    pattern: pattern.integers(n * T, M),
    normal: normal.normals(n * T * d),
  };
}

// x_it = μ_{y_i} on the ζT tokens of lowest rank, ν_{j_it} + σ z_it on the others.
export function assembled({ n: all, T, d, sign, rank, pattern, normal, mu, nu }, { zeta, sigma, n = all }) {
  const X = new Float64Array(n * T * d);
  const relevant = Uint8Array.from(rank.slice(0, n * T), (r) => (r < Math.round(zeta * T) ? 1 : 0));
  for (let token = 0; token < n * T; token++)
    for (let a = 0; a < d; a++)
      X[token * d + a] = relevant[token]
        ? mu[(sign[Math.floor(token / T)] > 0 ? d : 0) + a]
        : nu[pattern[token] * d + a] + sigma * normal[token * d + a];
  return { n, T, d, X, y: Float64Array.from(sign.slice(0, n)), relevant };
}

const drawn = new WeakMap();

// The samples of a stream, which a page names instead of carrying them; they are drawn once.
export function mixture(told, values) {
  if (!drawn.has(told)) drawn.set(told, { ...told, ...mixtureDraws(told) });
  return assembled(drawn.get(told), values);
}
