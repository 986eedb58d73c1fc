import { sideBySide, sideBySideStart } from "mhabook/c10_structure/side_by_side.js";
import { dot, mean } from "mhalib/live/engine/matrices.js";
import { firstTokens, population, regression, regressionData } from "mhalib/live/engine/regression.js";
import { liveFigure } from "mhalib/live/figure.js";

// For every instance the same run on its first tokens, for several numbers n of them, and in the limit of
// infinitely many from the start of the largest n.
function dataAndCompute({ instances }, values) {
  const { sizes } = values,
    limits = [];
  const parts = sizes.flatMap((n) =>
    instances.map((whole, instance) => {
      const data = firstTokens(whole, n),
        model = regression(data),
        limit = { name: "limit", decides: false, data, model: population(model), values, instance };
      if (n === sizes[0]) limits.push(limit);
      return { name: n, decides: true, data, model, values, instance };
    }),
  );
  const all = sideBySide([...parts, ...limits]),
    { d, sigma, singular: s } = instances[0];
  const C = (sigma ** 2 * d ** 2 + (d * mean(s)) ** 2 + dot(s, s)) / 2;
  const final = {
    sizes: () => sizes,
    finals: (now) => sizes.map((n) => all.curves[`excess_${n}`](now)),
    predicted: () => sizes.map((n) => C / n),
  };
  return { ...all, final };
}

export default liveFigure({
  datasets: { regression: regressionData },
  starts: { side_by_side: sideBySideStart },
  models: { data_and_compute: dataAndCompute },
});
