import { computation, filled } from "livegrad/live/engine/models.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";
import { program } from "./program.js";

// The queries as they are, and the chosen values.
const chosen = ({ queries, sets }, values) => ({ queries, values: sets[values.values] });

const PARTS = {
  weight: ({ weights }) => [...weights.filter((_, k) => k % 3 === 1)], // that of the second key
  output: ({ outputs }) => [...outputs],
  force: ({ grad }) => [...grad.map((slope) => -slope)],
};

// No training: weights, outputs and forces of all queries and of the chosen one.
function kernels({ queries, values }, { q: here, k1, k2, k3, c, y }) {
  const read = (name, queries) => {
    const found = filled(program([queries.length, 3, c]), { queries, keys: [k1, k2, k3], values, y: [y] });
    found.call(name);
    return found;
  };
  const lone = Object.fromEntries(["soft", "gauss", "between"].map((name) => [name, read(name, [here])]));
  const final = {
    here: () => [here],
    k1_here: () => [k1],
    k2_here: () => [k2],
    k3_here: () => [k3],
    target: () => [y, y],
    sum: () => lone.gauss.weights.reduce((total, one) => total + one),
  };
  for (const [name, one] of Object.entries(lone)) {
    const many = read(name, queries);
    for (const [part, of] of Object.entries(PARTS)) {
      final[`${name}_${part}`] = () => of(many);
      final[`${name}_at_${part}`] = () => of(one);
    }
    final[`${name}_mid`] = () => PARTS.weight(one)[0];
    final[`${name}_here_force`] = () => PARTS.force(one)[0];
  }
  return computation(() => lone.soft.loss[0], final);
}

export default liveFigure({ datasets: { kernels: chosen }, starts: { zeros }, models: { kernels } });
