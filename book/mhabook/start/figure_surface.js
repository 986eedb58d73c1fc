import { liveFigure } from "livegrad/live/figure.js";

// Gradient descent on a loss of two numbers.

// f = ½ λ₁u² + ½ λ₂v², or with (1 + cos πv) |λ₂|/π² in v if λ₂ < 0; (u, v) along the direction of λ₁ and across.
function surface(data, values) {
  const { first, low, angle } = values,
    [c, s] = data.directions[angle],
    visited = [];
  const height = (u, v) =>
    (first * u * u) / 2 + (low >= 0 ? (low * v * v) / 2 : (-low / Math.PI ** 2) * (1 + Math.cos(Math.PI * v)));
  const lossAt = (x, y) => height(c * x + s * y, c * y - s * x);

  function lossAndGrad(theta, grad) {
    const [x, y] = theta,
      u = c * x + s * y,
      v = c * y - s * x;
    const du = first * u,
      dv = low >= 0 ? low * v : (low / Math.PI) * Math.sin(Math.PI * v);
    grad[0] = c * du - s * dv;
    grad[1] = s * du + c * dv;
    return height(u, v);
  }

  const curves = {
    loss: ({ theta, loss }) => {
      visited.push(theta.slice());
      return Math.max(loss, 1e-12);
    },
  };
  const final = finalOf(data, values, visited, lossAt);
  return { size: 2, forward: (theta) => lossAt(theta[0], theta[1]), lossAndGrad, curves, final };
}

function finalOf({ directions, at, along, rates }, { first, low, angle, lr, q1, q2 }, visited, lossAt) {
  const [c, s] = directions[angle],
    factor = (curvature) => Math.abs(1 - lr * curvature),
    axis = (x) => [-2 * x, 2 * x];

  // The path up to the first point outside of the square.
  function seen() {
    const outside = visited.findIndex((theta) => theta.some((x) => Math.abs(x) > 3));
    return outside < 0 ? visited : visited.slice(0, outside + 1);
  }
  return {
    surface: () => at.map((y) => at.map((x) => Math.sqrt(lossAt(x, y)))),
    path_1: () => seen().map((theta) => theta[0]),
    path_2: () => seen().map((theta) => theta[1]),
    start_1: () => [q1],
    start_2: () => [q2],
    steep_1: () => axis(c),
    steep_2: () => axis(s),
    flat_1: () => axis(-s),
    flat_2: () => axis(c),
    along_steep: () => along.map((t) => lossAt(c * t, s * t)),
    along_flat: () => along.map((t) => lossAt(-s * t, c * t)),
    factors_flat: () => rates.map((rate) => Math.abs(1 - rate * low)),
    here: () => [lr, lr],
    factors: () => [factor(first), factor(low)],
    factor_steep: () => factor(first),
    factor_flat: () => factor(low),
    kappa: () => (low > 0 ? first / low : "none, at a saddle"),
  };
}

export default liveFigure({
  datasets: { surface: (carried) => carried },
  starts: { surface: (start, model, { q1, q2 }) => Float64Array.of(q1, q2) },
  models: { surface },
});
