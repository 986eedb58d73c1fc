import { arrays } from "mhalib/live/engine/data.js";
import { mean, norm } from "livegrad/live/engine/matrices.js";
import { measuring } from "livegrad/live/engine/models.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { normal } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";

// The multi-head classifier, and how far the W_h of a head has moved from its start, in the mean of the heads.
function moved({ heads, head, d }) {
  const way = ({ theta, first }, h) => {
    const at = h * head;
    return norm(Float64Array.from({ length: d * d }, (_, k) => theta[at + k] - first[at + k]));
  };
  return (now) => mean(Array.from({ length: heads }, (_, h) => way(now, h)));
}

export default liveFigure({
  datasets: { arrays },
  starts: { normal },
  models: { multihead: measuring(multihead, { moved }) },
});
