import { arrays } from "mhalib/live/engine/data.js";
import { norm } from "livegrad/live/engine/matrices.js";
import { filled } from "livegrad/live/engine/models.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { normal } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";
import { program } from "./program.js";

// A model and its linearization at the start, trained side by side.

// θ holds the parameters of the model, then the displacement of the linearization, which begins at zero.
class Linearized {
  constructor(data, values, context) {
    const model = multihead(data, values, context),
      { n, T, d, heads, size: each, X, y } = model;
    const linear = filled(program([n, T, d, heads, each]), { X, y });
    Object.assign(this, { model, linear, heads, T, d, each, size: 2 * each, begun: false });
    this.curves = {
      loss: (now) => now.loss,
      linear_loss: () => linear.loss[0], // of the last gradient
      distance: ({ theta }) => {
        this.forward(theta);
        linear.others.set(model.program.logits);
        linear.V.set(this.tangent(theta));
        return Math.max(1e-4, linear.call("compare"));
      },
      moved: ({ theta, first }) => norm(this.own(theta).map((x, k) => x - first[k])),
    };
    this.final = { linear_logits: () => [...linear.outputs], logits: () => [...linear.others] };
  }

  own(theta) {
    return theta.subarray(0, this.each);
  }

  tangent(theta) {
    return theta.subarray(this.each);
  }

  forward(theta) {
    return this.model.forward(this.own(theta));
  }

  lossAndGrad(theta, grad) {
    const { model, linear } = this;
    if (!this.begun) {
      linear.theta.set(this.own(theta));
      linear.call("start");
      this.begun = true;
    }
    linear.V.set(this.tangent(theta));
    linear.call("gradient");
    this.tangent(grad).set(linear.slope);
    return model.lossAndGrad(this.own(theta), this.own(grad));
  }
}

function unmoved(start, model, values) {
  const theta = new Float64Array(model.size);
  theta.set(normal(start, { ...model, size: model.each }, values));
  return theta;
}

export default liveFigure({
  datasets: { arrays },
  starts: { linearized: unmoved },
  models: { linearized: (data, values, context) => new Linearized(data, values, context) },
});
