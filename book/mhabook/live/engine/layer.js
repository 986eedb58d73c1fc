import { program as gaussian } from "../programs/gaussian.js";
import { hex as gaussianBytes } from "../programs/gaussian.wasm";
import { program as normalized } from "../programs/normalized.js";
import { hex as normalizedBytes } from "../programs/normalized.wasm";
import { program as softmax } from "../programs/softmax.js";
import { hex as softmaxBytes } from "../programs/softmax.wasm";
import { ProgramModel, programOf } from "livegrad/live/programs.js";

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
export class AttentionLayer extends ProgramModel {
  constructor({ N, n, D, m, X, y }, { H, d, kernel, c = 0.5, moves }) {
    super(PROGRAMS[kernel]([N, n, D, m, H, d, c]), { X, y });
    this.weights = this.program.weights;
    this.mixed = this.program.mixed;
    const held = { WQ: 0, WK: 1, WV: 2, WO: 3 };
    for (const name of moves.split(" ")) delete held[name];
    const one = H * D * d,
      end = (k) => (k < 3 ? (k + 1) * one : this.size);
    this.held = Object.values(held).map((k) => [k * one, end(k)]);
  }

  // Those of the weights that do not move are zero.
  moving(vector) {
    for (const [begin, end] of this.held) vector.fill(0, begin, end);
    return vector;
  }

  lossAndGrad(theta, grad) {
    const loss = super.lossAndGrad(theta, grad);
    this.moving(grad);
    return loss;
  }

  // Among the weights that move.
  hvp(theta, V, out) {
    super.hvp(theta, this.moving(V.slice()), out);
    this.moving(out);
  }
}
