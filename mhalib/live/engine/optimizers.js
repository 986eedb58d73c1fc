// --- update rules: θ changes in place ------------------------------------------------------------------------

// The step size of step k, for a number or a function of the step.
export const rate = (lr, k) => (typeof lr === "function" ? lr(k) : lr);

export const optimizers = {
  gd:
    ({ lr }) =>
    (theta, grad, k) => {
      const eta = rate(lr, k);
      for (let i = 0; i < theta.length; i++) theta[i] -= eta * grad[i];
    },

  momentum: ({ lr, beta = 0.9 }, size) => {
    const m = new Float64Array(size);
    return (theta, grad, k) => {
      const eta = rate(lr, k);
      for (let i = 0; i < size; i++) theta[i] -= eta * (m[i] = beta * m[i] + grad[i]);
    };
  },

  adam: ({ lr, beta1 = 0.9, beta2 = 0.999, eps = 1e-8 }, size) => {
    const m = new Float64Array(size),
      v = new Float64Array(size);
    return (theta, grad, k) => {
      const eta = rate(lr, k),
        c1 = 1 - beta1 ** (k + 1),
        c2 = 1 - beta2 ** (k + 1);
      for (let i = 0; i < size; i++) {
        m[i] = beta1 * m[i] + (1 - beta1) * grad[i];
        v[i] = beta2 * v[i] + (1 - beta2) * grad[i] * grad[i];
        theta[i] -= eta * (m[i] / c1 / (Math.sqrt(v[i] / c2) + eps));
      }
    };
  },

  // Adam's step from (1 − ηλ) θ.
  adamw: ({ lr, decay, weight_decay = decay, ...rest }, size) => {
    const adam = optimizers.adam({ lr, ...rest }, size);
    return (theta, grad, k) => {
      const shrink = rate(lr, k) * weight_decay;
      for (let i = 0; i < size; i++) theta[i] -= shrink * theta[i];
      adam(theta, grad, k);
    };
  },
};
