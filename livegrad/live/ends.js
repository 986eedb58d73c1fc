import { axesOf, hasEnd, namedAtEnds } from "./drawing.js";
import { leftAt, settled } from "./room.js";
import { digits, signed } from "./widget.js";

// Where lines end: at a broad one a dot with the number there, and the names of lines that no legend names, where they
// leave their panel if they do; a point whose height is measured has its number, too. A line over another curve of the
// run, and not over its steps, says where it starts.

const [BROAD, FAINT] = [3, 2], // pixels, as frames.py draws what is measured now, and less than anything but gray lines
  FEW = 2, // points of a trace with numbers
  BESIDE = 7, // from the middle of a dot to its number
  [TALL, ABOVE] = [0.84, 0.72], // of a letter's size: how tall words are, and that above their base line
  [DOT, RING] = [4.5, 16]; // how far from its middle a dot reaches, and the ring of a point that can be pulled

// What has an end or a point to show, as {trace, word, hasNumber, …}; `fill` adds the lines of the run before.
export function endingOf(spec, data, curves, named = namedAtEnds(spec)) {
  const { draw, drag = [], figure, initial = "initial" } = spec,
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
      word = place.once ? initial : named.has(trace) ? one.name : "";
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

const made = (name, attributes, ...parts) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (value) one.setAttribute(key, value);
  one.append(...parts);
  return one;
};

// Draws them over what plotly has drawn in a box, which says them as annotations in `mhaEnds`, for a saved picture;
// `place(frame)` is to be called then. Words are placed at the end of a run. While one plays they stay there with new
// numbers; those that have no place yet go along before the ends of their lines.
export class Ends {
  constructor(box, spec) {
    Object.assign(this, { box, spec, named: namedAtEnds(spec), layer: made("g", { class: "mha-ends" }) });
    Object.assign(this, { stood: new Map(), size: "", pen: document.createElement("canvas").getContext("2d") });
  }

  place({ curves, done }) {
    const { box, spec, named, layer } = this,
      { data, _fullLayout: layout } = box,
      letter = layout.font.size,
      size = `${layout.width} ${layout.height}`,
      isSettled = done || size !== this.size,
      panels = panelsOf(data, layout, endingOf(spec, data, Object.keys(curves), named)),
      wideOf = (text, weight) => {
        this.pen.font = `${weight} ${letter}px ${layout.font.family}`;
        return this.pen.measureText(text).width;
      },
      words = [...panels.values()].flatMap((panel) => {
        const told = wordsOf(panel, wideOf, this.stood),
          all = isSettled
            ? settled(told, roomOf(panel, box._fullData ?? data, spec), TALL * letter)
            : followed(told, panel, letter);
        return all.map((one) => placed(one, panel, letter));
      }),
      dots = [...panels.values()].flatMap(({ left, top, ends }) =>
        ends
          .filter(({ isEnd }) => isEnd)
          .map(({ x, y, color }) => made("circle", { cx: left + x, cy: top + y, r: DOT, fill: color })),
      );
    if (isSettled) Object.assign(this, { size, stood: new Map(words.map((one) => [one.key, one])) });
    layer.replaceChildren(...words.flatMap((one) => drawn(one, letter)), ...dots);
    box.mhaEnds = words.flatMap((one) => annotations(one, layout.margin, letter));
    box.querySelector(".main-svg").append(layer);
  }
}

// By vertical axis: where the panel begins, how large it is, how places of its traces become pixels, and the ends in it.
function panelsOf(data, layout, endings) {
  const panels = new Map();
  for (const [trace, one] of data.entries()) {
    const { yaxis = "y" } = one,
      [across, up] = axesOf(layout, one),
      [left, top, size] = [across._offset, up._offset, [across._length, up._length]];
    if (!panels.has(yaxis)) panels.set(yaxis, { left, top, size, traces: [], ends: [], across, up });
    panels.get(yaxis).traces.push(trace);
  }
  for (const ending of endings) {
    const { trace, isPoint, isPath } = ending,
      { x, y, yaxis = "y", line, marker } = data[trace],
      { size, ends, across, up } = panels.get(yaxis),
      at = (k) => [across.d2p(x[k]), up.d2p(y?.[k])],
      last = Math.min(x?.length ?? 0, y?.length ?? 0) - 1,
      told = {
        ...ending,
        color: line?.color ?? marker?.color,
        reach: (marker?.size ?? 0) / 2,
        begin: isPath && last > 0 ? at(0) : null,
      };
    for (const k of isPoint ? x.keys() : [last]) {
      const end = endOf(isPoint ? [at(k), at(k)] : last > 0 ? [at(0), at(last)] : [], size),
        same = end && ends.find((one) => Math.hypot(one.x - end.x, one.y - end.y) < 2 && isPoint),
        places = end || isPoint || !ending.word ? [] : Array.from(x ?? [], (_, j) => at(j)),
        left = leftAt(places, size);
      if (same) Object.assign(same, { hasNumber: true, value: y[k] });
      else if (end) ends.push({ ...told, ...end, key: `${trace} ${k === last ? "end" : k}`, value: y[k] });
      else if (left) ends.push({ ...told, ...left, key: `${trace} end`, isEnd: false, hasNumber: false });
    }
  }
  return panels;
}

// What words are not to cover: lines, points with how far they reach, and the rings of those that can be pulled.
function roomOf({ traces, across, up, size, ends }, data, { drag = [] }) {
  const lines = new Map(),
    marks = ends.filter(({ isEnd }) => isEnd).map(({ x, y }) => [x, y, DOT]);
  for (const trace of traces) {
    const { x, y, type = "scatter", mode = "lines", fill = "none", visible, marker, opacity } = data[trace];
    if (visible === false || type !== "scatter" || opacity === 0) continue;
    const all = Array.from(x ?? [], (value, k) => [across.d2p(value), up.d2p(y?.[k])]);
    if (mode.includes("lines") && fill === "none") lines.set(trace, thinned(all));
    const ring = drag.some((one) => one.trace === trace) ? RING : (marker?.size ?? 6) / 2;
    if (mode.includes("markers") && marker?.opacity !== 0) marks.push(...all.map(([across, up]) => [across, up, ring]));
  }
  return { lines, marks, size };
}

// A line without points that lie within two pixels of the one before; its last one stays.
function thinned(places) {
  let kept = null;
  return places.filter(([x, y], k) => {
    if (k < places.length - 1 && kept && Math.hypot(x - kept[0], y - kept[1]) < 2) return false;
    kept = [x, y];
    return true;
  });
}

// The words of a panel, each with how wide it is and where it stood before. A name with a number stays at the end.
function wordsOf({ ends }, wideOf, stood) {
  const starts = ends.flatMap(({ begin: at, key, trace, back }) =>
      at ? [{ trace, key: `${key} start`, name: "start", x: at[0], y: at[1], isPoint: true, isLeft: !back }] : [],
    ),
    told = ends.map((one) => ({
      ...one,
      number: one.hasNumber ? signed(digits(one.value)) : "",
      name: one.isPoint ? "" : one.word,
    }));
  return [...told, ...starts]
    .map(({ number = "", ...one }) => {
      const isNear = Boolean(number && one.name && !one.isFaint),
        wide = wideOf(number, 600) + wideOf(one.name, 400) + (number && one.name ? wideOf(" ", 400) : 0);
      return { ...one, number, isNear, wide };
    })
    .map((one) => ({ ...one, before: stood.get(one.key) }));
}

// The words of a run that plays.
function followed(words, { size: [wide, high] }, letter) {
  const all = words.map((one) => {
    const { x, y, back, before } = one,
      left = back ? Math.max(x - BESIDE - one.wide, 0) : Math.min(x + BESIDE, wide - one.wide),
      top = Math.max(0, Math.min(y - 1.4 * letter, high - letter));
    if (!before) return { ...one, left, top };
    const { anchor } = before;
    return { ...one, anchor, left: before.left + (anchor === "end" ? before.wide - one.wide : 0), top: before.top };
  });
  const free = all.filter(({ before }) => !before).sort((one, other) => one.top - other.top);
  for (let k = 1; k < free.length; k++) free[k].top = Math.max(free[k].top, free[k - 1].top + 1.2 * letter);
  return all;
}

// The same in the picture, where a word is written from the side at which its end is.
function placed(one, panel, letter) {
  const { left, top, wide, x, y, anchor = x > left + wide / 2 ? "end" : "start" } = one,
    edge = panel.left + (anchor === "end" ? left + wide : left),
    at = panel.top + top + ABOVE * letter;
  return { ...one, edge, at, anchor, end: [panel.left + x, panel.top + y] };
}

const isGray = ({ isFaint, color }) => isFaint || typeof color !== "string";

// A word that stands rows away from its end has a thin line to there.
const lineOf = ({ edge, at, anchor, end }, letter) => [edge + (anchor === "end" ? 2 : -2), at - 0.3 * letter, ...end];
function drawn(one, letter) {
  const { number = "", name, edge, at, anchor, color, isFar } = one,
    look = { x: edge, y: at, "text-anchor": anchor, "font-size": letter },
    looks = isGray(one) ? { class: "mha-before" } : { fill: color },
    [x1, y1, x2, y2] = lineOf(one, letter),
    words = made("text", { ...look, ...looks }, made("tspan", { class: "mha-number" }, number), ` ${name}`.trimEnd());
  const line = { x1, y1, x2, y2, stroke: isGray(one) ? "currentColor" : color, "stroke-opacity": 0.6 };
  return isFar ? [made("line", line), words] : [words];
}

function annotations(one, { l, t }, letter) {
  const { number = "", name, edge, at, anchor, color, isFar } = one,
    look = { xref: "paper", x: 0, yref: "paper", y: 1, showarrow: false, borderpad: 0 },
    [x1, y1, x2, y2] = lineOf(one, letter),
    line = { showarrow: true, arrowhead: 0, arrowwidth: 1, xshift: x2 - l, yshift: t - y2, ax: x1 - x2, ay: y1 - y2 },
    words = {
      ...{ ...look, xshift: edge - l, xanchor: anchor === "end" ? "right" : "left", yshift: t - at, yanchor: "bottom" },
      text: [number && `<b>${number}</b>`, name].filter(Boolean).join(" "),
      font: isGray(one) ? {} : { color },
    };
  return isFar ? [{ ...look, ...line, text: "", arrowcolor: color }, words] : [words];
}
