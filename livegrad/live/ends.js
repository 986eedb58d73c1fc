import { digits, signed } from "./widget.js";

// Where the broad lines of a run end: a dot, and beside it the number there; and where the run before it ended, its
// number. A line over another curve of the run, and not over its steps, says where it starts, too.

const BROAD = 3, // pixels, as frames.py draws what is measured now
  MOST = 2, // in a panel: of more lines only the dots are drawn
  BESIDE = 7, // from the middle of a dot to its number
  BACK = 30; // so far before its end a line comes from above or from below

// Which traces have an end to show: lines of the run that are broad, and those of the run before, which `fill` adds.
export function endingOf({ draw, figure }, data, curves) {
  const isOfRun = ({ x, y, once }) => !once && y in curves && (x === "steps" || x in curves),
    isBroad = ({ trace }) => data[trace].line?.width >= BROAD && data[trace].visible !== false,
    now = draw.filter((place) => isOfRun(place) && isBroad(place));
  return [
    ...now.map(({ trace, x }) => ({ trace, isPath: x !== "steps" })),
    ...data.slice(figure.data.length).map((_, k) => ({ trace: figure.data.length + k, isBefore: true })),
  ];
}

// Where a line ends, from its places in pixels of a panel: null where that is outside. `falls`: it comes from above;
// `back`: it runs to the left.
export function endOf(places, [wide, high]) {
  const last = places.length - 1,
    [x, y] = places[last] ?? [];
  if (last < 1 || !(x > -1 && x < wide + 1 && y > -1 && y < high + 1)) return null;
  let k = last - 1;
  while (k > 0 && !(Math.abs(places[k][0] - x) >= BACK)) k--;
  return { x, y, falls: places[k][1] < y - 2, back: places[k][0] > x };
}

// The ends of one panel with the height `at` of their numbers: above a line that rises, below one that falls; of two
// that would touch the lower one is below its line, too.
export function spaced(ends, high, letter) {
  const apart = 1.2 * letter,
    isBelow = ({ falls, y }) => falls && y + apart < high,
    placed = ends.map((one) => ({ ...one, at: isBelow(one) ? one.y + apart : one.y - 0.6 * letter }));
  placed.sort((one, other) => one.at - other.at);
  for (let k = 1; k < placed.length; k++) {
    const least = placed[k - 1].at + apart;
    if (placed[k].at < least) placed[k].at = Math.max(placed[k].y + apart, least);
  }
  return placed;
}

// Where a number stands beside the end of its line, and which end of it is there: left of it, but right of a line that
// runs to the left, or that is so short that the number would lie on those of the axis.
export function beside({ x, back }, text, letter) {
  const isRight = back || x < BESIDE + 0.6 * letter * text.length;
  return isRight ? [x + BESIDE, "start"] : [x - BESIDE, "end"];
}

const made = (name, attributes, ...parts) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
  one.append(...parts);
  return one;
};

// Draws them over what plotly has drawn in a box; `place(frame)` is to be called then.
export class Ends {
  constructor(box, spec) {
    Object.assign(this, { box, spec, layer: made("g", { class: "mha-ends" }) });
  }

  place({ curves }) {
    const { box, spec, layer } = this,
      { data, _fullLayout: layout } = box,
      panels = new Map();
    for (const { trace, isPath, isBefore } of endingOf(spec, data, curves)) {
      const { x, y, xaxis = "x", yaxis = "y", line } = data[trace],
        [across, up] = [layout[`xaxis${xaxis.slice(1)}`], layout[`yaxis${yaxis.slice(1)}`]],
        places = Array.from(x, (value, k) => [across.d2p(value), up.d2p(y[k])]),
        end = endOf(places, [across._length, up._length]);
      if (!end) continue;
      if (!panels.has(yaxis)) panels.set(yaxis, { across, up, ends: [] });
      const begin = isPath ? places[0] : null;
      panels.get(yaxis).ends.push({ ...end, begin, isBefore, color: line.color, value: y[places.length - 1] });
    }
    const letter = layout.font.size;
    layer.replaceChildren(...[...panels.values()].flatMap((panel) => this.drawn(panel, letter)));
    box.querySelector(".main-svg").append(layer);
  }

  drawn({ across, up, ends }, letter) {
    const [left, top] = [across._offset, up._offset],
      now = ends.filter(({ isBefore }) => !isBefore),
      word = (text, x, y, anchor, name = "") =>
        made("text", { x: left + x, y: top + y, "text-anchor": anchor, "font-size": letter, class: name }, text),
      dots = now.map(({ x, y, color }) => made("circle", { cx: left + x, cy: top + y, r: 4.5, fill: color })),
      starts = now.flatMap(({ begin: at, back }) =>
        at ? [word("start", at[0] + (back ? BESIDE : -BESIDE), at[1] + 4, back ? "start" : "end")] : [],
      );
    if (now.length > MOST) return [...starts, ...dots];
    const numbers = spaced(ends, up._length, letter).map((end) => {
      const text = `${end.isBefore ? "before " : ""}${signed(digits(end.value))}`,
        [x, anchor] = beside(end, text, letter);
      return word(text, x, end.at, anchor, end.isBefore ? "mha-before" : "");
    });
    return [...starts, ...numbers, ...dots];
  }
}
