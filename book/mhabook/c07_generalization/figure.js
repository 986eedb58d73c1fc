import { constantsOf } from "mhabook/c02_curvature/constants.js";
import { mixture } from "mhalib/live/engine/data.js";
import { norm } from "livegrad/live/engine/matrices.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";

// Generalization: a run and the run without one of its samples, side by side.

// The mixture, of which the first `samples` are trained on; a control n would cut the test set too.
const sampled = (carried, values) => mixture(carried, { ...values, n: values.samples });

// The samples that are kept, as data of their own.
function partOf({ n, T, d, X, y }, keep) {
  const rows = Array.from({ length: n }, (_, i) => i).filter(keep);
  const take = (array, size) => Float64Array.from(rows.flatMap((i) => [...array.subarray(i * size, (i + 1) * size)]));
  return { n: rows.length, T, d, X: take(X, T * d), y: take(y, 1), relevant: null };
}

// θ of the run on all samples, θ′ of the run without sample `left`, and three sums over the steps: of η G L, η G ℓ/n and
// η ‖∇ℓ‖/n. Gradient descent keeps them by itself: a parameter s with the derivative −a moves by η a.
class LeaveOneOut {
  constructor(data, values, context) {
    const { left, H } = values,
      of = (keep) => multihead(partOf(data, keep), values, context);
    this.whole = multihead(data, values, context);
    [this.rest, this.one] = [of((i) => i !== left), of((i) => i === left)];
    this.G = constantsOf(this.whole)("gradient");
    const { size, heads, T, d } = this.whole;
    Object.assign(this, { n: data.n, T, d, heads, each: size, size: 2 * size + 3, copies: H / heads });
    this.unused = new Float64Array(size);
    this.curves = {
      ...curvesOf(this),
      ...heldOut(multihead(freshOf(context.spec, values), values, context), this.each),
    };
    this.final = {};
  }

  first(theta) {
    return theta.subarray(0, this.each);
  }

  second(theta) {
    return theta.subarray(this.each, 2 * this.each);
  }

  forward(theta) {
    return this.whole.forward(this.first(theta));
  }

  lossAndGrad(theta, grad) {
    const { n, each, whole, rest, one, copies, unused } = this,
      loss = whole.lossAndGrad(this.first(theta), this.first(grad));
    const G = this.G({ theta: this.first(theta) }),
      without = this.second(grad);
    rest.lossAndGrad(this.second(theta), without);
    for (let k = 0; k < each; k++) without[k] *= (n - 1) / n;
    const own = one.lossAndGrad(this.first(theta), unused);
    grad[2 * each] = -G * loss;
    grad[2 * each + 1] = (-G * own) / n;
    grad[2 * each + 2] = (-Math.sqrt(copies) * norm(unused)) / n;
    return loss;
  }
}

function curvesOf(model) {
  const { whole, one, n, each, copies } = model,
    traveled = ({ theta }) => Math.sqrt(copies) * norm(model.first(theta)); // from zero
  return {
    loss: (now) => now.loss,
    accuracy: (now) => whole.curves.accuracy({ ...now, theta: model.first(now.theta) }),
    gap_bound: ({ theta }) => (3 / n) * model.G({ theta: model.first(theta) }) * theta[2 * each],
    traveled,
    tenth: (now) => traveled(now) / 10,
    distance: ({ theta }) => {
      const other = model.second(theta);
      return Math.sqrt(copies) * norm(model.first(theta).map((x, k) => x - other[k]));
    },
    distance_bound: ({ theta }) => 1.5 * theta[2 * each + 1],
    pushed: ({ theta }) => theta[2 * each + 2],
    own_loss: ({ theta }) => one.forward(model.first(theta)),
    left_loss: ({ theta }) => one.forward(model.second(theta)),
  };
}

const freshOf = ({ test }, values) => mixture(test, values);

// L_test(θ), and L_test(θ) − L(θ).
function heldOut(fresh, size) {
  const loss = (now) => (now.heldOut ??= fresh.forward(now.theta.subarray(0, size)));
  return { held_out_loss: loss, gap: (now) => loss(now) - now.loss };
}

export default liveFigure({
  datasets: { sampled, mixture },
  starts: { zeros },
  models: { leave_one_out: (data, values, context) => new LeaveOneOut(data, values, context) },
});
