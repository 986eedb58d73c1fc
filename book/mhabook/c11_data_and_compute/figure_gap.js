import { mean, productWithTransposed } from "livegrad/live/engine/matrices.js";
import { defaultRng } from "livegrad/live/engine/numpy_random.js";
import { liveFigure } from "livegrad/live/figure.js";
import { firstTokens, instance } from "mhabook/live/engine/regression.js";
import { times } from "mhabook/live/engine/symmetric.js";

// The gap of gradients at U = V = r I, for all sizes and radii at once: they depend on d alone.

const drawn = new WeakMap(),
  known = new WeakMap();

// Tokens and noise of every d are the first numbers of the streams.
function draws(told, values) {
  if (!drawn.has(told)) {
    const normals = (stream, kind) =>
      defaultRng([...stream, kind]).normals(values.n * Math.max(...Object.keys(told.rotations)));
    drawn.set(
      told,
      told.streams.map((stream) => ({
        tokens: normals(stream, 0),
        noise: normals(stream, 1),
        rotations: told.rotations,
      })),
    );
  }
  return drawn.get(told).map((draw) => instance(draw, values));
}

// Adds to the loss and the gradients at U = V = r I what a query adds, given its scores at r = 1 and their maximum.
function addQuery({ z, y, n }, d, i, r, { scores, top, weights }, slope) {
  const [m, residual, bent] = [0, 1, 2].map(() => new Float64Array(d));
  let total = 0,
    offset = 0;
  for (let j = 0, at = 0; j < n; j++) {
    const weight = Math.exp(r * (scores[j] - top));
    total += weights[j] = weight;
    for (let a = 0; a < d; a++) m[a] += weight * z[at++];
  }
  for (let a = 0; a < d; a++) {
    m[a] /= total;
    residual[a] = y[i * d + a] - r * m[a];
    offset += residual[a] * m[a];
  }
  // C g = Σ_j π_j z_j (z_j − m)·g with g = Uᵀ residual
  for (let j = 0, at = 0; j < n; j++, at += d) {
    let along = -offset;
    for (let a = 0; a < d; a++) along += residual[a] * z[at + a];
    along *= weights[j];
    for (let a = 0; a < d; a++) bent[a] += along * z[at + a];
  }
  for (let a = 0; a < d; a++) {
    slope.loss += residual[a] ** 2 / (2 * n);
    for (let b = 0; b < d; b++) {
      slope.dU[a * d + b] -= (residual[a] * m[b]) / n;
      slope.dV[a * d + b] -= (r * z[i * d + a] * bent[b]) / (n * total);
    }
  }
}

// {loss, gap} for each r at U = V = r I, for whitened tokens z (n, d) with targets y: as `gradient_gap` of finite_data.py.
function measured(tokens, d, radii) {
  const { z, y, n } = tokens,
    [scores, weights] = [0, 1].map(() => new Float64Array(n)),
    fit = new Float64Array(d * d);
  const slopes = radii.map(() => ({ loss: 0, dU: new Float64Array(d * d), dV: new Float64Array(d * d) }));
  for (let i = 0; i < n; i++) {
    productWithTransposed(z, i * d, z, 0, 1, d, n, scores, 0);
    const top = scores.reduce((most, score) => Math.max(most, score), -Infinity);
    radii.forEach((r, k) => addQuery(tokens, d, i, r, { scores, top, weights }, slopes[k]));
    for (let k = 0; k < d * d; k++) fit[k] += (y[i * d + Math.floor(k / d)] * z[i * d + (k % d)]) / n;
  }
  return slopes.map(({ loss, dU, dV }, k) => ({ loss, gap: distance(dU, dV, fit, radii[k], d) }));
}

// Of the gradients from those of L̂, which are E V and Eᵀ U with E = U Vᵀ − N̂.
function distance(dU, dV, fit, r, d) {
  let square = 0;
  for (let a = 0; a < d; a++)
    for (let b = 0; b < d; b++) {
      const E = (a === b ? r * r : 0) - fit[a * d + b];
      square += (dU[a * d + b] - r * E) ** 2 + (dV[b * d + a] - r * E) ** 2;
    }
  return Math.sqrt(square);
}

// Radius by radius, size by size, the mean gap; and the loss of all samples of the first draw.
function everywhere(all, { sizes, radii, d }) {
  const found = sizes.map((n) =>
    all.map((data) => {
      const { x, y, whitening } = firstTokens(data, n);
      return measured({ z: times(x, whitening.inverse, n, d, d), y, n }, d, radii);
    }),
  );
  return radii.map((_, k) => ({
    gaps: found.map((draws) => mean(draws.map((each) => each[k].gap))),
    loss: found.at(-1)[0][k].loss,
  }));
}

// The slope of the line that is nearest in the logarithms.
function power(sizes, gaps) {
  const [across, up] = [sizes, gaps].map((numbers) => {
    const logs = numbers.map(Math.log);
    return logs.map((x) => x - mean(logs));
  });
  return across.reduce((sum, x, k) => sum + x * up[k], 0) / across.reduce((sum, x) => sum + x * x, 0);
}

function data(told, values) {
  if (!known.has(told)) known.set(told, {});
  return (known.get(told)[values.d] ??= everywhere(draws(told, values), values));
}

function gap(found, { sizes, radii, r }) {
  const { gaps, loss } = found[radii.indexOf(r)],
    powers = found.map(({ gaps }) => power(sizes, gaps)),
    own = powers[radii.indexOf(r)];
  return {
    size: 0,
    forward: () => loss,
    lossAndGrad: () => loss,
    curves: { loss: () => loss, first: () => gaps[0], last: () => gaps.at(-1), power: () => own },
    final: {
      gaps: () => gaps,
      half: () => sizes.map((n) => gaps.at(-1) * Math.sqrt(sizes.at(-1) / n)),
      powers: () => powers,
      here: () => [r],
      here_power: () => [own],
    },
  };
}

export default liveFigure({ datasets: { gap: data }, starts: { point: () => new Float64Array(0) }, models: { gap } });
