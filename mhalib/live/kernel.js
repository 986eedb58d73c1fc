import { base64 } from "./kernel.wasm";

// Loss, gradient and Hessian-vector product of the multi-head classifier by kernel.wasm, some ten times faster than
// the engine's JavaScript.
//
// From the bytes of kernel.wasm `makeKernel` makes (X, y, {n, T, d, H}) => { theta, … }: write `theta`, call
// `lossAndGrad()`, read `grad`; or write `direction`, call `hvp()`, read `product`; or write `relevant`, which is 0
// before, and call `attentionScore()`. Where the browser cannot or may not run them, either function returns null; the
// caller computes without.
export function makeKernel(bytes) {
  // Old browsers know no SIMD, some forbid compiling outside of a Worker, and a page's security policy may forbid it
  // everywhere; address space runs out with the number of problems alive. All of them throw.
  const orNull = (make) => {
    try {
      return make();
    } catch {
      return null;
    }
  };
  const module = orNull(() => new WebAssembly.Module(bytes));

  // Each problem has an instance of its own, and thereby a memory of its own.
  function problem(X, y, { n, T, d, H }) {
    const kernel = orNull(() => new WebAssembly.Instance(module).exports);
    if (!kernel?.prepare(n, T, d, H)) return null; // too large for its memory
    // Only now: growing the memory cuts off the arrays that look into it.
    const view = (start, length) => new Float64Array(kernel.memory.buffer, start, length);
    view(kernel.tokens(), n * T * d).set(X);
    view(kernel.labels(), n).set(y);
    kernel.loaded();
    const size = H * (d * d + T * d);
    return {
      theta: view(kernel.theta(), size),
      grad: view(kernel.gradient(), size),
      lossAndGrad: kernel.loss_and_grad,
      direction: view(kernel.direction(), size),
      product: view(kernel.product(), size),
      hvp: kernel.hessian_vector,
      relevant: view(kernel.relevant(), n * T),
      attentionScore: kernel.attention_score,
    };
  }

  return module && problem;
}

let kernel; // compiled at the first call

// The committed kernel with this problem, or null.
export function compiled(X, y, sizes) {
  if (kernel === undefined) kernel = makeKernel(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
  return kernel && kernel(X, y, sizes);
}
