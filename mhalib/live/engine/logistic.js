// --- the logistic loss of a margin --------------------------------------------------------------------------

const logistic = (z) => Math.max(-z, 0) + Math.log1p(Math.exp(-Math.abs(z)));
const slope = (z) => -Math.exp(-z - logistic(z));
const curvature = (z) => slope(z) * slope(-z);
