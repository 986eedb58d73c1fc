import { AttentionLayer } from "mhabook/live/engine/layer.js";
import { dot, norm } from "livegrad/live/engine/matrices.js";
import { computation } from "livegrad/live/engine/models.js";
import { defaultRng } from "livegrad/live/engine/numpy_random.js";
import { zeros } from "mhalib/live/engine/starts.js";
import { liveFigure } from "livegrad/live/figure.js";

// No training: the loss on a plane through a network, and the least curvature that the plane shows in its middle.

const RESOLUTION = 25; // points along each side
const ALL = "WQ WK WV WO";

const chosen = ({ networks }, { network }) => networks[network];
const times = (s, x) => x.map((value) => s * value);
const plus = (x, y) => x.map((value, k) => value + y[k]);
const asLongAs = (length, x) => times(length / norm(x), x);

// livegrad.landscape.random_direction(…, normalize="whole"): each of the four arrays has a stream of its own.
function randomDirection({ H, D, d, m }, length, seed) {
  const one = H * D * d;
  const drawn = [one, one, one, H * d * m].flatMap((size, k) => defaultRng([seed, 6, k]).normals(size));
  return asLongAs(length, Float64Array.from(drawn));
}

// The least λ with det(K − λ G) = 0 for K = [[a, b], [b, c]] and G = [[p, q], [q, r]].
function leastOf([a, b, c], [p, q, r]) {
  const square = p * r - q * q,
    middle = a * r + c * p - 2 * b * q;
  return (middle - Math.sqrt(middle ** 2 - 4 * square * (a * c - b * b))) / (2 * square);
}

// A random direction turned toward the way down, by degrees, before it gets its length.
function mixed(degrees, drawn, way) {
  const angle = (degrees * Math.PI) / 180;
  return plus(times(Math.cos(angle), drawn), times(Math.sin(angle), way));
}

// The losses of the plane at (a_j, b_i), and where the lowest is.
function planeOf(loss, theta, u, v, at) {
  const losses = at.map((b) => at.map((a) => loss(plus(theta, plus(times(a, u), times(b, v)))))),
    bottom = Math.min(...losses.flat()),
    row = losses.findIndex((each) => each.includes(bottom));
  return { losses, bottom, low: [at[losses[row].indexOf(bottom)], at[row]] };
}

// The losses above that of the network, where the largest difference is one.
function relative(losses, middle) {
  const above = losses.map((each) => each.map((value) => value - middle)),
    most = Math.max(...above.flat().map(Math.abs));
  return above.map((each) => each.map((value) => value / most));
}

// The least curvature of the plane for every turn. Products with the Hessian are linear, so three are enough.
function curvatures(layer, theta, { u, drawn, way, degrees }) {
  const [Hu, Hdrawn, Hway] = [u, drawn, way].map((V) => {
    const image = new Float64Array(layer.size);
    layer.hvp(theta, V, image);
    return image;
  });
  return degrees.map((angle) => {
    const before = mixed(angle, drawn, way),
      scale = norm(theta) / norm(before),
      v = times(scale, before),
      Hv = times(scale, mixed(angle, Hdrawn, Hway));
    return leastOf([dot(u, Hu), dot(v, Hu), dot(v, Hv)], [dot(u, u), dot(u, v), dot(v, v)]);
  });
}

// What is computed when it is first asked for.
function once(make) {
  let made = null;
  return () => (made ??= make());
}

function turned(data, { pair, turn, radius }) {
  const { degrees, mean, least } = data,
    layer = new AttentionLayer(data, { ...data, moves: ALL }),
    [theta, way] = [data.theta, data.way].map((numbers) => Float64Array.from(numbers)),
    length = norm(theta);
  const [u, drawn] = [0, 1].map((k) => randomDirection(data, length, 2 * pair + k)),
    v = asLongAs(length, mixed(turn, drawn, way)),
    loss = (at) => layer.forward(at),
    middle = loss(theta);
  const at = Array.from({ length: RESOLUTION }, (_, k) => radius * (-1 + (2 * k) / (RESOLUTION - 1))),
    edge = radius + radius / (RESOLUTION - 1); // half a tile stands out
  const plane = once(() => planeOf(loss, theta, u, v, at)),
    curvature = once(() => curvatures(layer, theta, { u, drawn, way, degrees })),
    seen = () => curvature()[degrees.indexOf(turn)];
  return computation(() => middle, {
    at: () => at,
    span: () => [-edge, edge],
    above: () => relative(plane().losses, middle),
    curvature,
    turned: () => [turn],
    here: () => [seen()],
    mean: () => [mean, mean],
    least: () => [least, least],
    low_a: () => plane().low.slice(0, 1),
    low_b: () => plane().low.slice(1),
    weights: () => layer.size,
    seen,
    average: () => mean,
    lowest: () => least,
    middle: () => middle,
    bottom: () => plane().bottom,
  });
}

export default liveFigure({ datasets: { networks: chosen }, starts: { zeros }, models: { turned } });
