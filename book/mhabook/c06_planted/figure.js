import { arrays } from "mhalib/live/engine/data.js";
import { measuring } from "livegrad/live/engine/models.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { normal, zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";
import { alignment, cosines } from "./alignment.js";

// The multi-head classifier, and its alignment with the head that is planted.
export default liveFigure({
  datasets: { arrays },
  starts: { normal, zeros },
  models: {
    multihead: measuring(multihead, {
      align_W: (model, data, values, spec) => alignment(model, spec.data.teacher)("W"),
      align_U: (model, data, values, spec) => alignment(model, spec.data.teacher)("U"),
      cosines: (model, data, values, spec) => cosines(model, spec.data.teacher),
      head_numbers: (model) => () => Array.from({ length: model.H }, (_, h) => h + 1),
    }),
  },
});
