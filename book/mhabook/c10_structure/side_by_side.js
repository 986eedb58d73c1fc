import { mean } from "livegrad/live/engine/matrices.js";
import { regressionStart } from "mhabook/live/engine/regression.js";
import { structured } from "mhabook/live/engine/structured.js";

// Several runs of a regression side by side: θ holds the parameters of one after the other.

// Each part is {name, decides, data, model, values, instance}, the last for its start. Curves are means over the parts
// of one name, loss_NAME, excess_NAME, …, and over those that decide, loss, excess, …: when their loss is not finite,
// the run ends. A curve has no number where another part's loss is not finite.
export function sideBySide(parts) {
  const { size } = parts[0].model,
    of = (all, k) => all.subarray(k * size, (k + 1) * size);
  const steps = parts.map(({ model, values }) => structured[values.optimizer](values, model));
  const losses = new Float64Array(parts.length),
    deciding = parts.flatMap(({ decides }, k) => (decides ? [k] : []));

  function lossAndGrad(theta, grad) {
    parts.forEach(({ model }, k) => (losses[k] = model.lossAndGrad(of(theta, k), of(grad, k))));
    return mean(deciding.map((k) => losses[k]));
  }

  const averaged = (measure, members) => (now) =>
    mean(
      members.map((k) =>
        Number.isFinite(losses[k])
          ? parts[k].model.curves[measure]({ ...now, theta: of(now.theta, k), loss: losses[k] })
          : NaN,
      ),
    );
  const curves = {};
  for (const measure of Object.keys(parts[0].model.curves)) curves[measure] = averaged(measure, deciding);
  for (const { name, model } of parts) {
    const members = parts.flatMap((part, k) => (part.name === name ? [k] : []));
    for (const measure of Object.keys(model.curves)) curves[`${measure}_${name}`] = averaged(measure, members);
  }
  return {
    parts,
    size: parts.length * size,
    lossAndGrad,
    curves,
    final: {},
    forward: (theta) => lossAndGrad(theta, new Float64Array(theta.length)),
    step: (theta, grad, k) => steps.forEach((step, part) => step(of(theta, part), of(grad, part), k)),
  };
}

export const sideBySideStart = ({ streams }, { parts }, values) =>
  Float64Array.from(
    parts.flatMap(({ data, model, instance }) => [
      ...regressionStart({ stream: streams[instance] }, model, values, data),
    ]),
  );
