import { program } from "../programs/heads.js";
import { hex } from "../programs/heads.wasm";
import { programOf } from "livegrad/live/programs.js";
import { dot, mean, norm } from "livegrad/live/engine/matrices.js";
import { filled } from "livegrad/live/engine/models.js";

const programs = programOf(hex, program);

// The program of this problem: write `theta`, call("gradient"), which gives the loss, read `slope`; or call("forward"),
// read `score`, `accuracy`, `logits`; or call("attention"), read `A` (n, H, T, T); or call("point") and `loaded()`, and for each direction write
// `direction`, call("product"), read `along`.
export const headsProgram = ({ n, T, d, X, y, relevant }, H) =>
  filled(programs([n, T, d, H]), { X, y, ...(relevant && { relevant }) });

// The multi-head classifier Φ = H^{−1/2} Σ_h ⟨U_h, softmax(X W_h Xᵀ) X⟩; θ holds W_1, U_1, …, W_H, U_H, each row by row.
// Heads that start at zero stay equal: with `shortcut` one head is computed and counted H times. So do those of each of
// `groups` equally large ones that start equal.
export function multihead(data, { H, shortcut, groups = H, sample }, { start }) {
  return new MultiHead(data, H, shortcut && start.kind === "zeros" ? 1 : groups, sample);
}

class MultiHead {
  constructor(data, H, heads, sample = 0) {
    const { n, T, d, X, y, relevant } = data,
      head = d * d + T * d,
      size = heads * head;
    Object.assign(this, { n, T, d, X, y, relevant, H, heads, head, size, copies: H / heads });
    this.program = headsProgram(data, heads);
    // Copies enter the program as one head whose decoder is √H longer.
    const root = Math.sqrt(this.copies),
      scaled = (ofW, ofU) => Float64Array.from({ length: size }, (_, k) => (k % head < d * d ? ofW : ofU));
    [this.toOne, this.fromOne] = [scaled(1, root), scaled(1 / this.copies, 1 / root)];
    this.curves = curvesOf(this);
    this.final = finalOf(this, sample);
  }

  run(name, theta) {
    for (let k = 0; k < this.size; k++) this.program.theta[k] = theta[k] * this.toOne[k];
    this.said = null;
    return this.program.call(name);
  }

  // The program after an entry at the θ of a moment, asked once for all that is measured then.
  at(now, name) {
    if (this.said?.now !== now || this.said.name !== name) this.run(name, now.theta);
    this.said = { now, name };
    return this.program;
  }

  // The mean loss.
  forward(theta) {
    this.run("forward", theta);
    return this.program.loss[0];
  }

  lossAndGrad(theta, grad) {
    const loss = this.run("gradient", theta);
    for (let k = 0; k < this.size; k++) grad[k] = this.program.slope[k] * this.fromOne[k];
    return loss;
  }

  // V ↦ ∇²L(θ) V at the θ of the last call, for many V: what they all ask of θ is kept until the next one.
  hessian() {
    if (this.copies > 1) throw new Error("the Hessian of equal heads has more directions than one head shows");
    const { program } = this;
    program.call("point");
    program.loaded();
    return (V, out) => {
      program.direction.set(V);
      program.call("product");
      out.set(program.along);
    };
  }
}

// What can be recorded at a step, after `lossAndGrad(theta)`.
function curvesOf(model) {
  const measured = (entry, name) => (now) => model.at(now, entry)[name][0];
  return {
    loss: (now) => now.loss,
    grad_norm: (now) => norm(now.grad) * Math.sqrt(model.copies),
    accuracy: measured("forward", "accuracy"),
    attention_score: measured("forward", "score"),
    norm_W: measured("norms", "norm_W"),
    norm_U: measured("norms", "norm_U"),
  };
}

// What is measured of the last model alone: the attention of one sample, averaged over heads,
// its tokens, and the part of its attention that is on the relevant ones.
function finalOf(model, sample) {
  const { T, heads, relevant } = model,
    many = (count, entry) => Array.from({ length: count }, (_, k) => entry(k));
  const weights = (now) => {
    const { A } = model.at(now, "attention"),
      weight = (t, j) => mean(many(heads, (h) => A[((sample * heads + h) * T + t) * T + j]));
    return many(T, (t) => many(T, (j) => weight(t, j)));
  };
  const stars = relevant?.subarray(sample * T, (sample + 1) * T);
  return {
    attention: weights,
    token_names: () => many(T, (t) => (stars[t] ? `${t}★` : `${t}`)),
    sample_score: (now) => mean(weights(now).map((row) => dot(row, stars))),
  };
}
