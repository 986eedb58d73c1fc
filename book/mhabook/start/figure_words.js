import { mean } from "livegrad/live/engine/matrices.js";
import { measuring } from "livegrad/live/engine/models.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";

// Sentences whose words are coordinate vectors.
function sentences({ n, T, d, length, tokens, y, relevant }) {
  const X = new Float64Array(n * T * d);
  tokens.forEach((word, k) => {
    X[k * d + word] = length;
  });
  return { n, T, d, X, y: Float64Array.from(y), relevant: Uint8Array.from(relevant) };
}

// What each word of the first sentence gets, averaged over the queries.
function weights(model, { T }) {
  return (now) => {
    const { A } = model.at(now, "attention"),
      mine = (j) => A.subarray(0, T * T).filter((_, k) => k % T === j);
    return Array.from({ length: T }, (_, j) => mean(mine(j)));
  };
}

// Where the bars of these weights go along the steps: from 107 on, the weight 1 for 36 steps.
function bars(model, data) {
  const now = weights(model, data);
  return (at) => now(at).flatMap((weight) => [107, 107 + 36 * weight, null]);
}

export default liveFigure({
  datasets: { sentences },
  starts: { zeros },
  models: { multihead: measuring(multihead, { weights, bars }) },
});
