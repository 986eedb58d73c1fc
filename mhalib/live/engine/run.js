// --- a run: what mhalib.train does, to be taken in slices -----------------------------------------------------

// Measures that any model with an `hvp` has, and those of the step size alone.
const common = {
  sharpness: (now) => ends(now)[1],
  negative_curvature: (now) => -ends(now)[0],
  edge: (now) => 2 / now.lr,
};

function ends(now) {
  return (now.ends ??= spectrumEnds(now.model.hvp, now.model.size));
}

// A control may choose between several data or starts: {by: control, choices: {value: …}}.
const chosen = (part, values) => (part.choices ? part.choices[values[part.by]] : part);

// The controls' values and the fixed ones; a control `scaling` makes the step size η, or η √H.
function settings(spec, values) {
  const all = { ...spec.fixed, ...values };
  return all.scaling === "root" ? { ...all, lr: all.lr * Math.sqrt(all.H) } : all;
}

// What can be measured of a model: what it offers, what files beside it add, and what all models have. A name that
// begins with test_ is measured on the test data.
function measures(model, data, all, spec) {
  const added = model.measures?.(measured[spec.model] ?? {}, data, all, spec) ?? {};
  return (name, now) => (model.curves[name] ?? model.lasts[name] ?? added[name] ?? common[name])(now);
}

// spec: {model, data, test, start, fixed, record, curves, lasts}; values: the controls'. Every recorded step adds one
// number to each curve. `advance(ms)` works for about so long; a loss that is not finite ends the run as in mhalib.
// A computation that is no training is a run of no steps: record = [0].
function run(spec, values) {
  const all = settings(spec, values), start = chosen(spec.start, all);
  const make = (part, values) => {
    const data = datasets[part.kind](part, values), model = models[spec.model](data, all, { start });
    return { data, model, measure: measures(model, data, all, spec) };
  };
  const own = make(chosen(spec.data, all), all), { model } = own;
  const fresh = spec.test && make(chosen(spec.test, all), { ...all, n: undefined }); // all of it, for every n
  const theta = starts[start.kind](start, model, all, own.data), first = theta.slice();
  const step = model.step ?? optimizers[all.optimizer](all, model.size);
  const [grad, before, unused] = Array.from({ length: 3 }, () => new Float64Array(model.size));
  const recorded = new Set(spec.record), last = Math.max(...spec.record);
  const asksTest = spec.curves.some((name) => name.startsWith("test_"));
  const result = { steps: [], curves: Object.fromEntries(spec.curves.map((name) => [name, []])), lasts: {},
                   done: false, stopped: null };
  let k = 0;

  const measure = (name, now, then) =>
    name.startsWith("test_") ? fresh.measure(name.slice(5), then) : own.measure(name, now);

  function record(at, loss) {
    const now = { theta, first, grad, loss, step: at, lr: rate(all.lr, at), model };
    const then = asksTest && { ...now, model: fresh.model, grad: unused, loss: fresh.model.lossAndGrad(theta, unused) };
    result.steps.push(at);
    for (const name of spec.curves) result.curves[name].push(measure(name, now, then));
  }

  function finish() {
    const now = { theta, first, loss: model.forward(theta), grad, step: k, lr: rate(all.lr, k), model };
    const then = fresh && { ...now, model: fresh.model, loss: fresh.model.forward(theta) };
    for (const name of spec.lasts) result.lasts[name] = measure(name, now, then);
    result.done = true;
  }

  function stop() {
    result.stopped = k;
    if (k) {
      theta.set(before);
      if (!recorded.has(k - 1)) record(k - 1, model.lossAndGrad(theta, grad));
    }
    finish();
  }

  function advance(milliseconds = Infinity) {
    const until = Date.now() + milliseconds;
    while (!result.done && Date.now() < until) {
      const loss = model.lossAndGrad(theta, grad);
      if (!Number.isFinite(loss)) return stop();
      if (recorded.has(k)) record(k, loss);
      if (k === last) return finish();
      before.set(theta);
      step(theta, grad, k++);
    }
  }

  return { result, advance };
}
