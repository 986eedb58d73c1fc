import { hasEnd, namedAtEnds } from "./drawing.js";
import { digits, signed } from "./widget.js";

// Where lines end: at a broad one a dot with the number there, and the names of lines that no legend names; a point whose
// height is measured has its number, too. A line over another curve of the run, and not over its steps, says where it starts.

const [BROAD, FAINT] = [3, 2], // pixels, as frames.py draws what is measured now, and less than anything but gray lines
  FEW = 2, // points of a trace with numbers
  BESIDE = 7, // from the middle of a dot to its number
  LETTER = 0.53; // how wide a letter is, in its height

// What has an end or a point to show, as {trace, word, hasNumber, …}; `fill` adds the lines of the run before.
export function endingOf(spec, data, curves, named = namedAtEnds(spec)) {
  const { draw, drag = [], figure } = spec,
    isMap = ({ yaxis }) => data.some((one) => one.type === "heatmap" && one.yaxis === yaxis),
    isPulled = (trace) => drag.some((one) => one.trace === trace),
    isSeen = ({ mode, marker, x }) => mode === "markers" && marker?.opacity !== 0 && x?.length <= FEW;
  return data.flatMap((one, trace) => {
    if (one.visible === false) return [];
    if (trace >= figure.data.length) return [{ trace, word: "before", hasNumber: true, isFaint: true }];
    const place = draw.find((each) => each.trace === trace && each.y) ?? {},
      width = one.line?.width ?? FAINT,
      isEnd = width >= BROAD && hasEnd(place, figure, curves),
      isPoint = "y" in place && "x" in place && isSeen(one) && !isMap(one) && !isPulled(trace),
      word = place.once ? "initial" : named.has(trace) ? one.name : "";
    if (!(isEnd || isPoint || word)) return [];
    const isPath = isEnd && curves.includes(place.x);
    return [{ trace, word, hasNumber: isEnd || isPoint, isEnd, isPoint, isPath, isFaint: width < FAINT }];
  });
}

// Where a line ends, from its places in pixels of a panel: null where that is outside. `back`: it runs to the left.
export function endOf(places, [wide, high]) {
  const [x, y] = places.at(-1) ?? [];
  if (places.length < 2 || !(x > -1 && x < wide + 1 && y > -1 && y < high + 1)) return null;
  return { x, y, back: places[0][0] > x };
}

// How many lines cross what stands from `left` to `right` and from `top` to `bottom`.
const crossing = (lines, [left, right], [top, bottom]) =>
  lines.filter((places) =>
    places.some(([x, y], k) => {
      const [before, height] = places[k - 1] ?? [x, y],
        [first, last] = [Math.max(left, Math.min(before, x)), Math.min(right, Math.max(before, x))],
        at = (here) => (x === before ? y : height + ((y - height) * (here - before)) / (x - before));
      return first <= last && Math.max(at(first), at(last)) > top && Math.min(at(first), at(last)) < bottom;
    }),
  ).length;

// The ends of one panel with the height `at` of their words, each so `wide`: above the end, or below, where fewer of the
// lines cross them; of two that would touch the lower one is below its end, too; all of them in the panel.
export function spaced(ends, lines, high, letter) {
  const apart = 1.2 * letter,
    crossed = ({ x, wide, back }, at) => crossing(lines, back ? [x, x + wide] : [x - wide, x], [at - letter, at]),
    placed = ends.map((one) => {
      const [above, below] = [one.y - 0.6 * letter, one.y + apart];
      const isBelow = below < high && (above < letter || crossed(one, below) < crossed(one, above));
      return { ...one, at: isBelow ? below : above };
    });
  placed.sort((one, other) => one.y - other.y || one.at - other.at);
  for (let k = 1; k < placed.length; k++) {
    const least = placed[k - 1].at + apart;
    if (placed[k].at < least) placed[k].at = Math.max(placed[k].y + apart, least);
  }
  let most = high - 0.3 * letter;
  for (const one of placed.reverse()) {
    one.at = Math.min(one.at, most);
    most = one.at - apart;
  }
  return placed;
}

const made = (name, attributes, ...parts) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (value) one.setAttribute(key, value);
  one.append(...parts);
  return one;
};

// Draws them over what plotly has drawn in a box, which says them as annotations in `mhaEnds`, for a saved picture;
// `place(frame)` is to be called then.
export class Ends {
  constructor(box, spec) {
    Object.assign(this, { box, spec, named: namedAtEnds(spec), layer: made("g", { class: "mha-ends" }) });
  }

  place({ curves }) {
    const { box, spec, named, layer } = this,
      { data, _fullLayout: layout } = box,
      letter = layout.font.size,
      panels = panelsOf(data, layout);
    for (const ending of endingOf(spec, data, Object.keys(curves), named)) {
      const { trace, isPoint, isPath } = ending,
        { y, yaxis = "y", line, marker } = data[trace],
        { places, size, ends } = panels.get(yaxis),
        color = line?.color ?? marker?.color,
        all = places.get(trace),
        told = { ...ending, color, begin: isPath ? all[0] : null };
      for (const [k, at] of isPoint ? all.entries() : [[all.length - 1, null]]) {
        const end = endOf(at ? [at, at] : all, size),
          same = end && ends.find((one) => Math.hypot(one.x - end.x, one.y - end.y) < 2 && isPoint);
        if (same) Object.assign(same, { hasNumber: true, value: y[k] });
        else if (end) ends.push({ ...told, ...end, back: at ? end.x < size[0] / 2 : end.back, value: y[k] });
      }
    }
    const words = [...panels.values()].flatMap((panel) => wordsOf(panel, letter)),
      dots = [...panels.values()].flatMap(({ left, top, ends }) =>
        ends
          .filter(({ isEnd }) => isEnd)
          .map(({ x, y, color }) => made("circle", { cx: left + x, cy: top + y, r: 4.5, fill: color })),
      );
    layer.replaceChildren(...words.map((one) => drawn(one, letter)), ...dots);
    box.mhaEnds = words.map((one) => annotation(one, layout.margin));
    box.querySelector(".main-svg").append(layer);
  }
}

// By vertical axis: where the panel begins, how large it is, and where in it each of its traces goes, in pixels.
function panelsOf(data, layout) {
  const panels = new Map();
  for (const [trace, { x, y, xaxis = "x", yaxis = "y", visible, type = "scatter" }] of data.entries()) {
    const [across, up] = [layout[`xaxis${xaxis.slice(1)}`], layout[`yaxis${yaxis.slice(1)}`]],
      isDrawn = visible !== false && type === "scatter";
    if (!panels.has(yaxis)) {
      const [left, top, size] = [across._offset, up._offset, [across._length, up._length]];
      panels.set(yaxis, { left, top, size, places: new Map(), ends: [] });
    }
    const places = isDrawn ? Array.from(x ?? [], (value, k) => [across.d2p(value), up.d2p(y?.[k])]) : [];
    panels.get(yaxis).places.set(trace, places);
  }
  return panels;
}

// The words of a panel, each with its place in the picture: left of its end, but right of a line that runs to the left,
// or that is so short that the word would lie on the numbers of the axis.
export function wordsOf({ left, top, size, places, ends }, letter) {
  const starts = ends.flatMap(({ begin: at, back }) =>
      at
        ? [{ name: "start", x: at[0] + (back ? BESIDE : -BESIDE), at: at[1] + 4, anchor: back ? "start" : "end" }]
        : [],
    ),
    told = ends.map((one) => {
      const number = one.hasNumber ? signed(digits(one.value)) : "",
        name = one.isPoint ? "" : one.word,
        wide = LETTER * letter * (number.length + name.length + 1);
      return { ...one, number, name, wide, back: one.back || one.x < BESIDE + wide };
    }),
    sides = [true, false].map((side) => told.filter(({ back }) => back === side)),
    named = sides
      .flatMap((side) => spaced(side, [...places.values()], size[1], letter))
      .map(({ x, back, ...one }) => ({ ...one, x: x + (back ? BESIDE : -BESIDE), anchor: back ? "start" : "end" }));
  return [...starts, ...named].map((one) => ({ ...one, x: left + one.x, at: top + one.at }));
}

function drawn({ number = "", name, x, at, anchor, color, isFaint }, letter) {
  const look = { x, y: at, "text-anchor": anchor, "font-size": letter },
    looks = isFaint || typeof color !== "string" ? { class: "mha-before" } : { fill: color };
  return made("text", { ...look, ...looks }, made("tspan", { class: "mha-number" }, number), ` ${name}`.trimEnd());
}

const annotation = ({ number = "", name, x, at, anchor, color, isFaint }, { l, t }) => ({
  ...{ xref: "paper", x: 0, xshift: x - l, xanchor: anchor === "end" ? "right" : "left" },
  ...{ yref: "paper", y: 1, yshift: t - at, yanchor: "bottom", showarrow: false, borderpad: 0 },
  text: [number && `<b>${number}</b>`, name].filter(Boolean).join(" "),
  font: isFaint ? {} : { color },
});
