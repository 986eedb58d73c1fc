// What a model is: the parameters are one flat array θ. A model of (data, values, {start, spec}) is {size,
// forward(θ) → loss, lossAndGrad(θ, grad) → loss, curves, final}, what its start asks for (heads, T, d), and, for the
// curves of the spectrum, hessian() → (V, out); and step(θ, grad, k), if it moves by rules of its own and not by one of
// `optimizers`. Curves and final are functions of {theta, first, grad, loss, step, lr, model}.

// A program whose arrays are given.
export function filled(program, given) {
  for (const [name, values] of Object.entries(given)) program[name].set(values);
  program.loaded();
  return program;
}

// What the entries of a program give of θ: entry => ({theta}) => number. It is made when the first is asked for.
export function asking(make) {
  let program = null;
  return (entry) => (now) => {
    program ??= make();
    program.theta.set(now.theta);
    return program.call(entry);
  };
}

// What data and some values alone decide is computed once, and again where these are others: (data, values) => an object
// to keep it in.
export function kept() {
  const known = new WeakMap();
  return (data, values) => {
    const key = JSON.stringify(values);
    if (known.get(data)?.key !== key) known.set(data, { key, place: {} });
    return known.get(data).place;
  };
}

// One that does not train: its loss, and what is measured.
export const computation = (loss, final) => ({
  size: 1,
  forward: loss,
  lossAndGrad: (theta, grad) => (grad.fill(0), loss()),
  curves: { loss },
  final,
});

// A model of which more is measured: `added` has functions of (the model, data, values, spec) that give curves.
export const measuring = (make, added) => (data, values, context) => {
  const model = make(data, values, context);
  for (const [name, measure] of Object.entries(added)) model.curves[name] = measure(model, data, values, context.spec);
  return model;
};
