// --- numpy's random numbers: default_rng(seed), seed a list of whole numbers below 2³² -----------------------------

// The same streams as numpy's Generator on PCG64, number by number, so that a page carries no draws: the sliders can
// ask for any seed and any size. After numpy.random (Copyright (c) NumPy Developers, BSD-3-Clause,
// https://numpy.org/doc/stable/license.html) and PCG64 (Copyright (c) M. E. O'Neill, MIT), written anew.

const WORD = 0xffffffffn,
  WIDE = (1n << 64n) - 1n,
  LONG = (1n << 128n) - 1n;
const MULTIPLIER = 0x2360ed051fc65da44385df649fccf645n;

// SeedSequence: four words of state, twice over, from the words of the entropy.
function seedWords(entropy, count) {
  const INIT_A = 0x43b0d7e5,
    MULT_A = 0x931e8875,
    INIT_B = 0x8b51f9dd,
    MULT_B = 0x58f38ded;
  const MIX_L = 0xca01f9dd,
    MIX_R = 0x4973f715;
  let hash = INIT_A;
  function hashed(value) {
    value = (value ^ hash) >>> 0;
    hash = Math.imul(hash, MULT_A) >>> 0;
    value = Math.imul(value, hash) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  }
  function mixed(x, y) {
    const result = (Math.imul(x, MIX_L) - Math.imul(y, MIX_R)) >>> 0;
    return (result ^ (result >>> 16)) >>> 0;
  }
  const pool = [0, 1, 2, 3].map((k) => hashed(entropy[k] ?? 0));
  for (let from = 0; from < 4; from++)
    for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
  for (const word of entropy.slice(4)) for (let to = 0; to < 4; to++) pool[to] = mixed(pool[to], hashed(word));
  hash = INIT_B;
  return Array.from({ length: count }, (_, k) => {
    let value = (pool[k % 4] ^ hash) >>> 0;
    hash = Math.imul(hash, MULT_B) >>> 0;
    value = Math.imul(value, hash) >>> 0;
    return (value ^ (value >>> 16)) >>> 0;
  });
}

// The ziggurat of Marsaglia and Tsang with 256 layers, in numpy's scaling: x = r · w[layer] inside if r < k[layer].
const ZIGGURAT = (() => {
  const R = 3.6541528853610088,
    V = 0.004928673233974655,
    M = 2 ** 52,
    density = (x) => Math.exp(-0.5 * x * x);
  const k = new Float64Array(256),
    w = new Float64Array(256),
    f = new Float64Array(256);
  let edge = R,
    above = R;
  const q = V / density(R);
  [k[0], k[1], w[0], w[255], f[0], f[255]] = [Math.floor((R / q) * M), 0, q / M, R / M, 1, density(R)];
  for (let i = 254; i >= 1; i--) {
    edge = Math.sqrt(-2 * Math.log(V / edge + density(edge)));
    k[i + 1] = Math.floor((edge / above) * M);
    [above, f[i], w[i]] = [edge, density(edge), edge / M];
  }
  return { R, k, w, f };
})();

class Generator {
  constructor(entropy) {
    const words = seedWords(entropy, 8).map(BigInt),
      pair = (at) => words[at] | (words[at + 1] << 32n);
    this.increment = ((((pair(4) << 64n) | pair(6)) << 1n) | 1n) & LONG;
    this.state = (this.increment + ((pair(0) << 64n) | pair(2))) & LONG;
    this.half = null;
    this.advance();
  }

  advance() {
    this.state = (this.state * MULTIPLIER + this.increment) & LONG;
  }

  next64() {
    this.advance();
    const { state } = this,
      turn = state >> 122n,
      folded = ((state >> 64n) ^ state) & WIDE;
    return ((folded >> turn) | (folded << (64n - turn))) & WIDE;
  }

  // The low half first; the high one waits.
  next32() {
    if (this.half !== null) {
      const waiting = this.half;
      this.half = null;
      return waiting;
    }
    const both = this.next64();
    this.half = Number(both >> 32n);
    return Number(both & WORD);
  }

  uniform() {
    return Number(this.next64() >> 11n) * 2 ** -53;
  }

  // Uniform in 0 … count − 1 (Lemire).
  below(count) {
    if (count === 1) return 0;
    const wide = BigInt(count),
      least = (WORD + 1n - wide) % wide;
    for (;;) {
      const product = BigInt(this.next32()) * wide;
      if ((product & WORD) >= least) return Number(product >> 32n);
    }
  }

  normal() {
    const { k, w, f } = ZIGGURAT;
    for (;;) {
      const bits = this.next64(),
        layer = Number(bits & 0xffn),
        r = Number((bits >> 9n) & 0xfffffffffffffn);
      const x = ((bits >> 8n) & 1n ? -r : r) * w[layer];
      if (r < k[layer]) return x;
      if (layer === 0) return this.tail((BigInt(r) >> 8n) & 1n ? -1 : 1);
      if ((f[layer - 1] - f[layer]) * this.uniform() + f[layer] < Math.exp(-0.5 * x * x)) return x;
    }
  }

  // Beyond the lowest layer.
  tail(sign) {
    const { R } = ZIGGURAT;
    for (;;) {
      const far = -Math.log1p(-this.uniform()) / R,
        y = -Math.log1p(-this.uniform());
      if (y + y > far * far) return sign * (R + far);
    }
  }

  // 0 … count − 1 in random order, each place by bits that are drawn until they are small enough.
  permutation(count) {
    const order = Array.from({ length: count }, (_, k) => k);
    for (let i = count - 1; i > 0; i--) {
      const mask = 2 ** (32 - Math.clz32(i)) - 1;
      let j = i + 1;
      while (j > i) j = (this.next32() & mask) >>> 0;
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }

  random(count) {
    return Array.from({ length: count }, () => this.uniform());
  }

  integers(count, below) {
    return Array.from({ length: count }, () => this.below(below));
  }

  normals(count) {
    return Array.from({ length: count }, () => this.normal());
  }
}

export const defaultRng = (entropy) => new Generator(entropy);
