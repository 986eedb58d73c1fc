import { computation, filled } from "livegrad/live/engine/models.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";
import { program } from "./program.js";

const chosen = (data) => data;

// The most weight of a key at x between two others: 1/(1 + e^{H(λ) − c V}) with its shares λ of them.
function most(x, left, right, c) {
  if (x < left || x > right) return 1;
  const share = (right - x) / (right - left);
  let entropy = 0;
  for (const p of [share, 1 - share]) if (p > 0) entropy -= p * Math.log(p);
  const spread = share * (left - x) ** 2 + (1 - share) * (right - x) ** 2;
  return 1 / (1 + Math.exp(entropy - c * spread));
}

// No training: the weight of the second of three keys, for all queries, and the most that a query can give it.
function selecting({ queries, first, last, c, places }, { k, stretch }) {
  const stretched = (points) => points.map((x) => stretch * x);
  const found = filled(program([queries.length, 3, c]), {
    queries: stretched(queries),
    keys: stretched([first, k, last]),
    values: [0, 1, 0],
    y: [0],
  });
  const weight = (short) => {
    found.call(short);
    return [...found.weights].filter((_, j) => j % 3 === 1);
  };
  const best = (x, width) => most(stretch * x, stretch * first, stretch * last, width);
  const final = { middle: () => [k] };
  for (const short of ["soft", "gauss", "between"]) final[`${short}_weight`] = () => weight(short);
  for (const [short, width] of [
    ["soft", 0],
    ["between", c],
  ]) {
    final[`${short}_all`] = () => places.map((x) => best(x, width));
    final[`${short}_most`] = () => best(k, width);
    final[`${short}_here`] = () => [best(k, width)];
  }
  return computation(() => best(k, 0), final);
}

export default liveFigure({ datasets: { line: chosen }, starts: { zeros }, models: { selecting } });
