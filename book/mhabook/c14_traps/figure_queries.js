// --- chapter 14: queries on a line, all with one target, that descend under three kernels -------------------------

// The chosen construction, with the minima of one query's loss that mhalib finds for the width.
datasets.traps = ({ traps, widths }, { trap, c }) => {
  const { minima, ...rest } = traps[trap];
  return { ...rest, minima: Object.fromEntries(THREE.map((name) => [name, minima[name][widths.indexOf(c)]])) };
};

const THREE = ["soft", "gauss", "between"];
const SMALLEST = 1e-10; // what a curve shows of anything smaller, which is rounding
const NEAR = 0.05; // a query so near to a minimum is at it
const rounded = (x, digits = 1e6) => Math.round(digits * x) / digits;
const evenly = (reach, count) => Array.from({ length: count }, (_, k) => reach * (-1 + (2 * k) / (count - 1)));

// θ holds the queries under softmax, then those under the Gaussian kernel, then those of the control.
function descentOnALine({ keys, values, y, lr: own, minima, reach }, { c, lr }, begin) {
  const readers = readersOnALine(keys, values, c), n = begin.length, visited = [];
  const queriesOf = (theta, kernel) => theta.subarray(kernel * n, (kernel + 1) * n);
  const lossAt = (name, q) => (readers[name](q).output - y) ** 2 / 2;
  const total = (name, queries) => queries.reduce((sum, q) => sum + lossAt(name, q), 0);
  const end = (name, theta) => queriesOf(theta, THREE.indexOf(name));
  const near = (queries, points) => [...queries].filter((q) => points.some((p) => Math.abs(q - p) < NEAR)).length;

  function lossAndGrad(theta, grad) {
    THREE.forEach((name, kernel) => queriesOf(theta, kernel).forEach((q, k) => {
      const { output, slope } = readers[name](q);
      grad[kernel * n + k] = (output - y) * slope;
    }));
    return total("soft", queriesOf(theta, 0));
  }

  const drawn = (name) => ({ theta }) => Math.max(total(name, end(name, theta)), SMALLEST);
  const curves = {
    // Where descent was at the recorded steps is drawn too: the first curve keeps it.
    loss: (now) => {
      visited.push(now.theta.slice());
      return drawn("soft")(now);
    },
    gauss: drawn("gauss"),
    between: drawn("between"),
  };
  const lasts = { rate: () => own * lr, n: () => n, range: () => [-reach, reach] };
  for (const name of THREE) {
    const { best, other } = minima[name];
    lasts[`${name}_end`] = ({ theta }) => total(name, end(name, theta));
    lasts[`${name}_best`] = ({ theta }) => near(end(name, theta), best);
    lasts[`${name}_other`] = ({ theta }) => near(end(name, theta), other);
  }
  return {
    begin, visited, lossAt, end, size: 3 * n, lossAndGrad, curves, lasts,
    forward: (theta) => total("soft", queriesOf(theta, 0)),
    step: (theta, grad) => theta.forEach((q, k) => { theta[k] = q - own * lr * grad[k]; }),
  };
}

starts.traps = (start, { begin }) => Float64Array.from([...begin, ...begin, ...begin]);

// All queries of a construction, their starts moved by one number, on the loss of one query.
models.traps = function (data, values) {
  const { start, reach, minima } = data, queries = evenly(reach, 161);
  const made = descentOnALine(data, values, start.map((q) => q + values.shift)), { lossAt, visited, lasts } = made;
  const landscapes = THREE.map((name) => queries.map((q) => rounded(lossAt(name, q))));
  const top = Math.max(...landscapes.flat()), inside = (points) => points.filter((q) => Math.abs(q) <= reach);
  lasts.queries = () => queries;
  lasts.loss_range = () => [rounded(-0.05 * top), rounded(1.08 * top)];
  THREE.forEach((name, kernel) => {
    const height = (points) => [...points].map((q) => rounded(lossAt(name, q)));
    const paths = () => made.begin.flatMap((_, k) => [...visited.map((theta) => made.end(name, theta)[k]), NaN]);
    const points = {
      path: paths, start: () => made.begin, finish: ({ theta }) => [...made.end(name, theta)],
      best: () => inside(minima[name].best), other: () => inside(minima[name].other),
    };
    lasts[`${name}_landscape`] = () => landscapes[kernel];
    lasts[`${name}_lowest`] = () => rounded(made.begin.length * lossAt(name, minima[name].best[0]), 1e9);
    for (const [kind, at] of Object.entries(points)) {
      lasts[`${name}_${kind}_q`] = (now) => at(now).map((q) => rounded(q));
      lasts[`${name}_${kind}_loss`] = (now) => height(at(now));
    }
  });
  return made;
};

// Two queries that are free: the loss is the sum of the losses of the one and of the other.
models.two_tokens = function (data, values) {
  const { reach, minima } = data, axis = evenly(reach, values.square);
  const made = descentOnALine(data, values, [values.q1, values.q2]), { lossAt, visited, lasts } = made;
  const alone = THREE.map((name) => axis.map((q) => lossAt(name, q)));
  const top = 2 * Math.max(...alone.flat());
  lasts.axis = () => axis.map((q) => rounded(q));
  THREE.forEach((name, kernel) => {
    const { best, other } = minima[name], inside = [...best, ...other].filter((q) => Math.abs(q) <= reach);
    const pairs = inside.flatMap((a) => inside.map((b) => [a, b]));
    const lowest = ([a, b]) => best.includes(a) && best.includes(b);
    const points = {
      path: () => visited.map((theta) => [...made.end(name, theta)]),
      start: () => [made.begin],
      finish: ({ theta }) => [[...made.end(name, theta)]],
      best: () => pairs.filter(lowest),
      other: () => pairs.filter((pair) => !lowest(pair)),
    };
    for (const [kind, at] of Object.entries(points))
      ["q1", "q2"].forEach((q, k) => {
        lasts[`${name}_${kind}_${q}`] = (now) => at(now).map((pair) => rounded(pair[k]));
      });
    lasts[`${name}_z`] = () => alone[kernel].map((up) => alone[kernel].map((across) =>
      rounded(Math.sqrt((up + across) / top), 1e3)));
    lasts[`${name}_minima`] = () => pairs.length;
    lasts[`${name}_spurious`] = () => points.other().length;
    lasts[`${name}_verdict`] = (now) => {
      const [at, rest] = [lasts[`${name}_best`](now), lasts[`${name}_other`](now)];
      return at === 2 ? "a global minimum" : at + rest === 2 ? "a spurious minimum" : "no minimum yet";
    };
  });
  return made;
};
