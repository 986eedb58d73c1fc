// --- several runs of a regression side by side: θ holds the parameters of one after the other -----------------------

// Each part is {name, decides, data, model, values, instance}, the last for its start. Curves are means over the parts
// of one name, loss_NAME, excess_NAME, …, and over those that decide, loss, excess, …: when their loss is not finite,
// the run ends. A curve has no number where another part's loss is not finite.
function sideBySide(parts) {
  const { size } = parts[0].model, of = (all, k) => all.subarray(k * size, (k + 1) * size);
  const steps = parts.map(({ model, values }) => structured[values.optimizer](values, model));
  const losses = new Float64Array(parts.length), deciding = parts.flatMap(({ decides }, k) => (decides ? [k] : []));

  function lossAndGrad(theta, grad) {
    parts.forEach(({ model }, k) => (losses[k] = model.lossAndGrad(of(theta, k), of(grad, k))));
    return mean(deciding.map((k) => losses[k]));
  }

  const averaged = (measure, members) => (now) =>
    mean(members.map((k) => Number.isFinite(losses[k])
      ? parts[k].model.curves[measure]({ ...now, theta: of(now.theta, k), loss: losses[k] }) : NaN));
  const curves = {};
  for (const measure of Object.keys(parts[0].model.curves)) curves[measure] = averaged(measure, deciding);
  for (const { name, model } of parts) {
    const members = parts.flatMap((part, k) => (part.name === name ? [k] : []));
    for (const measure of Object.keys(model.curves)) curves[`${measure}_${name}`] = averaged(measure, members);
  }
  return {
    parts, size: parts.length * size, lossAndGrad, curves, lasts: {},
    forward: (theta) => lossAndGrad(theta, new Float64Array(theta.length)),
    step: (theta, grad, k) => steps.forEach((step, part) => step(of(theta, part), of(grad, part), k)),
  };
}

starts.side_by_side = ({ streams }, { parts }, values) => Float64Array.from(parts.flatMap(({ data, model, instance }) =>
  [...starts.regression({ stream: streams[instance] }, model, values, data)]));

// Chapter 10: the chosen rule, and plain descent from the same start on the same tokens.
models.descent = ({ instances: [data] }, values) => sideBySide(["chosen", "plain"].map((name) => {
  const decides = name === "chosen", rule = decides ? values : { optimizer: "gd", lr: values.plain_lr, share: 1 };
  return { name, decides, data, model: models.regression(data), values: rule, instance: 0 };
}));

// Chapter 11: for every instance the same run on its first tokens, for several numbers n of them, and in the limit of
// infinitely many from the start of the largest n.
models.data_and_compute = ({ instances }, values) => {
  const { sizes } = values, limits = [];
  const parts = sizes.flatMap((n) => instances.map((whole, instance) => {
    const data = firstTokens(whole, n), limit = models.population(whole);
    if (n === sizes[0]) limits.push({ name: "limit", decides: false, data, model: limit, values, instance });
    return { name: n, decides: true, data, model: models.regression(data), values, instance };
  }));
  const all = sideBySide([...parts, ...limits]), { d, sigma, singular: s } = instances[0];
  const C = (sigma ** 2 * d ** 2 + (d * mean(s)) ** 2 + dot(s, s)) / 2;
  const lasts = {
    sizes: () => sizes,
    finals: (now) => sizes.map((n) => all.curves[`excess_${n}`](now)),
    predicted: () => sizes.map((n) => C / n),
  };
  return { ...all, lasts };
};
