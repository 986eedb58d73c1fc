import { computation } from "mhalib/live/engine/models.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "mhalib/live/figure.js";
import { readersOnALine } from "./readers.js";

// The queries as they are, and the chosen values.
const chosen = ({ queries, sets }, values) => ({ queries, u: sets[values.values] });

// No training: weights, outputs and forces of all queries and of the chosen one.
function kernels({ queries, u }, { q: here, k1, k2, k3, c, y }) {
  const readers = readersOnALine([k1, k2, k3], u, c);
  const final = {
    here: () => [here],
    k1_here: () => [k1],
    k2_here: () => [k2],
    k3_here: () => [k3],
    target: () => [y, y],
    sum: () => readers.gauss(here).weights.reduce((total, one) => total + one, 0),
  };
  for (const [name, read] of Object.entries(readers)) {
    const reader = (q) => {
      const { weights, output, slope } = read(q);
      return { weight: weights[1], output, force: -(output - y) * slope };
    };
    for (const part of ["weight", "output", "force"]) {
      final[`${name}_${part}`] = () => queries.map((q) => reader(q)[part]);
      final[`${name}_at_${part}`] = () => [reader(here)[part]];
    }
    final[`${name}_mid`] = () => reader(here).weight;
    final[`${name}_here_force`] = () => reader(here).force;
  }
  const loss = () => (readers.soft(here).output - y) ** 2 / 2;
  return computation(loss, final);
}

export default liveFigure({ datasets: { kernels: chosen }, starts: { zeros }, models: { kernels } });
