import { program } from "mhabook/c12_two_kernels/program.js";
import { filled } from "livegrad/live/engine/models.js";
import { optimizers } from "livegrad/live/engine/optimizers.js";
import { liveFigure } from "livegrad/live/figure.js";

// Queries on a line, all with one target, that descend under three kernels.

// The chosen construction, with the minima of one query's loss that mhalib finds for the width.
function chosen({ traps, widths }, { trap, c }) {
  const { minima, ...rest } = traps[trap];
  return { ...rest, minima: Object.fromEntries(THREE.map((name) => [name, minima[name][widths.indexOf(c)]])) };
}

const THREE = ["soft", "gauss", "between"];
const SMALLEST = 1e-10; // what a curve shows of anything smaller, which is rounding
const NEAR = 0.05; // a query so near to a minimum is at it
const rounded = (x, digits = 1e6) => Math.round(digits * x) / digits;
const evenly = (reach, count) => Array.from({ length: count }, (_, k) => reach * (-1 + (2 * k) / (count - 1)));

// θ holds the queries under softmax, then those under the Gaussian kernel, then those of the control.
class Descent {
  constructor(data, { c, lr }, begin) {
    const size = 3 * begin.length,
      rate = data.lr * lr;
    Object.assign(this, { data, c, begin, n: begin.length, rate, visited: [], size });
    this.step = optimizers.gd({ lr: rate }, size);
    this.problems = {};
    this.curves = this.curvesOf();
    this.final = this.finalOf();
  }

  // What queries read under one kernel, until other queries, or as many under another, do.
  read(name, queries) {
    const { keys, values, y } = this.data,
      { length } = queries;
    const found = (this.problems[length] ??= filled(program([length, keys.length, this.c]), { keys, values, y: [y] }));
    found.queries.set(queries);
    found.call(name);
    return found;
  }

  losses(name, queries) {
    return [...this.read(name, queries).losses];
  }

  // The queries of one kernel.
  end(name, theta) {
    const kernel = THREE.indexOf(name);
    return theta.subarray(kernel * this.n, (kernel + 1) * this.n);
  }

  total(name, theta) {
    return this.read(name, this.end(name, theta)).loss[0];
  }

  forward(theta) {
    return this.total("soft", theta);
  }

  lossAndGrad(theta, grad) {
    for (const name of THREE) this.end(name, grad).set(this.read(name, this.end(name, theta)).grad);
    return this.forward(theta);
  }

  curvesOf() {
    const drawn =
      (name) =>
      ({ theta }) =>
        Math.max(this.total(name, theta), SMALLEST);
    return {
      // Where descent was at the recorded steps is drawn too: the first curve keeps it.
      loss: (now) => {
        this.visited.push(now.theta.slice());
        return drawn("soft")(now);
      },
      gauss: drawn("gauss"),
      between: drawn("between"),
    };
  }

  finalOf() {
    const { rate, n } = this,
      { reach, minima } = this.data;
    const near = (queries, points) => [...queries].filter((q) => points.some((p) => Math.abs(q - p) < NEAR)).length;
    const final = { rate: () => rate, n: () => n, range: () => [-reach, reach] };
    for (const name of THREE) {
      const { best, other } = minima[name];
      final[`${name}_end`] = ({ theta }) => this.total(name, theta);
      final[`${name}_best`] = ({ theta }) => near(this.end(name, theta), best);
      final[`${name}_other`] = ({ theta }) => near(this.end(name, theta), other);
    }
    return final;
  }
}

const thrice = (start, { begin }) => Float64Array.from([...begin, ...begin, ...begin]);

// All queries of a construction, their starts moved by one number, on the loss of one query.
function traps(data, values) {
  const { start, reach, minima } = data,
    queries = evenly(reach, 161);
  const made = new Descent(
      data,
      values,
      start.map((q) => q + values.shift),
    ),
    { visited, final } = made;
  const landscapes = THREE.map((name) => made.losses(name, queries).map((loss) => rounded(loss)));
  const top = Math.max(...landscapes.flat()),
    inside = (points) => points.filter((q) => Math.abs(q) <= reach);
  final.queries = () => queries;
  final.loss_range = () => [rounded(-0.05 * top), rounded(1.08 * top)];
  THREE.forEach((name, kernel) => {
    const height = (points) => made.losses(name, points).map((loss) => rounded(loss));
    const paths = () => made.begin.flatMap((_, k) => [...visited.map((theta) => made.end(name, theta)[k]), NaN]);
    const points = {
      path: paths,
      start: () => made.begin,
      finish: ({ theta }) => [...made.end(name, theta)],
      best: () => inside(minima[name].best),
      other: () => inside(minima[name].other),
    };
    final[`${name}_landscape`] = () => landscapes[kernel];
    final[`${name}_lowest`] = () => rounded(made.n * made.losses(name, minima[name].best)[0], 1e9);
    for (const [kind, at] of Object.entries(points)) {
      final[`${name}_${kind}_q`] = (now) => at(now).map((q) => rounded(q));
      final[`${name}_${kind}_loss`] = (now) => height(at(now));
    }
  });
  return made;
}

// Two queries that are free: the loss is the sum of the losses of the one and of the other.
function twoTokens(data, values) {
  const axis = evenly(data.reach, values.square),
    made = new Descent(data, values, [values.q1, values.q2]);
  const alone = THREE.map((name) => made.losses(name, axis)),
    top = 2 * Math.max(...alone.flat());
  made.final.axis = () => axis.map((q) => rounded(q));
  THREE.forEach((name, kernel) =>
    Object.assign(made.final, pairsOf(made, name, data), {
      [`${name}_z`]: () =>
        alone[kernel].map((up) => alone[kernel].map((across) => rounded(Math.sqrt((up + across) / top), 1e3))),
    }),
  );
  return made;
}

// Where the pair is under one kernel, and where it could end.
function pairsOf(made, name, { reach, minima }) {
  const { best, other } = minima[name],
    inside = [...best, ...other].filter((q) => Math.abs(q) <= reach);
  const pairs = inside.flatMap((a) => inside.map((b) => [a, b])),
    final = {};
  const lowest = ([a, b]) => best.includes(a) && best.includes(b);
  const points = {
    path: () => made.visited.map((theta) => [...made.end(name, theta)]),
    start: () => [made.begin],
    finish: ({ theta }) => [[...made.end(name, theta)]],
    best: () => pairs.filter(lowest),
    other: () => pairs.filter((pair) => !lowest(pair)),
  };
  for (const [kind, at] of Object.entries(points))
    ["q1", "q2"].forEach((q, k) => {
      final[`${name}_${kind}_${q}`] = (now) => at(now).map((pair) => rounded(pair[k]));
    });
  final[`${name}_minima`] = () => pairs.length;
  final[`${name}_spurious`] = () => points.other().length;
  final[`${name}_verdict`] = (now) => {
    const at = made.final[`${name}_best`](now),
      rest = made.final[`${name}_other`](now);
    return at === 2 ? "a global minimum" : at + rest === 2 ? "a spurious minimum" : "no minimum yet";
  };
  return final;
}

export default liveFigure({
  datasets: { traps: chosen },
  starts: { traps: thrice },
  models: { traps, two_tokens: twoTokens },
});
