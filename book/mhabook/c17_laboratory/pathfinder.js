import { defaultRng } from "livegrad/live/engine/numpy_random.js";

// Pathfinder images of the smallest kind, as mhalib.data.pathfinder draws them.

// The settings of kind "micro": two paths of two dashes, no distractors. A path is begun anew `tries` times, an image
// `drawings` times.
const PATHFINDER = {
  size: 12,
  dashes: 2,
  length: 2.4,
  thickness: 0.5,
  margin: 1,
  radius: 1.5,
  apart: 5,
  contrast: 0.75,
  padding: 1,
  fine: 2,
  tries: 40,
  drawings: 500,
};
const TURNS = Array.from({ length: 72 }, (_, k) => -Math.PI + (k * 2 * Math.PI) / 72);

const uniform = (rng, low, high, count) => rng.random(count).map((x) => low + (high - low) * x);
const moved = ([x, y], by, [cos, sin]) => [x + by * cos, y + by * sin];

// The distance of a point from a segment.
function distanceFrom(x, y, start, end) {
  const x0 = start[0],
    y0 = start[1],
    dx = end[0] - x0,
    dy = end[1] - y0,
    square = dx * dx + dy * dy;
  const share = square === 0 ? 0 : Math.min(Math.max(((x - x0) * dx + (y - y0) * dy) / square, 0), 1);
  const right = x - x0 - share * dx,
    up = y - y0 - share * dy;
  return Math.sqrt(right * right + up * up);
}

// Whether a dash is inside, and keeps its distance from all that is drawn and from its own path.
function isFree([begin, end], taken, own) {
  const { size, padding, margin, thickness } = PATHFINDER;
  const within = (x) => x > padding && x < size - padding;
  for (let k = 0; k < 4; k++) {
    const x = begin[0] + (k / 3) * (end[0] - begin[0]),
      y = begin[1] + (k / 3) * (end[1] - begin[1]);
    const clear = (dash, least) => distanceFrom(x, y, dash[0], dash[1]) >= least;
    if (!within(x) || !within(y) || !taken.every((dash) => clear(dash, margin + thickness))) return false;
    // A sharp turn brings a dash a little nearer to the one before it.
    if (!own.every((dash, j) => clear(dash, j === own.length - 1 ? margin : margin + thickness))) return false;
  }
  return true;
}

// The dashes of one path from a point on, each by a turn for which there is room; null if there was none.
function dashesFrom(at, taken, rng) {
  const { dashes, length, margin } = PATHFINDER,
    own = [];
  let [heading] = uniform(rng, -Math.PI, Math.PI, 1);
  for (let k = 0; k < dashes; k++) {
    const choices = (k ? TURNS : [0]).map((turn) => {
      const angle = heading + turn,
        towards = [Math.cos(angle), Math.sin(angle)];
      const begin = moved(at, k ? margin : 0, towards),
        dash = [begin, moved(begin, length, towards)];
      const chance = Math.cos(Math.min(Math.abs(turn), Math.PI / 2)) ** 2;
      return { angle, towards, dash, chance: chance > 1e-9 && isFree(dash, taken, own) ? chance : 0 };
    });
    const sum = choices.reduce((all, { chance }) => all + chance, 0);
    if (!(sum > 1e-9)) return null;
    const [luck] = rng.random(1);
    let below = 0;
    const { angle, towards, dash } = choices.find(({ chance }) => (below += chance / sum) > luck);
    own.push(dash);
    heading = angle;
    at = moved(dash[1], margin, towards);
  }
  return own;
}

// A path, whose dashes are then taken; null if it found no room.
function pathFrom(begin, taken, rng) {
  const { size, padding, tries } = PATHFINDER;
  for (let k = 0; k < tries; k++) {
    const own = dashesFrom(begin ?? uniform(rng, padding, size - padding, 2), taken, rng);
    if (own) return (taken.push(...own), own);
  }
  return null;
}

// A point as far from another as second paths begin, inside the image.
function beside(place, rng) {
  const { size, padding, apart, tries } = PATHFINDER;
  return (
    uniform(rng, 0, 2 * Math.PI, tries)
      .map((angle) => moved(place, apart, [Math.cos(angle), Math.sin(angle)]))
      .find((there) => there.every((x) => x > padding && x < size - padding)) ?? null
  );
}

// [first path, second path].
function twoPaths(rng) {
  for (let k = 0; k < PATHFINDER.drawings; k++) {
    const taken = [],
      first = pathFrom(null, taken, rng),
      begin = first && beside(first[0][0], rng);
    const second = begin && pathFrom(begin, taken, rng);
    if (second) return [first, second];
  }
  throw new Error("the paths of an image found no room. Choose another data seed.");
}

// The pixels (size, size), each the mean of fine × fine samples.
function imageOf(connected, rng) {
  const { size, fine, thickness, radius, contrast } = PATHFINDER,
    wide = size * fine,
    ink = new Float64Array(wide * wide);
  const paint = (segment, thick, value) =>
    ink.forEach((before, k) => {
      const away = distanceFrom(((k % wide) + 0.5) / fine, (Math.floor(k / wide) + 0.5) / fine, ...segment);
      const reach = (thick / 2 - away) * fine + 0.5;
      ink[k] = Math.max(before, value * Math.min(Math.max(reach, 0), 1));
    });
  const [first, second] = twoPaths(rng),
    last = (connected ? first : second).at(-1)[1];
  for (const dash of [...first, ...second]) paint(dash, thickness, contrast);
  for (const end of [first[0][0], last]) paint([end, end], 2 * radius, 1);
  const image = new Float64Array(size * size);
  ink.forEach((x, k) => {
    image[Math.floor(k / wide / fine) * size + Math.floor((k % wide) / fine)] += x / fine ** 2;
  });
  return image;
}

// Images are drawn once for a data number; runs that only train differently find them here.
const drawnImages = { seed: null, known: new Map() };

// Image i of the training set, or of the fresh ones: {y, image}.
function pathfinderImage(seed, held, i) {
  if (drawnImages.seed !== seed) Object.assign(drawnImages, { seed, known: new Map() });
  const name = `${Boolean(held)} ${i}`,
    rng = defaultRng(held ? [seed, 8, 1, i] : [seed, 9, i]);
  if (!drawnImages.known.has(name)) {
    const y = rng.random(1)[0] < 0.5 ? 1 : -1;
    drawnImages.known.set(name, { y, image: imageOf(y > 0, rng) });
  }
  return drawnImages.known.get(name);
}

// Images cut into patches, row by row; or `held` fresh ones.
export function drawnPathfinder({ n: all, patch, seed, held }) {
  const n = held ?? all,
    { size } = PATHFINDER,
    across = size / patch,
    T = across ** 2,
    d = patch ** 2;
  const X = new Float64Array(n * T * d),
    y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const drawn = pathfinderImage(seed, held, i);
    y[i] = drawn.y;
    drawn.image.forEach((x, k) => {
      const row = Math.floor(k / size),
        column = k % size;
      const token = Math.floor(row / patch) * across + Math.floor(column / patch);
      X[(i * T + token) * d + (row % patch) * patch + (column % patch)] = x;
    });
  }
  return { n, T, d, X, y, relevant: null };
}
