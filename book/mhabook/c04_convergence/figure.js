import { assembled } from "mhalib/live/engine/data.js";
import { norm } from "mhalib/live/engine/matrices.js";
import { multihead } from "mhalib/live/engine/multihead.js";
import { liveFigure } from "mhalib/live/figure.js";

// Many heads in two equal groups, with what the training theorem says of the run.

// S · μ_{y_i} on the ζT tokens of lowest rank, S · ν_{j_it} on the others; mu and nu have norm 1.
function clean(carried, values) {
  const { zeta, S } = values,
    normal = new Float64Array(carried.n * carried.T * carried.d);
  const data = assembled({ ...carried, normal }, { ...values, zeta, sigma: 0 });
  return { ...data, X: data.X.map((x) => S * x), mu: carried.mu.map((x) => S * x), nu: carried.nu.map((x) => S * x) };
}

// The first phase: W = 0 and decoders ± 1 (mean of y x̄)ᵀ.
function firstPhase(start, { size, T, d }, values, { n, X, y }) {
  const theta = new Float64Array(size),
    head = d * d + T * d;
  for (let a = 0; a < d; a++) {
    let sum = 0;
    for (let i = 0; i < n; i++) for (let t = 0; t < T; t++) sum += (y[i] * X[(i * T + t) * d + a]) / (n * T);
    for (let t = 0; t < T; t++) for (const h of [0, 1]) theta[h * head + d * d + t * d + a] = h ? -sum : sum;
  }
  return theta;
}

// H heads, half of them equal to (W_1, U_1) and half to (W_2, U_2): the two heads (W_f, √(H/2) U_f), whose gradients
// are H/2 and √(H/2) times what one of the H heads receives.
class Groups {
  constructor(data, { H, zeta, S, steps }, context) {
    const { T, d } = data;
    this.few = multihead(data, { H: 2 }, context);
    const { size } = this.few;
    Object.assign(this, { data, H, zeta, S, steps, T, d, size, heads: 2, head: size / 2, root: Math.sqrt(H / 2) });
    this.scaled = new Float64Array(size);
    this.known = null;
    this.curves = curvesOf(this);
    this.final = finalOf(this);
  }

  isU(k) {
    return k % this.head >= this.d * this.d;
  }

  inTwo(theta) {
    const { scaled, root, size } = this;
    for (let k = 0; k < size; k++) scaled[k] = this.isU(k) ? root * theta[k] : theta[k];
    return scaled;
  }

  forward(theta) {
    return this.few.forward(this.inTwo(theta));
  }

  lossAndGrad(theta, grad) {
    const loss = this.few.lossAndGrad(this.inTwo(theta), grad),
      { root, size } = this;
    for (let k = 0; k < size; k++) grad[k] /= this.isU(k) ? root : root * root;
    return loss;
  }

  distance(a, b) {
    return Math.sqrt((this.H / 2) * a.reduce((sum, x, k) => sum + (x - b[k]) ** 2, 0));
  }

  steepness(u) {
    const { T, S } = this;
    return Math.sqrt(T) * S * Math.sqrt(1 + (S * S * u) ** 2);
  }

  curvatureAt(u) {
    const { T, S } = this;
    return (Math.sqrt(T) * S ** 3 * (S * S * u + Math.sqrt((S * S * u) ** 2 + 4))) / 2;
  }

  headsNeeded(D, u) {
    return ((64 / 7) * D * D * this.curvatureAt(u)) ** 2;
  }

  // θ*, the witness of the mixture: decoders along μ₊ − μ₋, and W along ± ξ ωᵀ, ξ the sum of all patterns, ω = μ₊ + μ₋.
  witness() {
    const {
        data: { mu, nu },
        H,
        T,
        d,
        S,
        zeta,
        size,
        head,
      } = this,
      M = nu.length / d;
    const pattern = (a) => nu.reduce((sum, x, k) => sum + (k % d === a ? x : 0), 0);
    const onU = zeta * S * Math.sqrt(T / 2);
    const onW = (zeta * zeta * (1 - zeta) * T * S ** 4) / (2 * Math.sqrt(2 * (M + 2)));
    const along = new Float64Array(size),
      length = Math.sqrt((onU * onU + onW * onW) * H);
    for (let k = 0; k < size; k++) {
      const h = Math.floor(k / head),
        at = k % head,
        a = at % d,
        b = Math.floor(at / d) % d;
      along[k] = this.isU(k)
        ? (onU * (mu[d + a] - mu[a])) / (S * Math.sqrt(2 * T)) / length
        : ((h ? -onW : onW) * (mu[b] + mu[d + b] + pattern(b)) * (mu[a] + mu[d + a])) /
          (S * S * Math.sqrt(2 * (M + 2))) /
          length;
    }
    return along;
  }

  // ⟨∇Φ(X_i; θ), V⟩ at W = 0, where attention is uniform: Σ_t ⟨a_t, x̄⟩ + Cov(X u_t, X V_Wᵀ x_t), summed over heads.
  slopeOfLogit(i, theta, V) {
    const {
        data: { X },
        H,
        T,
        d,
        head,
      } = this,
      token = (t, a) => X[(i * T + t) * d + a];
    let total = 0;
    for (let h = 0; h < 2; h++)
      for (let t = 0; t < T; t++) {
        let [v, q, vq, read] = [0, 0, 0, 0];
        for (let j = 0; j < T; j++) {
          let [vj, qj] = [0, 0];
          for (let a = 0; a < d; a++) {
            const at = h * head + d * d + t * d + a;
            vj += theta[at] * token(j, a);
            read += V[at] * token(j, a);
            for (let b = 0; b < d; b++) qj += token(t, b) * V[h * head + b * d + a] * token(j, a);
          }
          [v, q, vq] = [v + vj / T, q + qj / T, vq + (vj * qj) / T];
        }
        total += read / T + vq - v * q;
      }
    return (Math.sqrt(H) / 2) * total;
  }

  // At W = 0 a logit is (√H/2) ⟨U_1 + U_2, 1x̄ᵀ⟩.
  logitAtStart(i, theta) {
    const {
      data: { X },
      H,
      T,
      d,
      head,
    } = this;
    let sum = 0;
    for (let t = 0; t < T; t++)
      for (let k = 0; k < T * d; k++)
        sum += ((theta[d * d + t * d + (k % d)] + theta[head + d * d + t * d + (k % d)]) * X[i * T * d + k]) / T;
    return (Math.sqrt(H) / 2) * sum;
  }

  // The reference θ₀ + D₀θ* for K steps, and the numbers of the theorem; once for each start.
  theorem({ first, theta: now }) {
    if (this.known) return this.known;
    const {
        data: { n, y },
        H,
        d,
        head,
        size,
        steps,
      } = this,
      along = this.witness(),
      logits = [],
      slopes = [];
    const startLoss = this.forward(first);
    for (let i = 0; i < n; i++) {
      slopes.push(y[i] * this.slopeOfLogit(i, first, along));
      logits.push(Math.abs(this.logitAtStart(i, first)));
    }
    const gamma = Math.min(...slopes),
      D0 = (Math.max(...logits) + 0.5 + Math.log(steps)) / gamma;
    const theta = first.map((x, k) => x + D0 * along[k]),
      u0 = norm(first.subarray(d * d, head));
    const rho = this.steepness(u0 + (5 * D0) / Math.sqrt(H)) ** 2 / 4 + this.curvatureAt(u0 + 5 * D0) / Math.sqrt(H);
    const loss = this.forward(theta);
    const largest = Math.min(1 / rho, (D0 * D0) / (steps * loss), (D0 * D0) / startLoss);
    this.lossAndGrad(now, new Float64Array(size)); // what is measured next is measured of the run
    this.known = { theta, D0, gamma, u0, loss, startLoss, largest };
    return this.known;
  }
}

const curvesOf = (model) => ({
  ...model.few.curves,
  loss: (now) => now.loss,
  guarantee: (now) => {
    const { D0, loss, startLoss } = model.theorem(now);
    return (2 * D0 * D0) / (3 * now.lr * now.step) + (5 * loss) / 3 + startLoss / (3 * now.step);
  },
  from_start: (now) => model.distance(now.theta, now.first),
  from_reference: (now) => model.distance(now.theta, model.theorem(now).theta),
  limit: (now) => 3 * model.theorem(now).D0,
});

const GRID = Array.from({ length: 31 }, (_, k) => 10 ** (k / 15));

function finalOf(model) {
  const { S } = model,
    final = {
      distance: (now) => model.theorem(now).D0,
      margin: (now) => model.theorem(now).gamma,
      largest_step: (now) => model.theorem(now).largest,
      heads_needed: (now) =>
        model.headsNeeded(model.theorem(now).D0, model.theorem(now).u0 + 5 * model.theorem(now).D0),
      fewer_heads_needed: (now) => model.headsNeeded(model.theorem(now).D0, model.theorem(now).u0 + 0.5 / (S * S)),
      grid: () => GRID,
      heads_line: (now) => GRID.map((D) => model.headsNeeded(D, model.theorem(now).u0 + 5 * D)),
      fewer_line: (now) => GRID.map((D) => model.headsNeeded(D, model.theorem(now).u0 + 0.5 / (S * S))),
      asked_at: (now) => [model.theorem(now).D0, model.theorem(now).D0],
      asked: (now) => [final.heads_needed(now), final.fewer_heads_needed(now)],
      run_line: () => GRID.map(() => model.H),
    };
  return final;
}

export default liveFigure({
  datasets: { clean },
  starts: { first_phase: firstPhase },
  models: { groups: (data, values, context) => new Groups(data, values, context) },
});
