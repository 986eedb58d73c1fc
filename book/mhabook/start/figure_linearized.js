import { arrays } from "mhalib/live/engine/data.js";
import { logistic, slope } from "mhalib/live/engine/logistic.js";
import { addTransposedProduct, dot, mean, norm, product } from "mhalib/live/engine/matrices.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { normal } from "mhalib/live/engine/starts.js";
import { liveFigure } from "mhalib/live/figure.js";

// A model and its linearization at the start, trained side by side.

// ∇Φ(X_i; θ) in rows, at the θ of the last `forward` of a multi-head model.
function featuresOf({ n, T, d, H, heads, head, size, X, A, P }) {
  const rows = new Float64Array(n * size),
    D = new Float64Array(T * T),
    wide = new Float64Array(T * d);
  for (let i = 0; i < n; i++)
    for (let h = 0; h < heads; h++) {
      const at = (i * heads + h) * T * T,
        to = i * size + h * head;
      for (let t = 0; t < T; t++) {
        const from = at + t * T,
          read = dot(A.subarray(from, from + T), P.subarray(from, from + T));
        for (let j = 0; j < T; j++) D[t * T + j] = A[from + j] * (P[from + j] - read);
      }
      product(D, 0, X, i * T * d, T, T, d, wide, 0);
      addTransposedProduct(X, i * T * d, wide, 0, T, d, d, rows, to);
      product(A, at, X, i * T * d, T, T, d, rows, to + d * d);
    }
  return rows.map((x) => x / Math.sqrt(H));
}

// θ holds the parameters of the model, then those of the linearization: where it stands, start and displacement.
class Linearized {
  constructor(data, values, context) {
    this.model = multihead(data, values, context);
    this.each = this.model.size;
    this.size = 2 * this.each;
    this.begin = null;
    this.ends = null;
    this.curves = {
      loss: (now) => now.loss,
      linear_loss: ({ theta }) =>
        mean(this.linearLogits(this.tangent(theta)).map((phi, i) => logistic(phi * data.y[i]))),
      distance: ({ theta }) => {
        this.ends = [this.linearLogits(this.tangent(theta)), this.logits(this.own(theta))];
        return Math.max(1e-4, Math.sqrt(mean(this.ends[0].map((phi, i) => (phi - this.ends[1][i]) ** 2))));
      },
      moved: ({ theta }) => norm(this.own(theta).map((x, k) => x - this.begin[k])),
    };
    this.final = { linear_logits: () => [...this.ends[0]], logits: () => [...this.ends[1]] };
  }

  own(theta) {
    return theta.subarray(0, this.each);
  }

  tangent(theta) {
    return theta.subarray(this.each);
  }

  logits(theta) {
    const { model } = this;
    model.forward(theta);
    return model.program.logits.slice();
  }

  prepare(theta) {
    this.begin = theta.slice();
    this.first = this.logits(this.begin);
    this.features = featuresOf(this.model);
  }

  linearLogits(theta) {
    const { begin, first, features, each } = this,
      moved = theta.map((x, k) => x - begin[k]);
    return first.map((phi, i) => phi + dot(features.subarray(i * each, (i + 1) * each), moved));
  }

  forward(theta) {
    return this.model.forward(this.own(theta));
  }

  lossAndGrad(theta, grad) {
    if (!this.begin) this.prepare(this.tangent(theta));
    const { model, each, features } = this,
      { n, y } = model;
    const loss = model.lossAndGrad(this.own(theta), this.own(grad)),
      pull = this.tangent(grad).fill(0);
    this.linearLogits(this.tangent(theta)).forEach((phi, i) => {
      const g = (y[i] * slope(y[i] * phi)) / n;
      for (let k = 0; k < each; k++) pull[k] += g * features[i * each + k];
    });
    return loss;
  }
}

function twice(start, { model }, values) {
  const theta = normal(start, model, values);
  return Float64Array.from([...theta, ...theta]);
}

export default liveFigure({
  datasets: { arrays },
  starts: { linearized: twice },
  models: { linearized: (data, values, context) => new Linearized(data, values, context) },
});
