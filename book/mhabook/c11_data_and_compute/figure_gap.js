import { mean } from "livegrad/live/engine/matrices.js";
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
    const normals = (stream, kind) => defaultRng([...stream, kind]).normals(values.n * Math.max(...Object.keys(told.rotations)));
    drawn.set(
      told,
      told.streams.map((stream) => ({ tokens: normals(stream, 0), noise: normals(stream, 1), rotations: told.rotations })),
    );
  }
  return drawn.get(told).map((draw) => instance(draw, values));
}

// {loss, gap} at U = V = r I for whitened tokens z (n, d) with targets y: as `gradient_gap` of finite_data.py.
function measured(z, y, n, d, r) {
  const dU = new Float64Array(d * d), // of L_n
    dV = new Float64Array(d * d),
    fit = new Float64Array(d * d);
  const weights = new Float64Array(n),
    [m, residual, bent] = [0, 1, 2].map(() => new Float64Array(d));
  const along = (g, j) => {
    let sum = 0;
    for (let a = 0; a < d; a++) sum += g[a] * z[j * d + a];
    return sum;
  };
  let loss = 0;
  for (let i = 0; i < n; i++) {
    const query = z.subarray(i * d, i * d + d);
    let top = -Infinity,
      total = 0;
    for (let j = 0; j < n; j++) top = Math.max(top, (weights[j] = r * along(query, j)));
    for (let j = 0; j < n; j++) total += weights[j] = Math.exp(weights[j] - top);
    m.fill(0);
    for (let j = 0; j < n; j++) for (let a = 0; a < d; a++) m[a] += (weights[j] * z[j * d + a]) / total;
    for (let a = 0; a < d; a++) residual[a] = y[i * d + a] - r * m[a];
    // C g = Σ_j π_j z_j (z_j − m)·g with g = Uᵀ residual
    bent.fill(0);
    let offset = 0;
    for (let a = 0; a < d; a++) offset += residual[a] * m[a];
    for (let j = 0; j < n; j++) {
      const share = (r * weights[j] * (along(residual, j) - offset)) / total;
      for (let a = 0; a < d; a++) bent[a] += share * z[j * d + a];
    }
    for (let a = 0; a < d; a++) {
      loss += residual[a] ** 2 / (2 * n);
      for (let b = 0; b < d; b++) {
        dU[a * d + b] -= (residual[a] * m[b]) / n;
        dV[a * d + b] -= (query[a] * bent[b]) / n;
        fit[a * d + b] += (y[i * d + a] * query[b]) / n;
      }
    }
  }
  // The gradients of L̂ are E V and Eᵀ U, with E = U Vᵀ − N̂.
  let square = 0;
  for (let a = 0; a < d; a++)
    for (let b = 0; b < d; b++) {
      const E = (a === b ? r * r : 0) - fit[a * d + b];
      square += (dU[a * d + b] - r * E) ** 2 + (dV[b * d + a] - r * E) ** 2;
    }
  return { loss, gap: Math.sqrt(square) };
}

// Radius by radius, size by size, the mean gap; and the loss of all samples of the first draw.
function everywhere(all, { sizes, radii, d }) {
  const parts = sizes.map((n) =>
    all.map((data) => {
      const { x, y, whitening } = firstTokens(data, n);
      return { z: times(x, whitening.inverse, n, d, d), y, n };
    }),
  );
  return radii.map((r) => {
    const found = parts.map((draws) => draws.map(({ z, y, n }) => measured(z, y, n, d, r)));
    return { gaps: found.map((draws) => mean(draws.map(({ gap }) => gap))), loss: found.at(-1)[0].loss };
  });
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
