import { arrays } from "mhalib/live/engine/data.js";
import { measuring } from "livegrad/live/engine/models.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";

// One head, W row by row and then U, whose attention W has a step size of its own.
function twoSteps(data, values, told) {
  const model = multihead(data, values, told),
    ofW = model.d * model.d;
  model.step = (theta, grad) => {
    for (let k = 0; k < model.size; k++) theta[k] -= (k < ofW ? values.eta_w : values.eta_u) * grad[k];
  };
  return model;
}

export default liveFigure({
  datasets: { arrays },
  starts: { zeros },
  models: {
    two_steps: measuring(twoSteps, {
      here_u:
        (model, data, { eta_u }) =>
        () => [eta_u],
      here_w:
        (model, data, { eta_w }) =>
        () => [eta_w],
    }),
  },
});
