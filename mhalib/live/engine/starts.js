// The first parameters. Each is a function of (what the description says, the model, the values, the data).

export const zeros = (start, model) => new Float64Array(model.size);

// scale · N(0, 1) from one stream: first all of W, then all of U, as MultiHeadAttention.random draws them.
export function normal({ stream }, { heads, T, d, size }, { scale }) {
  const theta = new Float64Array(size),
    head = d * d + T * d;
  for (let h = 0; h < heads; h++) {
    for (let k = 0; k < d * d; k++) theta[h * head + k] = scale * stream[h * d * d + k];
    for (let k = 0; k < T * d; k++) theta[h * head + d * d + k] = scale * stream[heads * d * d + h * T * d + k];
  }
  return theta;
}
