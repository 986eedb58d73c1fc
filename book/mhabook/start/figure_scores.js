import { computation, filled } from "livegrad/live/engine/models.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";
import { program } from "./program_scores.js";

// What softmax makes of three scores, no training.
function scores({ first }, { a1, a2, a3, shift, tau }) {
  const found = filled(program([first.length]), { s1: [a1], s2: [a2], s3: [a3], shift: [shift], tau: [tau], first });
  found.call("scores");
  const { loss, weights, jacobian, over, mean, tilt, variance, tangent, tangent_mean } = found;
  const final = {
    jacobian: () => [0, 3, 6].map((at) => [...jacobian.subarray(at, at + 3)]),
    over: () => [...over],
    here: () => [a1],
    here_mean: () => [mean[0]],
    tangent: () => [...tangent],
    tangent_mean: () => [...tangent_mean],
    mean: () => mean[0],
    tilt: () => tilt[0],
    variance: () => variance[0],
  };
  weights.forEach((weight, j) => {
    final[`bar_${j + 1}`] = () => [0, weight];
    final[`weight_${j + 1}`] = () => weight;
  });
  return computation(() => loss[0], final);
}

export default liveFigure({ datasets: { scores: (carried) => carried }, starts: { zeros }, models: { scores } });
