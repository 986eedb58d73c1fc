import { assembled, mixtureDraws } from "mhalib/live/engine/data.js";
import { norm } from "livegrad/live/engine/matrices.js";
import { kept } from "livegrad/live/engine/models.js";
import { liveFigure } from "livegrad/live/figure.js";
import { decoder, headOn } from "./decoder.js";
import { maxMargin, separator } from "./margin.js";

// What the gradients of one head can tell apart at a start: its samples in the plane of the best direction.

const drawn = new WeakMap(),
  curvesFor = kept();

// The samples of a stream for any share, norm and noise; `at` gives the same samples at another noise.
function samples(told, { zeta, S, sigma, labels }) {
  if (!drawn.has(told)) drawn.set(told, mixtureDraws(told));
  const longer = (patterns) => patterns.map((x) => S * x),
    own = { ...told, ...drawn.get(told), mu: longer(told.mu), nu: longer(told.nu) };
  const at = (noise) => assembled(own, { zeta, sigma: noise });
  return { ...at(sigma), at, order: told.order, over: curvesFor(told, [zeta, S, labels]) };
}

const LEAST = 1e-6; // a margin below is none
const ROOM = 1.2; // the drawn circle over the farthest sample
const KINDS = ["zero", "gaussian", "first"];

// The direction that separates best; where there is none, that of the mean.
function direction(signed, n) {
  const { normal, margin } = separator(signed, n);
  if (margin > LEAST) return { normal, margin };
  const mean = new Float64Array(normal.length);
  signed.forEach((x, k) => (mean[k % mean.length] += x / n));
  return { normal: mean, margin: 0 };
}

// y_i times each row, along a part of the direction: (n,).
function along(signed, y, part) {
  const length = norm(part) || 1,
    p = part.length;
  return Array.from(y, (label, i) => {
    let sum = 0;
    for (let a = 0; a < p; a++) sum += signed[i * p + a] * part[a];
    return (label * sum) / length;
  });
}

// The samples as points (U, W), with their margin, the parts of the direction, and the largest distance from the origin.
function points(head, d) {
  const { normal, margin } = direction(head.both, head.y.length),
    parts = [normal.subarray(d * d), normal.subarray(0, d * d)];
  const [U, W] = [head.only_U, head.only_W].map((signed, k) => along(signed, head.y, parts[k]));
  const [across, up] = parts.map((part) => norm(part) / norm(normal));
  return { U, W, across, up, margin, reach: Math.max(...U.map((x, i) => Math.hypot(x, W[i]))) };
}

// The samples of each label, and the lines on which the logit changes by −γ, 0 and γ, to the circle of radius `reach`.
function plane(head, { U, W, across, up, margin }, reach) {
  const side = (points, sign) => points.filter((_, i) => head.y[i] === sign);
  const line = (level, to, from) => {
    const half = Math.sqrt(Math.max(reach ** 2 - level ** 2, 0));
    return [level * to - half * from, level * to + half * from];
  };
  const found = {
    plus_U: side(U, 1),
    plus_W: side(W, 1),
    minus_U: side(U, -1),
    minus_W: side(W, -1),
    margin,
    reach: [-reach, reach],
  };
  for (const [name, level] of [
    ["below", -margin],
    ["border", 0],
    ["above", margin],
  ]) {
    found[`${name}_U`] = line(level, across, -up);
    found[`${name}_W`] = line(level, up, across);
  }
  return found;
}

// The step is taken with the labels of the data; afterwards they may be shuffled.
function labelled({ y, order }, { labels }, start) {
  const shown = labels === "shuffled" ? order.map((i) => y[i]) : y;
  const features = (head) => {
    head.y.set(shown);
    return head.call("features");
  };
  const modelled = (head, kind) => {
    head.y.set(y);
    decoder(head, kind, start);
    features(head);
    return head;
  };
  return { features, modelled };
}

function oneStep(data, values, { start }) {
  const { n, T, d, at, over } = data,
    [head, other] = [headOn(data), headOn(data)],
    { features, modelled } = labelled(data, values, start);
  const forward = (U) => {
    head.U.set(U);
    return features(head);
  };
  // The three models are drawn at one scale, so that their bands can be compared.
  let known = null;
  const shown = () => {
    if (known) return known;
    const all = KINDS.map((kind) => points(modelled(other, kind), d)),
      reach = ROOM * Math.max(...all.map((of) => of.reach));
    return (known = plane(head, all[KINDS.indexOf(values.initialization)], reach));
  };
  let others = null;
  const overNoise = (kind) => () => {
    others ??= values.grid.map((noise) => headOn(at(noise)));
    return (over[kind] ??= others.map((other) => maxMargin(modelled(other, kind).both, n)));
  };
  const curves = {
    loss: (now) => now.loss,
    margin_U: () => maxMargin(head.only_U, n),
    margin_W: () => maxMargin(head.only_W, n),
    margin: () => shown().margin,
  };
  const names = ["plus", "minus", "below", "border", "above"].flatMap((name) => [`${name}_U`, `${name}_W`]);
  const final = {
    ...Object.fromEntries(names.map((name) => [name, () => shown()[name]])),
    ...Object.fromEntries(KINDS.map((kind) => [`over_${kind}`, overNoise(kind)])),
    reach: () => shown().reach,
    here: () => [values.sigma],
    here_margin: () => [shown().margin],
  };
  const lossAndGrad = (U, grad) => (grad.fill(0), forward(U));
  return { size: T * d, heads: 1, T, d, head, forward, lossAndGrad, curves, final };
}

export default liveFigure({
  datasets: { step: samples },
  starts: { decoder: (start, { head }, { initialization }) => decoder(head, initialization, start).slice() },
  models: { step: oneStep },
});
