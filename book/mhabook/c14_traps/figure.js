import { program } from "mhabook/c12_two_kernels/program.js";
import { filled } from "livegrad/live/engine/models.js";
import { liveFigure } from "livegrad/live/figure.js";

// One query of a case, under softmax and under the Gaussian kernel: θ has its place under the one and under the other.

const BOTH = ["soft", "gauss"];
const SMALLEST = 1e-10; // what is smaller is rounding
const MET = 1e-4; // a loss below it counts as none
const NEAR = 0.05; // how far from a trap a query may end
// What is smaller than a picture shows is rounded, and there is no −0.
const rounded = (numbers) => [...numbers].map((x) => Math.round(1e6 * x) / 1e6 + 0);

const chosen = ({ cases }, values) => cases[values.case];
const twice = (start, { begin }) => Float64Array.from([begin, begin]);

// What queries read under a kernel, and their losses and slopes.
function reader({ keys, values, y }, c) {
  const programs = {};
  return (short, queries) => {
    const { length } = queries;
    const found = (programs[length] ??= filled(program([length, keys.length, c]), { keys, values, y: [y] }));
    found.queries.set(queries);
    found.call(short);
    return { read: [...found.outputs], loss: [...found.losses], slope: [...found.grad] };
  };
}

// Whether the target is met at a query, or the query is in a trap, or ends elsewhere.
function kindOf(seen, short, q) {
  const [here, ...around] = [0, -NEAR, NEAR].map((away) => seen(short, [q + away]).loss[0]);
  if (here < MET) return "met";
  return around.every((loss) => loss > here) ? "trap" : "end";
}

// What is drawn and said at the end, of the task and of the way under each kernel.
function finalOf({ keys, values, y, reach }, q, places, seen, visited) {
  const final = {
    places: () => rounded(places),
    range: () => [-reach, reach],
    begin: () => [q],
    keys: () => keys,
    values: () => values,
    floor: () => keys.map(() => 0),
    y: () => y,
    target: () => [y, y],
    stem_x: () => keys.flatMap((key) => [key, key, NaN]),
    stem_y: () => values.flatMap((value) => [0, value, NaN]),
  };
  for (const short of BOTH) {
    const way = visited[short],
      last = () => way[way.length - 1];
    const sets = { all: () => places, way: () => way, begin: () => [q], end: () => [last()] };
    for (const [name, at] of Object.entries(sets))
      for (const part of ["read", "loss"]) final[`${short}_${name}_${part}`] = () => rounded(seen(short, at())[part]);
    final[`${short}_way`] = () => rounded(way);
    final[`${short}_end`] = () => rounded([last()]);
    final[`${short}_last`] = () => final[`${short}_end`]()[0];
    for (const part of ["read", "loss"]) final[`${short}_last_${part}`] = () => final[`${short}_end_${part}`]()[0];
  }
  for (const kind of ["met", "trap", "end"])
    for (const part of ["", "_read", "_loss"])
      final[`${kind}${part}`] = () =>
        BOTH.filter((short) => kindOf(seen, short, visited[short].at(-1)) === kind).flatMap((short) =>
          final[`${short}_end${part}`](),
        );
  return final;
}

function held(task, { q, c }) {
  const { reach, places: count } = task,
    seen = reader(task, c),
    visited = { soft: [], gauss: [] };
  const places = Array.from({ length: count }, (_, k) => reach * (-1 + (2 * k) / (count - 1)));

  function lossAndGrad(theta, grad) {
    let total = 0;
    BOTH.forEach((short, k) => {
      const { loss, slope } = seen(short, [theta[k]]);
      grad[k] = slope[0];
      total += loss[0];
    });
    return total;
  }

  // The curve that is asked for at every recorded step keeps where the queries were.
  function loss({ theta, loss: now }) {
    BOTH.forEach((short, k) => visited[short].push(theta[k]));
    return Math.max(now, SMALLEST);
  }

  const forward = (theta) => lossAndGrad(theta, new Float64Array(2));
  return { size: 2, begin: q, forward, lossAndGrad, curves: { loss }, final: finalOf(task, q, places, seen, visited) };
}

export default liveFigure({ datasets: { cases: chosen }, starts: { query: twice }, models: { held } });
