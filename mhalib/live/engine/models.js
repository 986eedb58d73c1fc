// --- models and what is measured of them -----------------------------------------------------------------------

// The parameters are one flat array θ. A model of (data, values, {start}) is {size, forward(θ) → loss,
// lossAndGrad(θ, grad) → loss, curves, lasts}, what its start asks for (heads, T, d), and, for the curves of the
// spectrum, hvp(V, out); and step(θ, grad, k), if it moves by rules of its own and not by one of `optimizers`. A figure
// for another model adds it to `models` in a file of this folder.
const models = {};

// One that does not train: its loss, and what is measured.
const computation = (loss, lasts) =>
  ({ size: 1, forward: loss, lossAndGrad: (theta, grad) => (grad.fill(0), loss()), curves: { loss }, lasts });

// Model → measure → function of (the model's inside, data, values, spec) that gives a function of
// {theta, first, grad, loss, step, lr, model}: what a chapter measures besides the model's own curves.
const measured = {};
