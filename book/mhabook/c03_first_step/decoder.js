import { program } from "./program.js";

// The program of one head with W = 0 on these data.
export function headOn({ n, T, d, X, y }) {
  const head = program([n, T, d]);
  head.X.set(X);
  head.y.set(y);
  return head;
}

// Its decoder becomes zero, that of a first phase, or Gaussian of the same norm.
export function decoder(head, kind, { stream, sign }) {
  head.U.set(stream);
  head.sign[0] = sign;
  if (kind === "zero") head.U.fill(0);
  else head.call(kind);
  return head.U;
}
