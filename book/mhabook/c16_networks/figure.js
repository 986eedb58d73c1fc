import { AttentionLayer } from "mhabook/live/engine/layer.js";
import { mean } from "livegrad/live/engine/matrices.js";
import { filled, kept } from "livegrad/live/engine/models.js";
import { defaultRng } from "livegrad/live/engine/numpy_random.js";
import { optimizers } from "livegrad/live/engine/optimizers.js";
import { zeros } from "mhalib/live/engine/starts.js";
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

// The share of sentences whose label has the sign of the mean output: f of a token is its mixed tokens, head by head,
// times W^V W^O of the head.
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

// A network of one kernel, and the sentences of one seed that it is trained and tested on.
class Network {
  constructor(data, { numbers, labels }, seed, kernel, { H, d }) {
    const of = (first, last) => encoded(data, numbers[seed], labels[seed], first, last),
      values = { H, d, kernel, moves: ALL };
    this.seen = of(0, data.trained);
    this.layer = new AttentionLayer(this.seen, values);
    this.accuracy = (theta) => {
      const fresh = of(data.trained, labels[seed].length);
      return accuracy(tester(data, fresh, values), theta, fresh, values);
    };
  }
}

// A layer is dear to make: all networks of a kernel are tested by one.
const testers = {};
function tester(data, fresh, values) {
  const { N, X, y } = fresh,
    known = (testers[values.kernel] ??= kept())(data, { ...values, N });
  if (known.layer) filled(known.layer.program, { X, y });
  return (known.layer ??= new AttentionLayer(fresh, values));
}

// The run of one network, as far as it has been asked for: the loss, and the accuracy on test sentences, after each step.
class Training {
  constructor(network, theta, lr, steps) {
    const { size } = network.layer;
    Object.assign(this, { network, size, right: {} });
    this.thetas = new Float64Array((steps + 1) * size);
    this.thetas.set(theta);
    this.grad = new Float64Array(size);
    this.losses = [network.layer.lossAndGrad(theta, this.grad)];
    this.rule = optimizers.adam({ lr }, size);
  }

  theta(step) {
    return this.thetas.subarray(step * this.size, (step + 1) * this.size);
  }

  loss(step) {
    while (this.losses.length <= step) {
      const at = this.losses.length,
        theta = this.theta(at);
      theta.set(this.theta(at - 1));
      this.rule(theta, this.grad, at - 1);
      this.losses.push(this.network.layer.lossAndGrad(theta, this.grad));
    }
    return this.losses[step];
  }

  accuracy(step) {
    return (this.right[step] ??= this.network.accuracy(this.theta(step)));
  }
}

// Two networks from every seed; the second may be the first one from another start. The last network and the last training
// of each seed are kept: a control may move one of the networks, or add a seed.
const keep = { first: [], second: [] };
function trainingsOf(data, values, steps) {
  const { seeds, other, texts, lr_first, lr_second, H, d } = values,
    drawn = data.texts[texts],
    again = other === "again";
  const first = { kernel: "softmax", lr: lr_first, later: 0 },
    later = again ? drawn.numbers.length : 0,
    second = { kernel: again ? "softmax" : other, lr: lr_second, later };
  return Object.entries({ first, second }).flatMap(([place, { kernel, lr, later }]) =>
    Array.from({ length: seeds }, (_, seed) => {
      const known = (keep[place][seed] ??= kept())(data, { kernel, texts, H, d, steps });
      known.network ??= new Network(data, drawn, seed, kernel, values);
      if (known.lr !== lr || known.later !== later) {
        const theta = start(seed + later, values, known.network.seen);
        Object.assign(known, { lr, later, training: new Training(known.network, theta, lr, steps) });
      }
      return known.training;
    }),
  );
}

// θ is the number of steps that all have taken.
function networks(data, values, { spec }) {
  const all = trainingsOf(data, values, Math.max(...spec.record)),
    loss = (theta) => mean(all.map((one) => one.loss(theta[0])));
  return {
    size: 1,
    forward: loss,
    lossAndGrad: (theta, grad) => (grad.fill(0), loss(theta)),
    step: (theta, grad, at) => theta.fill(at + 1),
    curves: { loss: (now) => now.loss },
    final: outcome(data, values, ({ theta }) => all.map((one) => one.accuracy(theta[0]))),
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
    room = ROOMS.find((room) => Math.max(-low, high) <= 0.9 * room) ?? ROOMS.at(-1),
    wide = count.slice(0, -1).findLastIndex((_, i) => Math.max(-lows[i], highs[i]) > room),
    fits = (numbers) => numbers.slice(wide + 1); // from there on no interval leaves the panel
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
    around: [...fits(count), ...fits(count).reverse()],
    ends: [...fits(highs), ...fits(lows).reverse()],
    room: [-room, room],
    interval: inside ? CONTAINS : MISSES,
    verdict: inside ? INSIDE : OUTSIDE,
  };
}

export default liveFigure({
  datasets: { sentences: (data) => data },
  starts: { networks: zeros },
  models: { networks },
});
