import { filled } from "./engine/models.js";

// The formulas of the models (formulas.py) as programs that `make kernel` has made: WebAssembly and, some
// five times slower, plain JavaScript for where a browser cannot or may not run it.
//
// From the bytes of a program `makeProgram` makes (sizes) => { its arrays by name, loaded(), call(name) }: write the
// arrays that go in, call `loaded` where they have an axis of samples, call a function, which gives its first number,
// read what comes out. Either function returns null where there is no WebAssembly, or the sizes do not fit.
export function makeProgram(bytes) {
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
  function problem(sizes) {
    if (!sizes.every((size) => size > 0 && size <= 65536)) return null;
    const run = orNull(() => new WebAssembly.Instance(module).exports);
    if (!run?.grow(1024)) return null;
    const [at, begin] = [64, 192].map((after) => run.heap() - (run.heap() % 64) + after);
    new Float64Array(run.memory.buffer, at, sizes.length).set(sizes);
    if (!run.grow(run.layout(begin, at) + 1024)) return null; // too large for its memory
    // Only now: growing the memory cuts off the arrays that look into it.
    const view = (name) => new Float64Array(run.memory.buffer, begin + run[`place_${name}`](), run[`length_${name}`]());
    const names = Object.keys(run).flatMap((key) => (key.startsWith("place_") ? [key.slice(6)] : []));
    return {
      ...Object.fromEntries(names.map((name) => [name, view(name)])),
      loaded: () => run.loaded(begin, at),
      call: (name) => run[name](begin, at),
    };
  }

  return module && problem;
}

// The same from its bytes in hexadecimal digits and from the plain program, whichever runs here.
export function programOf(hex, plain) {
  let made; // compiled at the first call
  return (sizes) => {
    made ??= { compiled: makeProgram(Uint8Array.from(hex.match(/../g), (digits) => parseInt(digits, 16))) };
    return (made.compiled && made.compiled(sizes)) ?? plain(sizes);
  };
}

// A model that is a program: it is given arrays, and takes θ and a direction.
export class ProgramModel {
  constructor(program, given) {
    this.program = filled(program, given);
    this.size = program.theta.length;
  }

  run(name, theta) {
    this.program.theta.set(theta);
    return this.program.call(name);
  }

  forward(theta) {
    return this.run("forward", theta);
  }

  lossAndGrad(theta, grad) {
    const loss = this.run("gradient", theta);
    grad.set(this.program.slope);
    return loss;
  }

  // ∇²f(θ) V.
  hvp(theta, V, out) {
    this.program.direction.set(V);
    this.run("product", theta);
    out.set(this.program.along);
  }
}
