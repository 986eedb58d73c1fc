import { filled } from "livegrad/live/engine/models.js";
import { regression, regressionData } from "mhabook/live/engine/regression.js";
import { coordinates, whiteningOf } from "mhabook/live/engine/structured.js";
import { liveFigure } from "livegrad/live/figure.js";
import { sideBySide, sideBySideStart } from "./side_by_side.js";

// The chosen rule, and plain descent from the same start on the same tokens.
const descent = ({ instances: [data] }, values) =>
  sideBySide(
    ["chosen", "plain"].map((name) => {
      const decides = name === "chosen",
        rule = decides ? values : { optimizer: "gd", lr: values.plain_lr, share: 1 };
      return { name, decides, data, model: regression(data), values: rule, instance: 0 };
    }),
  );

// The excess of plain descent above which it is drawn no further.
const MOST = 10;

// The same, and where the tokens lie: along the eigenvector of Σ with the largest eigenvalue, the last of the basis, and
// along the first.
const stretchedData = (carried, values) => ({
  ...regressionData(carried, values),
  basis: carried.instances[0].rotations[values.d].basis,
});

function stretched(made, values) {
  const [{ x, n, d }] = made.instances;
  const along = (k) =>
    Array.from({ length: n }, (_, i) => {
      let sum = 0;
      for (let j = 0; j < d; j++) sum += x[i * d + j] * made.basis[j * d + k];
      return sum;
    });
  const model = descent(made, values),
    { excess_plain } = model.curves;
  let gone = false; // whether it is drawn no further
  return {
    ...model,
    curves: {
      ...model.curves,
      excess_plain(now) {
        const excess = excess_plain(now);
        if (gone) return NaN;
        gone = !(excess <= MOST);
        return gone ? MOST : excess;
      },
    },
    final: {
      wide: () => along(d - 1),
      narrow: () => along(0),
      span: () => [0, values.steps],
      plain_end: (now) => (gone ? `more than ${MOST}` : excess_plain(now)),
    },
  };
}

// The layer whose whitened matrices, by the true Σ, are the carried ones, for every run.
function stretchedStart({ U, V }, { parts }) {
  const [{ data }] = parts,
    arrays = filled(coordinates(whiteningOf(data.Sigma, data.d), data.d), { U, V, v: [0], radius: [1] });
  arrays.call("renormalize");
  return Float64Array.from(parts.flatMap(() => [...arrays.theta]));
}

export default liveFigure({
  datasets: { regression: regressionData, stretched: stretchedData },
  starts: { side_by_side: sideBySideStart, stretched: stretchedStart },
  models: { descent, stretched },
});
