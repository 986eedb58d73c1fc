import { program as gaussian } from "../programs/gaussian.js";
import { hex as gaussianBytes } from "../programs/gaussian.wasm";
import { program as normalized } from "../programs/normalized.js";
import { hex as normalizedBytes } from "../programs/normalized.wasm";
import { program as softmax } from "../programs/softmax.js";
import { hex as softmaxBytes } from "../programs/softmax.wasm";
import { programOf } from "../programs.js";

const PROGRAMS = {
  softmax: programOf(softmaxBytes, softmax),
  gaussian: programOf(gaussianBytes, gaussian),
  normalized: programOf(normalizedBytes, normalized),
};

// One layer of attention with queries, keys, values and outputs apart, by one of three kernels.

// data = {N, n, D, m, X (N, n, D), y (N, n, m)}; values = {H, d, kernel, c, moves}, where the kernel is "softmax",
// "gaussian" (weights not divided by their sum) or "normalized" (Gaussian weights divided by their sum), and
// `moves` names the weights that have a gradient: "WQ WK WV WO" or fewer. θ holds W^Q, W^K, W^V (H, D, d) and W^O
// (H, d, m), as `AttentionLayer` does. `weights` S (N, H, n, n) and `mixed` B (N n, H D) are those of the last `forward`.
export class AttentionLayer {
  constructor({ N, n, D, m, X, y }, { H, d, kernel, c = 0.5, moves }) {
    this.program = PROGRAMS[kernel]([N, n, D, m, H, d, c]);
    this.program.X.set(X);
    this.program.y.set(y);
    this.program.loaded();
    this.weights = this.program.weights;
    this.mixed = this.program.mixed;
    this.size = this.program.theta.length;
    const held = { WQ: 0, WK: 1, WV: 2, WO: 3 };
    for (const name of moves.split(" ")) delete held[name];
    const one = H * D * d,
      end = (k) => (k < 3 ? (k + 1) * one : this.size);
    this.held = Object.values(held).map((k) => [k * one, end(k)]);
  }

  run(name, theta) {
    this.program.theta.set(theta);
    return this.program.call(name);
  }

  forward(theta) {
    return this.run("forward", theta);
  }

  // Those of the weights that do not move are zero.
  moving(from, to) {
    to.set(from);
    for (const [begin, end] of this.held) to.fill(0, begin, end);
  }

  lossAndGrad(theta, grad) {
    const loss = this.run("gradient", theta);
    this.moving(this.program.slope, grad);
    return loss;
  }

  // ∇²f(θ) V among the weights that move.
  hvp(theta, V, out) {
    this.moving(V, this.program.direction);
    this.run("product", theta);
    this.moving(this.program.along, out);
  }
}
