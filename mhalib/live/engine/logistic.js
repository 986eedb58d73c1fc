// --- the logistic loss of a margin --------------------------------------------------------------------------

export const logistic = (z) => Math.max(-z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
export const slope = (z) => -Math.exp(-z - logistic(z));
export const curvature = (z) => slope(z) * slope(-z);
