import { element } from "./element.js";

// Drawing by plotly: what was recorded goes where the description says, whole figures or lines alone, and points that a
// pointer can take.

// The page's own plotly; with a kernel behind, the one that Python's plotly carries. A kernel that is busy answers late,
// so the answer is taken whenever it comes, until `closed` (a signal) says that nobody waits any more. Each view asks
// for itself, since a view may be gone before the answer comes; the first answer is used by all.
export function plotly(model, closed) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return new Promise((resolve, reject) => {
    const take = (message, buffers) => {
      if (message?.plotly !== true) return;
      model.off("msg:custom", take);
      if (!window.Plotly) insert(new TextDecoder().decode(buffers[0]));
      if (window.Plotly) resolve(window.Plotly);
      else reject(new Error("this page does not let plotly.js run"));
    };
    model.on("msg:custom", take);
    closed.addEventListener("abort", () => model.off("msg:custom", take));
    model.send({ want: "plotly" });
  });
}

function insert(source) {
  const define = window.define; // a loader of modules would keep plotly for itself
  const script = document.createElement("script");
  window.define = undefined;
  script.textContent = source;
  document.head.append(script);
  window.define = define;
}

// What the reader has drawn on this page before, {x, y}, or null.
const guessed = (name) => window.mhaGuess?.(name) ?? null;

const isLine = ({ mode, fill = "none" }) => /^lines/.test(mode) && fill === "none";

// Whether a trace ends where its run does, or is drawn point by point.
export const hasEnd = ({ trace, x, y, once }, { data }, curves) =>
  Boolean(y) && !once && (x === "steps" || curves.includes(x) || data[trace].mode === "lines+markers");

// The traces whose names stand where they end (ends.js), and in no legend: lines at the start, guesses, and the lines of a
// panel, if they are at most MOST, and one has an end, or their last points are not all at one height.
const MOST = 5;
export function namedAtEnds({ figure, draw, curves = [], guesses = [] }) {
  const { data } = figure,
    found = [...draw.filter(({ once }) => once), ...guesses].map(({ trace }) => trace),
    panelOf = (k) => data[k].yaxis ?? "y",
    lines = [...data.keys()].filter((k) => data[k].name && isLine(data[k]) && !found.includes(k)),
    ended = draw.filter((place) => hasEnd(place, figure, curves)).map(({ trace }) => panelOf(trace));
  for (const panel of new Set(lines.map(panelOf))) {
    const told = lines.filter((k) => panelOf(k) === panel && data[k].showlegend !== false);
    if (told.length <= MOST && (ended.includes(panel) || areApart(told.map((k) => data[k].y)))) found.push(...told);
  }
  return new Set(found);
}

const APART_BY = 0.1; // of all heights of the lines; those that plotly has packed are not read
function areApart(lines) {
  const all = lines.flat().filter(Number.isFinite),
    span = (heights) => Math.max(...heights) - Math.min(...heights);
  return span(lines.map((heights) => heights?.at?.(-1))) > APART_BY * span(all);
}

// What was recorded, put where the description says it is drawn; no result: the frame that Python drew. At the start the
// lines of the default settings would lie under those of the run; later the run before it, if there was another, is drawn
// beside them. `result.first` has the numbers of the default settings where the frame has not.
function fill({ figure, draw, guesses = [] }, atEnds, result) {
  const data = figure.data.map((trace, k) => ({ ...trace, ...(atEnds.has(k) && { showlegend: false }) }));
  for (const { trace, guess } of guesses) {
    const said = guessed(guess);
    Object.assign(data[trace], { visible: said !== null }, said);
  }
  if (!result) return data;
  const known = { steps: result.steps, ...result.curves, ...toldBy(result) };
  const before = [];
  for (const { trace, once, layout, ...parts } of draw) {
    if (parts.x === "steps") data[trace].hoverinfo = "skip"; // cursor.js says what is there
    if (once && result.isDefault) data[trace].visible = false;
    if (once && result.first) Object.assign(data[trace], { x: result.first[parts.x], y: result.first[parts.y] });
    if (once && result.before?.[parts.y]) before.push(earlier(data[trace], parts, result.before));
    if (once || layout) continue;
    // A copy: plotly draws nothing where it gets the array that it has, and a run on the page goes on filling its own.
    for (const [key, name] of Object.entries(parts))
      if (name in known) data[trace][key] = Array.isArray(known[name]) ? [...known[name]] : known[name];
    if ("y" in parts) data[trace].y = ended(data[trace].y, axisOf(figure, data[trace]));
  }
  return [...data, ...before].map((trace) => placed(trace, figure.layout));
}

// A logarithmic axis has no place for step 0: what is measured there is not to widen the other axis, where that is free.
export function placed(trace, layout) {
  const [across, up] = axesOf(layout, trace);
  if (across?.type !== "log" || up?.range || !(Array.isArray(trace.x) && Array.isArray(trace.y))) return trace;
  return { ...trace, y: trace.y.map((value, k) => (trace.x[k] > 0 ? value : null)) };
}

// The line of the default settings, with the numbers of the run before.
function earlier(trace, { x, y }, before) {
  const line = { ...trace.line, dash: "dash" };
  return { ...trace, visible: true, x: before[x] ?? trace.x, y: before[y], line, name: "the run before" };
}

// The two axes of a trace: those of plotly's layout say where they are, too.
export const axesOf = (layout, { xaxis = "x", yaxis = "y" }) => [
  layout[`xaxis${xaxis.slice(1)}`],
  layout[`yaxis${yaxis.slice(1)}`],
];
export const axisOf = ({ layout }, trace) => axesOf(layout, trace)[1];

// What lies far below the end of an axis stands a little below it: plotly leaves room by how far a line goes.
export function ended(y, axis) {
  const end = axis?.autorangeoptions?.clipmin / 10;
  return end > 0 && Array.isArray(y) ? y.map((value) => (value > 0 ? Math.max(value, end) : value)) : y;
}

// What is measured of the last model, and what the values of the controls say.
const toldBy = (result) => ({ ...result?.final, ...result?.looks });

function layoutOf(figure, draw, result) {
  const layout = structuredClone(figure.layout),
    told = toldBy(result);
  for (const { layout: path, from } of draw) {
    if (!path || !told[from]) continue;
    const keys = path.split("."),
      name = keys.pop();
    keys.reduce((node, key) => (node[key] ??= {}), layout)[name] = told[from];
  }
  return layout;
}

const panelsOf = (layout) => Object.keys(layout).filter((key) => /^xaxis\d*$/.test(key)).length;
const axis = (letter, k) => `${letter}axis${k ? k + 1 : ""}`;
const legendOf = (k) => `legend${k ? k + 1 : ""}`;

// In pixels: a panel on a phone, where one alone is as high as two; what its axes and the title of the next one take; the
// title of the first; of a legend a line, its edges, what stands before a name, and a letter; a bar of colors; from names to
// the title of the next panel.
const [PANEL, BETWEEN, TITLE, LINE, EDGES, SAMPLE, LETTER, BAR, APART] = [165, 70, 30, 19, 10, 45, 6.7, 90, 24];

const named = (data, k) =>
  data.filter(({ name, showlegend, legend }) => name && showlegend !== false && legend === legendOf(k));
// How many names of a panel stand one below the other where so many pixels are side by side, and how high they stand.
function columnsOf(names, room, wideOf = (name) => LETTER * name.length) {
  for (let down = 1; down <= names.length; down++) {
    let wide = 0;
    for (let k = 0; k < names.length; k += down) wide += SAMPLE + Math.max(...names.slice(k, k + down).map(wideOf));
    if (down === names.length || wide <= room) return { down, above: LINE * down + EDGES };
  }
  return { down: 1, above: 0 };
}

const barOf = (data) => (data.some(({ type, showscale }) => type === "heatmap" && showscale !== false) ? BAR : 0);

// On a phone the panels stand one below the other, each below its names: their places, and how many names are in a column.
// null where they stand so already.
function stackOf({ layout }, data, width) {
  const n = panelsOf(layout),
    { l, r, b } = layout.margin,
    rows = new Set(Array.from({ length: n }, (_, k) => layout[axis("y", k)].domain?.[0])).size,
    bar = barOf(data),
    columns = Array.from({ length: n }, (_, k) =>
      columnsOf(
        named(data, k).map(({ name }) => name),
        width - l - r - bar,
      ),
    ),
    above = columns.map((one) => one.above);
  if (rows === n && !above.some(Boolean)) return null;
  const gaps = above.map((high, k) => (k ? BETWEEN + high : 0)),
    panel = n > 1 ? PANEL : 2 * PANEL,
    high = gaps.reduce((sum, gap) => sum + gap + panel, 0),
    top = TITLE + above[0];
  let end = 1;
  const places = gaps.map((gap) => {
    const top = end - gap / high;
    end = top - panel / high;
    return [Math.max(0, end), top];
  });
  return { places, down: columns.map(({ down }) => down), above, top, height: top + high + b };
}

// Titles of a row stand on the names of what is drawn below them.
const shiftOf = (above) => Math.max(0, above - EDGES / 2);

function stack(layout, { places, above, top, height }) {
  places.forEach((domain, k) => {
    layout[axis("x", k)].domain = [0, 1];
    layout[axis("y", k)].domain = domain;
    const title = layout.annotations?.[k],
      x = title?.xanchor === "left" ? 0 : 0.5;
    if (title) Object.assign(title, { x, y: domain[1], yshift: shiftOf(above[k]) });
    if (layout[legendOf(k)]) Object.assign(layout[legendOf(k)], { x: 0, y: domain[1] });
  });
  layout.margin.t = top;
  layout.height = height;
}

// The names of a panel stand in as many columns as there is room for up to the next panel. It gives how high those above a
// row of panels stand, by the top of the row.
function spread(layout, data, width) {
  const { l, r } = layout.margin,
    { family = "sans-serif", size: letters = 12 } = layout.font ?? {},
    size = letters / 12,
    inner = width - l - r - size * barOf(data),
    all = Array.from({ length: panelsOf(layout) }, (_, k) => [layout[axis("x", k)], layout[axis("y", k)]]),
    places = all.map(([x, y]) => [x.domain[0], y.domain[1]]),
    above = new Map(places.map(([, top]) => [top, 0])),
    pen = document.createElement("canvas").getContext("2d");
  pen.font = `${letters}px ${family}`;
  places.forEach(([left, top], k) => {
    const rights = places.filter(([x, y]) => y === top && x > left).map(([x]) => inner * (x - left) - APART),
      told = named(data, k),
      names = told.map(({ name }) => name),
      room = rights.length ? Math.min(...rights) : inner * (1 - left),
      columns = columnsOf(names, room, (name) => pen.measureText(name).width);
    inColumns(told, k, columns.down);
    above.set(top, Math.max(above.get(top), size * columns.above));
  });
  return above;
}

// As high as there is room; where that is not known (0), as high as Python has it, but above one row of panels with what the
// names take at the usual width. Above the first row of panels stand its titles and names, between two rows the numbers and
// titles of axes, too; but the panels of a row keep LEAST.
const [LEAST, TICKS, NAMED] = [45, 20, 22];
function fit(layout, room, usual, above) {
  const size = (layout.font?.size ?? 12) / 12,
    all = Array.from({ length: panelsOf(layout) }, (_, k) => layout[axis("y", k)]),
    rows = [...new Map(all.map(({ domain }) => [domain[1], domain])).values()].sort((one, two) => two[1] - one[1]),
    isNamed = (row) => all.some(({ domain }, k) => domain[1] === row[1] && layout[axis("x", k)].title?.text),
    gapOf = (row, before) => TITLE + above.get(row[1]) + size * (TICKS + (isNamed(before) ? NAMED : 0));
  const more = rows.length > 1 ? 0 : TITLE + usual.get(rows[0][1]) - layout.margin.t,
    high = room || layout.height + more;
  layout.margin.t = TITLE + above.get(rows[0][1]);
  const inner = high - layout.margin.t - layout.margin.b,
    gaps = rows.map((row, k) => (k ? gapOf(row, rows[k - 1]) / inner : 0)),
    [apart, tall] = [gaps.reduce((sum, gap) => sum + gap), rows.reduce((sum, [low, top]) => sum + top - low, 0)],
    most = Math.max(0, 1 - (LEAST * rows.length) / inner) / apart,
    times = Math.min(1, most),
    share = apart ? (1 - times * apart) / tall : 1 / tall;
  layout.height = high;
  let end = 1;
  const places = new Map(
    rows.map(([low, top], k) => {
      const now = end - (gaps[k] && times * gaps[k]);
      end = Math.max(0, now - share * (top - low));
      return [top, [end, now]];
    }),
  );
  for (const title of layout.annotations ?? [])
    if (places.has(title.y)) Object.assign(title, { yshift: shiftOf(above.get(title.y)), y: places.get(title.y)[1] });
  for (const legend of all.map((_, k) => layout[legendOf(k)] ?? {}))
    if (places.has(legend.y)) legend.y = places.get(legend.y)[1];
  for (const y of all) y.domain = places.get(y.domain[1]);
}

// The names of a panel go column by column.
function inColumns(traces, k, down) {
  traces.forEach((trace, i) => {
    trace.legendgroup = `${k} ${Math.floor(i / down)}`;
  });
}

// Each color bar stands beside its own panel.
function placeBars(data, layout) {
  for (const trace of data) {
    if (!trace.colorbar) continue;
    const [low, high] = axisOf({ layout }, trace).domain;
    trace.colorbar = { ...trace.colorbar, y: (low + high) / 2, len: high - low };
  }
}

// A pointer that is pulled over a figure takes points, and does not zoom; a finger scrolls the page. plotly writes powers
// of ten larger by a quarter: here they are as large as other numbers.
function hold(layout) {
  layout.dragmode = false;
  for (const key of Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))) {
    layout[key].fixedrange = true;
    const { type, exponentformat } = layout[key];
    if (type === "log" && exponentformat === "power") layout[key].tickfont = powers(layout);
  }
}

const powers = ({ font }) => ({ size: 0.8 * (font?.size ?? 12) });

// The numbers at logarithmic axes without a range, for what is drawn now: as `decades` of livegrad/plots.py chooses them.
export function decades(layout, data) {
  for (const key of Object.keys(layout).filter((key) => layout[key]?.type === "log" && layout[key].nticks)) {
    const axis = layout[key],
      [letter] = key,
      least = axis.autorangeoptions?.clipmin ?? 0,
      drawn = data.filter((trace) => (trace[`${letter}axis`] ?? letter) === key.replace("axis", "")),
      logs = drawn.flatMap((trace) => (trace.visible === false ? [] : [...(trace[letter] ?? [])])),
      seen = logs.filter((value) => value > 0 && value >= least).map(Math.log10);
    Object.assign(axis, {
      tickmode: "auto",
      dtick: undefined,
      tickvals: undefined,
      tickformat: undefined,
      tickfont: undefined,
    });
    if (!seen.length) continue;
    const [low, high] = [Math.min(...seen), Math.max(...seen)],
      first = Math.floor(low),
      span = high - low;
    if (span > 0 && span < 0.9) continue;
    if (span === 0 || span >= 2 || low < -4 || high > 4) {
      const dtick = Math.max(Math.ceil(span / axis.nticks), 1);
      Object.assign(axis, { tickmode: "linear", dtick, exponentformat: "power", tickfont: powers(layout) });
      continue;
    }
    const all = Array.from({ length: Math.ceil(high) - first + 1 }, (_, k) =>
      [1, 2, 5].map((n) => `${n}e${first + k}`),
    );
    const tickvals = all.flat().map(Number);
    Object.assign(axis, { tickmode: "array", tickvals, tickformat: "~g" });
  }
}

const same = (one, other) =>
  one === other ||
  (one && other && typeof one === "object" && typeof other === "object"
    ? Object.keys(one).length === Object.keys(other).length &&
      Object.keys(one).every((key) => same(one[key], other[key]))
    : Number.isNaN(one) && Number.isNaN(other));

// What of the data is not as it was: for each such trace its place and its new numbers; null where more has changed than
// where lines and points are, or an area between two may have.
function movedOf(before, data) {
  if (before?.length !== data.length || data.some(({ fill }) => fill?.startsWith("tonext"))) return null;
  const moved = [];
  for (const [k, trace] of data.entries()) {
    const keys = Object.keys({ ...before[k], ...trace }).filter((key) => !same(before[k][key], trace[key]));
    if (!keys.length) continue;
    if ((trace.type ?? "scatter") !== "scatter" || !keys.every((key) => key === "x" || key === "y")) return null;
    moved.push({ k, to: Object.fromEntries(keys.map((key) => [key, trace[key]])) });
  }
  return moved;
}

// The same with those between them in a panel: plotly puts what it draws side by side, and would change what lies above.
function between(moved, data) {
  const panelOf = ({ xaxis = "x", yaxis = "y" }) => xaxis + yaxis,
    inside = (trace, k) => {
      const places = moved.map((one) => one.k).filter((place) => panelOf(data[place]) === panelOf(trace));
      return Math.min(...places) <= k && k <= Math.max(...places);
    };
  return data.flatMap((trace, k) => (inside(trace, k) ? [moved.find((one) => one.k === k) ?? { k, to: {} }] : []));
}

// Draws the last frame asked for; while one is being drawn, those in between are dropped. Where only lines and points
// are elsewhere these alone are moved, which costs a third of a whole redraw; an axis without a range waits for the last
// frame of a run. What a frame does not know yet of a run's end stays as it was. `failed` hears why a frame could not be
// drawn; after `restore` the next one is drawn with the axes as they were at the start; after `close` nothing is drawn
// and nobody hears.
const [NARROW, WIDE] = [560, 688];
const CONFIG = { displayModeBar: false };
const AT_ONCE = { mode: "immediate", frame: { duration: 0, redraw: false }, transition: { duration: 0 } };

export class Drawer {
  constructor(Plotly, box, spec, drawn, failed) {
    Object.assign(this, { Plotly, box, spec, drawn, failed, waiting: undefined, last: null });
    Object.assign(this, { busy: false, closed: false, layout: null, made: "", width: 0, room: 0 });
    Object.assign(this, { shown: null, final: {}, outgrown: false, moving: null, atEnds: namedAtEnds(spec) });
    this.resizing = new ResizeObserver(() => {
      if (this.layout && box.clientWidth && (box.clientWidth !== this.width || this.roomNow() !== this.room))
        this.draw(this.last);
    });
    this.resizing.observe(spec.alone ? box.parentElement : box);
  }

  whole(data, frame) {
    const { Plotly, box, spec } = this,
      width = box.clientWidth;
    const narrow = width > 0 && width < NARROW; // a figure that is still hidden has no width
    const stacked = narrow ? stackOf(spec.figure, data, width) : null;
    stacked?.down.forEach((down, k) => inColumns(named(data, k), k, down));
    this.room = this.roomNow();
    const wanted = this.wanted(frame);
    this.width = width;
    const isNew = wanted !== this.made;
    if (isNew) this.layout = layoutOf(spec.figure, spec.draw, frame);
    const usual = stacked ? null : spread(this.layout, data, WIDE),
      above = usual && spread(this.layout, data, width || WIDE);
    if (isNew) {
      this.made = wanted;
      const { layout } = this;
      if (stacked) stack(layout, stacked);
      if (above) fit(layout, this.room, usual, above);
      hold(layout);
      if (width) layout.width = width;
      box.style.height = `${layout.height}px`;
      // On a phone it stays in sight while controls below it move, where that leaves room for them.
      const kept = narrow && layout.height < window.innerHeight - 200;
      box.parentElement.classList.toggle("mha-kept", kept);
      box.closest(".mha-live").style.setProperty("--mha-kept", kept ? `${layout.height}px` : "0px");
    }
    placeBars(data, this.layout);
    decades(this.layout, data);
    return Plotly.react(box, data, this.layout, CONFIG);
  }

  // What the layout depends on.
  wanted(frame) {
    const { box, spec } = this;
    const all = toldBy(frame),
      told = spec.draw.filter((place) => place.layout).map((place) => all[place.from]);
    return JSON.stringify([box.clientWidth, this.roomNow(), ...told]);
  }

  // In a view of the figure alone it is as high as there is room, but for a phone's: there it is as high as it likes.
  roomNow() {
    const { box, spec } = this;
    return spec.alone && box.clientWidth >= NARROW ? box.parentElement.clientHeight : 0;
  }

  // plotly says that lines begin to move, and has moved them then, at once; it takes the next frame only after one of the
  // browser's. The layers that none of them lies in it takes away: they are put back, before anything is painted.
  async move(moved, data) {
    const { Plotly, box } = this,
      panels = [...new Set([...box.querySelectorAll(".mlayer")].map((layer) => layer.parentNode))],
      layers = panels.map((panel) => [...panel.children]),
      begun = new Promise((go) => box.once("plotly_transitioning", go)),
      all = between(moved, data),
      ended = Plotly.animate(box, { data: all.map(({ to }) => to), traces: all.map(({ k }) => k) }, AT_ONCE);
    this.moving = ended.catch(() => {});
    await Promise.race([begun, ended]);
    panels.forEach((panel, k) => {
      if (panel.children.length < layers[k].length) panel.append(...layers[k]);
    });
  }

  // Whether plotly chooses the range of an axis on which something has moved.
  outgrows(moved, data) {
    const { layout } = this.spec.figure,
      isFree = (letter, trace) =>
        !layout[`${letter}axis${(trace[`${letter}axis`] ?? letter).slice(1)}`]?.range?.every((end) => end !== null);
    return moved.some(({ k, to }) => Object.keys(to).some((letter) => isFree(letter, data[k])));
  }

  // The frame, and of what it does not know yet what was known before: of a line whose heights are still to come its old
  // places, too.
  withKept(frame) {
    if (!frame || frame.done) return frame;
    const before = Object.entries(this.final).filter(([name]) => !(name in frame.curves)),
      kept = Object.fromEntries(before),
      final = { ...kept, ...frame.final };
    for (const place of this.spec.draw) {
      const names = Object.values(place).filter((name) => name in kept);
      if (names.some((name) => !(name in frame.final))) for (const name of names) final[name] = kept[name];
    }
    return { ...frame, final };
  }

  // Whether something is drawn otherwise than before.
  async one(told) {
    await this.moving;
    const frame = this.withKept(told),
      data = fill(this.spec, this.atEnds, frame),
      next = data.map((trace) => ({ ...trace })), // the whole figure gives traces a place in the legend
      moved = this.spec.whole || !frame ? null : movedOf(this.shown, data);
    this.outgrown ||= Boolean(moved) && this.outgrows(moved, data);
    this.shown = null;
    const isWhole = !moved || this.wanted(frame) !== this.made || (frame.done && this.outgrown);
    if (isWhole) {
      this.outgrown = false;
      await this.whole(data, frame);
    } else if (moved.length) await this.move(moved, data);
    Object.assign(this, { shown: next, final: frame?.final ?? {} });
    return isWhole || moved.length > 0;
  }

  async draw(result) {
    this.waiting = this.last = result;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.waiting !== undefined && !this.closed) {
        const frame = this.waiting;
        this.waiting = undefined;
        const isNew = await this.one(frame);
        if (!this.closed && (isNew || frame.done)) this.drawn(frame);
      }
    } catch (error) {
      if (!this.closed) this.failed(error.message);
    } finally {
      this.busy = false;
    }
  }

  restore() {
    this.made = "";
    this.width = 0;
  }

  close() {
    this.closed = true;
    this.resizing.disconnect();
  }
}

const nearest = (list, x) => list.reduce((best, one) => (Math.abs(one - x) < Math.abs(best - x) ? one : best));

// Points that a pointer can take: over each lies a handle, and moving it moves the sliders that its trace names, by as
// much as the point would move. Without a pointer there are the sliders. `place()` is to be called when drawn.
export class Handles {
  constructor(box, { drag, controls }, valuesNow, moved) {
    Object.assign(this, { box, controls, valuesNow, moved, layer: element("div", {}) });
    this.all = drag.map(({ trace: index, ...names }) => ({ index, names, made: [] }));
  }

  // For each letter of an axis that point k of a trace can move along: the axis, and where the point stands.
  at(index, k) {
    const trace = this.box.data[index],
      [x, y] = axesOf(this.box._fullLayout, trace);
    return { x: { axis: x, pixel: x.d2p(trace.x[k]) }, y: { axis: y, pixel: y.d2p(trace.y[k]) } };
  }

  handle(names, index, k) {
    const root = element("div", { className: "mha-handle", title: "Drag me" });
    let grip = null;
    root.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // else plotly would begin to zoom
      root.setPointerCapture(event.pointerId);
      grip = { x: event.clientX, y: event.clientY, at: this.at(index, k), values: this.valuesNow() };
    });
    root.addEventListener("pointermove", (event) => {
      if (grip) this.drag(names, grip, event);
    });
    const release = () => {
      grip = null;
    };
    root.addEventListener("pointerup", release);
    root.addEventListener("pointercancel", release);
    this.layer.append(root);
    return root;
  }

  drag(names, grip, { clientX, clientY }) {
    const now = this.valuesNow(),
      changes = Object.entries(names).map(([letter, name]) => {
        const { axis, pixel } = grip.at[letter],
          by = letter === "x" ? clientX - grip.x : clientY - grip.y;
        const { values } = this.controls.find((one) => one.name === name);
        return [name, nearest(values, grip.values[name] + axis.p2d(pixel + by) - axis.p2d(pixel))];
      });
    if (changes.some(([name, value]) => now[name] !== value)) this.moved({ ...now, ...Object.fromEntries(changes) });
  }

  place() {
    for (const { index, names, made } of this.all) {
      const { length } = this.box.data[index].x;
      while (made.length < length) made.push(this.handle(names, index, made.length));
      made.forEach((root, k) => {
        const { x, y } = k < length ? this.at(index, k) : {};
        root.hidden = ![x, y].every((end) => end && end.pixel >= 0 && end.pixel <= end.axis._length);
        if (root.hidden) return;
        root.style.left = `${x.axis._offset + x.pixel}px`;
        root.style.top = `${y.axis._offset + y.pixel}px`;
      });
    }
  }
}
