import { sideBySide, sideBySideStart } from "mhabook/c10_structure/side_by_side.js";
import { dot, mean } from "livegrad/live/engine/matrices.js";
import { firstTokens, population, regression, regressionData } from "mhabook/live/engine/regression.js";
import { liveFigure } from "livegrad/live/figure.js";

// For every instance the same run on its first tokens, for several numbers n of them, and for some instances in the
// limit of infinitely many, from the start of the largest n.
function bySize(instances, limited, values) {
  const { sizes } = values,
    limits = [];
  const parts = sizes.flatMap((n) =>
    instances.map((whole, instance) => {
      const data = firstTokens(whole, n),
        model = regression(data),
        limit = { name: "limit", decides: false, data, model: population(model), values, instance };
      if (n === sizes[0] && instance < limited) limits.push(limit);
      return { name: n, decides: true, data, model, values, instance };
    }),
  );
  return sideBySide([...parts, ...limits]);
}

// The numbers of tokens, the excess at the end for each, and a constant over each, if it is a number.
const ends = (all, sizes, constant) => ({
  sizes: () => sizes,
  finals: (now) => sizes.map((n) => all.curves[`excess_${n}`](now)),
  predicted: () => (Number.isFinite(constant) ? sizes.map((n) => constant / n) : []),
});

function dataAndCompute({ instances }, values) {
  const all = bySize(instances, instances.length, values),
    { d, sigma, singular: s } = instances[0];
  const spectral = (sigma ** 2 * d ** 2 + (d * mean(s)) ** 2 + dot(s, s)) / 2;
  return { ...all, final: ends(all, values.sizes, spectral) };
}

// All instances are draws from one truth.
function bought({ instances }, values) {
  const all = bySize(instances, 1, values);
  return { ...all, final: ends(all, values.sizes, floorConstant(instances[0])) };
}

// φ = ½(σ²pd + Ψ) where the optimum is balanced, v_i² = s_i: finite where all s_i < 1.
function floorConstant({ d, sigma, singular: s }) {
  if (Math.max(...s) >= 1) return Infinity;
  const left = s.map((x) => 1 - x * x),
    sum = (term) => s.reduce((total, x, i) => total + term(x, left[i]), 0);
  const pairs = sum((x, t) => x / t) ** 2 + sum((x, t) => (x * x * (1 + x * x)) / t ** 2);
  return (sigma ** 2 * d ** 2 + pairs / Math.sqrt(left.reduce((a, b) => a * b))) / 2;
}

// The carried parameters for every run.
const givenStart = ({ theta }, { parts }) => Float64Array.from(parts.flatMap(() => theta));

export default liveFigure({
  datasets: { regression: regressionData },
  starts: { side_by_side: sideBySideStart, given: givenStart },
  models: { data_and_compute: dataAndCompute, bought },
});
