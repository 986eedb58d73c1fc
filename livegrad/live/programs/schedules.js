// Made by `make kernel` from livegrad/live/rule_formulas.py.
const root = Math.sqrt;
const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));
export function program([]) {
const k = new Float64Array(1);
const peak = new Float64Array(1);
const steps = new Float64Array(1);
const rise = new Float64Array(1);
const lr = new Float64Array(1);
const e3 = new Float64Array(1);
const e5 = new Float64Array(1);
const run = {
root() {
lr[0] = (peak[0] / Math.sqrt((k[0] + 1.0)));
return lr[0];
},
warmup() {
lr[0] = (peak[0] * Math.min(((k[0] + 1.0) / rise[0]), 1.0));
return lr[0];
},
cosine() {
lr[0] = ((peak[0] * (1.0 + Math.cos((3.141592653589793 * Math.min((k[0] / steps[0]), 1.0))))) / 2.0);
return lr[0];
},
cycle() {
e3[0] = ((rise[0] * steps[0]) - 1.0);
e5[0] = (peak[0] / 25.0);
lr[0] = ((1.0 - +(+(k[0] <= e3[0]) === 0.0)) ? (e5[0] + (((peak[0] - e5[0]) * k[0]) / e3[0])) : (peak[0] + (((peak[0] / 250000.0) - peak[0]) * Math.min(((k[0] - e3[0]) / ((steps[0] - 1.0) - e3[0])), 1.0))));
return lr[0];
},
};
return { k, peak, steps, rise, lr, loaded() {}, call: (name) => run[name]() };
}
export const numbers = {"rise": 0.1};
