// --- chapter 13: a softmax and a Gaussian layer side by side, from one start, on one data set ----------------------

// Tokens and targets are the first numbers of their streams; a token has one target.
datasets.layer = ({ tokens, targets }, { N, n, D }) => ({
  N, n, D, m: 1, X: Float64Array.from(tokens.slice(0, N * n * D)), y: Float64Array.from(targets.slice(0, N * n)),
});

// W^Q, W^K, W^V, W^O are drawn one after the other from one stream; tied: W^K = W^Q.
function layerStart({ stream }, { H, d, scale, tied }, { D, m }) {
  const all = H * D * d, theta = Float64Array.from(stream.slice(0, 3 * all + H * d * m));
  for (let k = 0; k < 3 * all; k++) theta[k] *= scale / Math.sqrt(D);
  for (let k = 3 * all; k < theta.length; k++) theta[k] /= Math.sqrt(d);
  if (tied) theta.copyWithin(all, 0, all);
  return theta;
}

starts.layer = (start, model, values, data) => {
  const theta = layerStart(start, values, data);
  return Float64Array.from([...theta, ...theta]);
};

// What the theorem on the values says of a start: singular values of B, rate α, curvature L.
function valueConstants(layer, theta, { N, n, D, m }, { H, d }) {
  const T = N * n, B = new Float64Array(T * H * D), out = theta.length - H * d * m;
  layer.forward(theta);
  for (let h = 0; h < H; h++)
    for (let k = 0; k < T; k++) B.set(layer.mixed.subarray((h * T + k) * D, (h * T + k + 1) * D), (k * H + h) * D);
  const spectrum = singularValues(B, T, H * D), least = T > H * D ? 0 : spectrum[T - 1];
  const outputs = Array.from({ length: H }, (_, h) => theta.slice(out + h * d * m, out + (h + 1) * d * m));
  const smallest = Math.min(...outputs.map((W) => (m > d ? 0 : singularValues(W, d, m)[m - 1])));
  const largest = Math.max(...outputs.map((W) => singularValues(W, d, m)[0]));
  return { spectrum, least, alpha: (smallest * least) ** 2 / N, L: (largest * spectrum[0]) ** 2 / N };
}

// Both layers take gradient steps of η = lr/L with their own L, or the smaller of the two where not the values alone
// train. Losses are over the first, and 1e-9 where they are less: that is rounding in part. The promise (1 − ηα)^{2t} is
// not there where the theorem has none.
models.layers = function (data, values, { start }) {
  const first = layerStart(start, values, data), size = first.length, { lr, moves } = values;
  const parts = ["softmax", "gaussian"].map((kernel) => {
    const layer = attentionLayer(data, { ...values, kernel }), constants = valueConstants(layer, first, data, values);
    const { alpha, L } = constants, begin = layer.forward(first);
    const promised = moves === "WV" && lr <= 1 && alpha > 0;
    return { kernel, layer, ...constants, begin, loss: begin, rate: lr / L, factor: promised ? (1 - (lr / L) * alpha) ** 2 : NaN };
  });
  const slowest = Math.min(...parts.map((part) => part.rate));
  if (moves !== "WV") for (const part of parts) part.rate = slowest;
  const of = (theta, k) => theta.subarray(k * size, (k + 1) * size);
  const together = (compute) => mean(parts.map((part, k) => (part.loss = compute(part.layer, k))));
  const curves = { loss: () => mean(parts.map((part) => part.loss)) }, lasts = {
    unknowns: () => values.H * data.D,
    equations: () => data.N * data.n,
  };
  for (const part of parts) {
    curves[part.kernel] = () => Math.max(part.loss / part.begin, 1e-9);
    curves[`${part.kernel}_promised`] = ({ step }) => (part.factor >= 0 ? part.factor ** step : NaN);
    lasts[`${part.kernel}_spectrum`] = () => part.spectrum;
    lasts[`${part.kernel}_least`] = () => part.least;
    lasts[`${part.kernel}_guarantee`] = ({ step }) => (part.factor >= 0 ? part.factor ** step : "none");
  }
  lasts.order = () => parts[0].spectrum.map((_, k) => k + 1);
  return {
    size: 2 * size, curves, lasts,
    forward: (theta) => together((layer, k) => layer.forward(of(theta, k))),
    lossAndGrad: (theta, grad) => together((layer, k) => layer.lossAndGrad(of(theta, k), of(grad, k))),
    step: (theta, grad) => parts.forEach(({ rate }, k) => {
      const own = of(theta, k), slope = of(grad, k);
      for (let i = 0; i < size; i++) own[i] -= rate * slope[i];
    }),
  };
};
