import { assembled } from "mhalib/live/engine/data.js";
import { filled, kept } from "livegrad/live/engine/models.js";
import { liveFigure } from "livegrad/live/figure.js";
import { decoder, headOn } from "./decoder.js";
import { maxMargin } from "./margin.js";

// Realizability: the maximum margin of the logit's gradients at a start.

const curvesFor = kept();

// The carried numbers are those of S = 1, with the patterns of each M. `at` gives the same samples at another noise;
// with `mirror` the first half of the samples, and each again with the other label.
function realizable(carried, values) {
  const { mirror, S, M, zeta } = values,
    { mu, nu, pattern, square } = carried.patterns[M],
    { n: all, T, d } = carried;
  const longer = (x) => x.map((entry) => S * entry);
  const own = { ...carried, mu: longer(mu), nu: longer(nu), pattern };

  function at(sigma) {
    const { X, y, relevant } = assembled(own, { zeta, sigma, n: mirror ? all / 2 : all });
    if (!mirror) return { n: all, T, d, X, y, relevant };
    const other = assembled({ ...own, sign: carried.sign.map((s) => -s) }, { zeta, sigma, n: all / 2 });
    const both = (a, b) => Float64Array.from([...a, ...b]);
    return { n: all, T, d, X: both(X, other.X), y: both(y, other.y), relevant };
  }
  return { ...at(values.sigma), at, square: square[zeta], over: curvesFor(carried, [zeta, S, M, mirror]) };
}

// The margin of a head's features in U, in W, or in both.
const margin = (head, kind) => maxMargin(head[kind], head.y.length);

// The same in both over the noise, for starts of a kind.
const overNoise = (heads, over, kind, start) => () =>
  (over[kind] ??= heads().map((head) => {
    decoder(head, kind, start);
    head.call("features");
    return margin(head, "both");
  }));

// No training: the loss and the margins at the start, and the closed forms beside them.
function realizability(data, values, { start }) {
  const { T, d, square, at, over } = data,
    { zeta, S, M, sigma, grid } = values,
    head = headOn(data);
  let known = null,
    others = null;
  const heads = () => (others ??= grid.map((noise) => headOn(at(noise))));
  filled(head, { zeta: [zeta], S: [S], patterns: [M], square: [square] }).call("closed");
  const forward = (U) => {
    head.U.set(U);
    return head.call("features");
  };
  const margins = (k) => (known ??= ["only_U", "only_W", "both"].map((kind) => margin(head, kind)))[k];
  const curves = {
    loss: (now) => now.loss,
    margin_U: () => margins(0),
    margin_W: () => margins(1),
    margin: () => margins(2),
  };
  const final = {
    bar_U: () => [0, margins(0)],
    bar_W: () => [0, margins(1)],
    bar_both: () => [0, margins(2)],
    closed: () => [...head.closed],
    gamma: () => head.closed[2],
    exact: () => [...head.exact],
    gamma_star: () => head.exact[2],
    ...Object.fromEntries(
      ["zero", "gaussian", "first"].map((kind) => [`over_${kind}`, overNoise(heads, over, kind, start)]),
    ),
    here: () => [sigma],
    here_margin: () => [margins(2)],
  };
  const lossAndGrad = (U, grad) => (grad.fill(0), forward(U));
  return { size: T * d, heads: 1, T, d, head, forward, lossAndGrad, curves, final };
}

export default liveFigure({
  datasets: { realizability: realizable },
  starts: { decoder: (start, { head }, { initialization }) => decoder(head, initialization, start).slice() },
  models: { realizability },
});
