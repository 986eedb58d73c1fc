import { numbers, program } from "../programs/schedules.js";

// --- the step size as a function of the step, by a schedule of livegrad.optim.schedules ---------------------------------

export function schedule(name, values) {
  const arrays = program([]);
  for (const key of ["peak", "steps", "rise"]) arrays[key][0] = values[key] ?? numbers[key];
  return (k) => {
    arrays.k[0] = k;
    return arrays.call(name);
  };
}
