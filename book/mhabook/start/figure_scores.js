import { dot } from "mhalib/live/engine/matrices.js";
import { computation } from "mhalib/live/engine/models.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "mhalib/live/figure.js";

// What softmax makes of three scores, no training.

// Weights, their covariance matrix, and the attention mean over the first score with its tangent here.
function scores({ first, read }, { a1, a2, a3, shift, tau }) {
  function weights(all) {
    const divided = all.map((a) => (a + shift) / tau),
      top = Math.max(...divided);
    const e = divided.map((a) => Math.exp(a - top)),
      total = e[0] + e[1] + e[2];
    return e.map((one) => one / total);
  }
  const meanOf = (pi) => dot(pi, read),
    pi = weights([a1, a2, a3]),
    here = meanOf(pi);
  const tilt = (pi[0] * (read[0] - here)) / tau,
    half = 1 / Math.hypot(1, tilt);
  const loss = () => Math.log(1 / pi[0]);
  const final = {
    jacobian: () => pi.map((p, j) => pi.map((q, k) => p * ((j === k) - q))),
    over: () => first.map((a) => meanOf(weights([a, a2, a3]))),
    here: () => [a1],
    here_mean: () => [here],
    tangent: () => [a1 - half, a1 + half],
    tangent_mean: () => [here - half * tilt, here + half * tilt],
    mean: () => here,
    tilt: () => tilt,
    variance: () => pi.reduce((sum, p, j) => sum + p * (read[j] - here) ** 2, 0),
  };
  pi.forEach((p, j) => {
    final[`bar_${j + 1}`] = () => [0, p];
    final[`weight_${j + 1}`] = () => p;
  });
  return computation(loss, final);
}

export default liveFigure({ datasets: { scores: (carried) => carried }, starts: { zeros }, models: { scores } });
