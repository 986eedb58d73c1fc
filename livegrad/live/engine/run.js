import { optimizers, rate } from "./optimizers.js";
import { endsOf } from "./spectrum.js";

// What livegrad.train does, to be taken in slices.

// Measures that any model with a `hessian` has, and those of the step size alone.
const common = {
  sharpness: (now) => endsOf(now)[1],
  negative_curvature: (now) => -endsOf(now)[0],
  edge: (now) => 2 / now.lr,
};

// A control may choose between several data, starts or records: {by: control, choices: {value: …}}.
const chosen = (part, values) => (part.choices ? part.choices[values[part.by]] : part);

// The controls' values and the fixed ones; a control `scaling` makes the step size η, or η √H.
function settings(spec, values) {
  const all = { ...spec.fixed, ...values };
  return all.scaling === "root" ? { ...all, lr: all.lr * Math.sqrt(all.H) } : all;
}

const measured = (model, name, now) => (model.curves[name] ?? model.final[name] ?? common[name])(now);

// The same moment on test data: without a gradient, and the loss is computed where it is asked for.
const onTest = ({ theta, first, step, lr }, model) => ({
  theta,
  first,
  step,
  lr,
  model,
  get loss() {
    return model.forward(theta);
  },
});

// formulas: {datasets, starts, models}, functions by the names that a spec uses. spec: {model, data, test, start,
// fixed, record, curves, final, watched}; values: the controls'. Every recorded step adds one number to each curve,
// and, if the run is watched, what is `final` there; a name that begins with test_ is measured on the test data.
// `advance(ms)` works for about so long; a loss that is not finite ends the run as there. A computation that is no
// training is a run of no steps: record = [0].
export class Run {
  constructor({ datasets, starts, models }, spec, values) {
    const all = settings(spec, values),
      start = chosen(spec.start, all);
    const make = (part, values) => {
      const data = datasets[part.kind](part, values);
      return { data, model: models[spec.model](data, all, { start, spec }) };
    };
    const { data, model } = make(chosen(spec.data, all), all);
    this.spec = spec;
    this.lr = all.lr;
    this.model = model;
    this.tested = null;
    this.makeTested = () => make(chosen(spec.test, all), { ...all, n: undefined }).model; // all of it, for every n
    this.theta = starts[start.kind](start, model, all, data);
    this.first = this.theta.slice();
    this.step = (model.step ?? optimizers[all.optimizer](all, model.size)).bind(model);
    [this.grad, this.before] = Array.from({ length: 2 }, () => new Float64Array(model.size));
    const record = chosen(spec.record, all);
    this.recorded = new Set(record);
    this.last = Math.max(...record);
    this.result = {
      steps: [],
      curves: Object.fromEntries(spec.curves.map((name) => [name, []])),
      final: {},
      finals: [],
      done: false,
      stopped: null,
    };
    this.k = 0;
    this.left = null; // what is still to be measured of the last model
  }

  // Takes over what a run that has ended trained; what is measured of its last model is measured anew.
  follow({ theta, grad, k, result }) {
    this.theta.set(theta);
    this.grad.set(grad);
    this.k = k;
    Object.assign(this.result, result, { done: false });
    this.finish();
  }

  now(step, loss) {
    const { theta, first, grad, model } = this;
    return { theta, first, grad, loss, step, lr: rate(this.lr, step), model };
  }

  // Without test data a curve of such a name is the model's own.
  measure(name, now) {
    if (!this.spec.test || !name.startsWith("test_")) return measured(this.model, name, now);
    this.tested ??= this.makeTested();
    now.tested ??= onTest(now, this.tested);
    return measured(this.tested, name.slice(5), now.tested);
  }

  final(now) {
    return Object.fromEntries(this.spec.final.map((name) => [name, this.measure(name, now)]));
  }

  record(at, loss) {
    const { result } = this,
      now = this.now(at, loss);
    result.steps.push(at);
    for (const name of this.spec.curves) result.curves[name].push(this.measure(name, now));
    if (this.spec.watched) result.finals.push((result.final = this.final(now)));
  }

  // What is measured of the last model, one after the other.
  finish() {
    const now = this.now(this.k, this.model.forward(this.theta));
    this.result.final = {};
    this.left = this.spec.final.map((name) => () => (this.result.final[name] = this.measure(name, now)));
  }

  stop() {
    const { theta, k } = this;
    this.result.stopped = k;
    if (k) {
      theta.set(this.before);
      const loss = this.model.lossAndGrad(theta, this.grad);
      // Then no smaller step would help, unless it is the overflow of a run that diverges.
      const largest = (weights) => weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1);
      const diverging = loss > 10 * this.firstLoss || largest(theta) > 1e3 * largest(this.first);
      this.result.noSlope = !this.grad.every(Number.isFinite) && !diverging;
      if (!this.recorded.has(k - 1)) this.record(k - 1, loss);
    }
    this.finish();
  }

  move(loss) {
    this.firstLoss ??= loss;
    if (this.recorded.has(this.k)) this.record(this.k, loss);
    if (this.k === this.last) {
      this.finish();
      return;
    }
    this.before.set(this.theta);
    this.step(this.theta, this.grad, this.k++);
  }

  advance(milliseconds = Infinity) {
    const { model, theta, grad, result } = this,
      until = Date.now() + milliseconds;
    while (!result.done && Date.now() < until) {
      if (this.left) {
        this.left.shift()?.();
        result.done = !this.left.length;
        continue;
      }
      const loss = model.lossAndGrad(theta, grad);
      if (!Number.isFinite(loss)) this.stop();
      else this.move(loss);
    }
  }
}
