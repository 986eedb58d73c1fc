import { arrays } from "mhalib/live/engine/data.js";
import { measuring } from "livegrad/live/engine/models.js";
import { endsOf } from "livegrad/live/engine/spectrum.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { normal } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";
import { constantsOf } from "./constants.js";

// The multi-head classifier, and what bounds its curvature.
function weakConvexity(model) {
  const kappa = constantsOf(model)("curvature");
  return (now) => kappa(now) * now.loss;
}

export default liveFigure({
  datasets: { arrays },
  starts: { normal },
  models: {
    multihead: measuring(multihead, {
      curvature_share: () => (now) => -endsOf(now)[0] / now.loss,
      smoothness_bound: (model) => constantsOf(model)("smoothness"),
      weak_convexity_constant: (model) => constantsOf(model)("curvature"),
      weak_convexity_bound: weakConvexity,
    }),
  },
});
