import { AttentionLayer } from "mhabook/live/engine/layer.js";
import { mean } from "livegrad/live/engine/matrices.js";
import { defaultRng } from "livegrad/live/engine/numpy_random.js";
import { optimizers } from "livegrad/live/engine/optimizers.js";
import { liveFigure } from "livegrad/live/figure.js";

const ALL = "WQ WK WV WO";

// Sentences first … last of a seed: a token has a 1 for its word and a 1 for its place, and the label as its target.
function encoded({ words, length }, numbers, labels, first, last) {
  const N = last - first,
    D = words + length,
    X = new Float64Array(N * length * D),
    y = new Float64Array(N * length);
  for (let token = 0; token < N * length; token++) {
    X[token * D + numbers[first * length + token]] = 1;
    X[token * D + words + (token % length)] = 1;
    y[token] = labels[first + Math.floor(token / length)];
  }
  return { N, n: length, D, m: 1, X, y };
}

// What `AttentionLayer.random` draws from a seed.
function start(seed, { H, d }, { D }) {
  const inputs = 3 * H * D * d;
  return Float64Array.from(defaultRng([seed, 4]).normals(inputs + H * d), (z, k) =>
    k < inputs ? z / Math.sqrt(D) : z / Math.sqrt(d),
  );
}

// The share of test sentences whose label has the sign of the mean output: f of a token is its mixed tokens, head by
// head, times W^V W^O of the head.
function accuracy(layer, theta, { N, n, D, y }, { H, d }) {
  layer.forward(theta);
  const one = H * D * d,
    v = new Float64Array(H * D);
  for (let k = 0; k < H * D; k++) {
    const head = Math.floor(k / D);
    for (let j = 0; j < d; j++) v[k] += theta[2 * one + k * d + j] * theta[3 * one + head * d + j];
  }
  let right = 0;
  for (let i = 0; i < N; i++) {
    let sum = 0;
    for (let k = 0; k < n * H * D; k++) sum += layer.mixed[i * n * H * D + k] * v[k % (H * D)];
    right += sum * y[i * n] > 0;
  }
  return right / N;
}

// A part for every network and seed: its layer on the sentences that it learns from, another one on those of the test.
function partsOf(data, values) {
  const { seeds, other, texts, lr_first, lr_second, H, d } = values,
    { numbers, labels } = data.texts[texts],
    { trained } = data,
    again = other === "again";
  const networks = [
    { kernel: "softmax", lr: lr_first, later: 0 },
    {
      kernel: again ? "softmax" : other,
      lr: lr_second,
      later: again ? numbers.length : 0,
    },
  ];
  return networks.flatMap(({ kernel, lr, later }) =>
    Array.from({ length: seeds }, (_, seed) => {
      const of = (first, last) => encoded(data, numbers[seed], labels[seed], first, last);
      const [seen, fresh] = [of(0, trained), of(trained, labels[seed].length)];
      const model = (given) => new AttentionLayer(given, { H, d, kernel, moves: ALL });
      return {
        layer: model(seen),
        tested: () => model(fresh),
        fresh,
        begin: start(seed + later, values, seen),
        lr,
      };
    }),
  );
}

// Two networks from every seed, one after the other in θ; the second may be the first one from another start.
function networks(data, values) {
  const parts = partsOf(data, values);
  const { size } = parts[0].layer,
    part = (all, k) => all.subarray(k * size, (k + 1) * size),
    rules = parts.map(({ lr }) => optimizers.adam({ lr }, size));
  const losses = (compute) => mean(parts.map(({ layer }, k) => compute(layer, k)));
  return {
    size: parts.length * size,
    parts,
    forward: (theta) => losses((layer, k) => layer.forward(part(theta, k))),
    lossAndGrad: (theta, grad) => losses((layer, k) => layer.lossAndGrad(part(theta, k), part(grad, k))),
    step: (theta, grad, at) => rules.forEach((rule, k) => rule(part(theta, k), part(grad, k), at)),
    curves: { loss: ({ loss }) => loss },
    final: outcome(data, values, ({ theta }) =>
      parts.map(({ tested, fresh }, k) => accuracy(tested(), part(theta, k), fresh, values)),
    ),
  };
}

const INSIDE = "The interval contains zero, so this could be luck alone.";
const OUTSIDE = "The interval does not contain zero: more than luck, at these step sizes.";
const [CONTAINS, MISSES] = ["95 % interval: contains 0", "95 % interval: 0 is outside"];
const ROOMS = [0.1, 0.2, 0.4, 0.8];

// What is shown of the accuracies, seed by seed; they are computed once for a run.
function outcome({ quantiles }, { seeds, other }, accuracies) {
  const of = (compute) => (now) => compute((now.outcome ??= summary(quantiles, seeds, accuracies(now), other)));
  const names =
    "left right first second gaussian again pairs heights first_mean second_mean mean low high " +
    "count means around ends room interval verdict";
  return Object.fromEntries(names.split(" ").map((name) => [name, of((all) => all[name])]));
}

function summary(quantiles, seeds, all, other) {
  const first = all.slice(0, seeds),
    second = all.slice(seeds),
    apart = second.map((share, k) => share - first[k]),
    count = apart.slice(1).map((_, k) => k + 2);
  const means = count.map((k) => mean(apart.slice(0, k)));
  const halves = count.map((k, i) => {
    const squares = apart.slice(0, k).reduce((sum, x) => sum + (x - means[i]) ** 2, 0);
    return quantiles[k - 2] * Math.sqrt(squares / (k - 1) / k);
  });
  const lows = means.map((m, i) => m - halves[i]),
    highs = means.map((m, i) => m + halves[i]),
    [low, high] = [lows.at(-1), highs.at(-1)],
    inside = low <= 0 && 0 <= high,
    room = ROOMS.find((room) => Math.max(-low, high) <= 0.9 * room) ?? ROOMS.at(-1);
  return {
    left: first.map(() => 0),
    right: first.map(() => 1),
    first,
    second,
    gaussian: other !== "again",
    again: other === "again",
    pairs: first.flatMap(() => [0, 1, null]),
    heights: first.flatMap((share, k) => [share, second[k], null]),
    first_mean: mean(first),
    second_mean: mean(second),
    mean: means.at(-1),
    low,
    high,
    count,
    means,
    around: [...count, ...[...count].reverse()],
    ends: [...highs, ...[...lows].reverse()],
    room: [-room, room],
    interval: inside ? CONTAINS : MISSES,
    verdict: inside ? INSIDE : OUTSIDE,
  };
}

export default liveFigure({
  datasets: { sentences: (data) => data },
  starts: {
    networks: (_, { parts }) => Float64Array.from(parts.flatMap(({ begin }) => [...begin])),
  },
  models: { networks },
});
