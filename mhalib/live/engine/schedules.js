// --- schedules of the step size: functions of the step k = 0, 1, …, as mhalib.optim.schedules has them --------------

export const schedules = {
  constant: (peak) => peak,
  root: (peak) => (k) => peak / Math.sqrt(k + 1),
  warmup: (peak, steps) => (k) => peak * Math.min((k + 1) / Math.floor(steps / 10), 1),
  cosine: (peak, steps) => (k) => (peak * (1 + Math.cos(Math.PI * Math.min(k / steps, 1)))) / 2,

  // Up for a tenth of the steps, and down.
  cycle: (peak, steps) => (k) => {
    const top = 0.1 * steps - 1,
      last = steps - 1,
      low = peak / 25,
      end = peak / 250000;
    return k <= top ? low + ((peak - low) * k) / top : peak + (end - peak) * Math.min((k - top) / (last - top), 1);
  },
};
