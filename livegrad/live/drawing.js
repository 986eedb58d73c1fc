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

// What was recorded, put where the description says it is drawn; no result: the frame that Python drew. At the start the
// lines of the default settings would lie under those of the run; later the run before it, if there was another, is drawn
// beside them.
function fill({ figure, draw, guesses = [] }, result) {
  const data = figure.data.map((trace) => ({ ...trace }));
  for (const { trace, guess } of guesses) {
    const said = guessed(guess);
    Object.assign(data[trace], { visible: said !== null }, said);
  }
  if (!result) return data;
  const known = { steps: result.steps, ...result.curves, ...result.final, ...result.looks };
  const before = [];
  for (const { trace, once, layout, ...parts } of draw) {
    if (once && result.isDefault) data[trace].visible = "legendonly";
    if (once && result.before?.[parts.y]) before.push(earlier(data[trace], parts, result.before, !before.length));
    if (once || layout) continue;
    // A copy: plotly draws nothing where it gets the array that it has, and a run on the page goes on filling its own.
    for (const [key, name] of Object.entries(parts))
      if (name in known) data[trace][key] = Array.isArray(known[name]) ? [...known[name]] : known[name];
    if ("y" in parts) data[trace].y = ended(data[trace].y, axisOf(figure, data[trace]));
  }
  return [...data, ...before];
}

// The line of the default settings, with the numbers of the run before.
function earlier(trace, { x, y }, before, showlegend) {
  const line = { ...trace.line, dash: "dash" };
  return { ...trace, x: before[x] ?? trace.x, y: before[y], line, name: "the run before", showlegend };
}

export const axisOf = ({ layout }, trace) => layout[`yaxis${(trace.yaxis ?? "y").slice(1)}`];

// What lies far below the end of an axis stands a little below it: plotly leaves room by how far a line goes.
export function ended(y, axis) {
  const end = axis?.autorangeoptions?.clipmin / 10;
  return end > 0 && Array.isArray(y) ? y.map((value) => (value > 0 ? Math.max(value, end) : value)) : y;
}

function layoutOf(figure, draw, result) {
  const layout = structuredClone(figure.layout);
  for (const { layout: path, from } of draw) {
    if (!path || !result?.final[from]) continue;
    const keys = path.split("."),
      name = keys.pop();
    keys.reduce((node, key) => (node[key] ??= {}), layout)[name] = result.final[from];
  }
  return layout;
}

// On a phone the panels stand one below the other, each color bar beside its own.
const panelsOf = (layout) => Object.keys(layout).filter((key) => /^xaxis\d*$/.test(key)).length;

// The share of the height that panel k of n gets when they are stacked.
function place(k, n) {
  const gap = 0.48 / n,
    size = (1 - gap * (n - 1)) / n;
  return [1 - k * (size + gap) - size, 1 - k * (size + gap)];
}

function stack(layout) {
  const n = panelsOf(layout),
    rows = new Set(Array.from({ length: n }, (_, k) => layout[axis("y", k)].domain?.[0])).size;
  if (n < 2 || rows === n) return; // they stand so already
  for (let k = 0; k < n; k++) {
    layout[axis("x", k)].domain = [0, 1];
    layout[axis("y", k)].domain = place(k, n);
  }
  layout.annotations
    ?.slice(0, n)
    .forEach((title, k) => Object.assign(title, { x: title.xanchor === "left" ? 0 : 0.5, y: place(k, n)[1] }));
  layout.height = Math.max(255 * n, ((0.7 * n) / rows) * (layout.height ?? 380)); // two of them leave room for controls
  const legends = Object.keys(layout).filter((key) => /^legend\d*$/.test(key));
  if (legends.length < 2) (layout.legend ??= {}).y = -0.24 / n;
  else
    for (const name of legends)
      // one for each panel, of its number
      Object.assign(layout[name], { x: 0, y: place(Number(name.slice(6) || 1) - 1, n)[0] - 0.1 / n });
}

const axis = (letter, k) => `${letter}axis${k ? k + 1 : ""}`;

function stackBars(data, n) {
  for (const trace of data) {
    if (!trace.colorbar || n < 2) continue;
    const [low, high] = place(Number((trace.yaxis ?? "y").slice(1) || 1) - 1, n);
    trace.colorbar = { ...trace.colorbar, y: (low + high) / 2, len: high - low };
  }
}

// A pointer that is pulled over a figure takes points, and does not zoom; a finger scrolls the page. plotly writes powers
// of ten larger by a quarter: here they are as large as other numbers.
function hold(layout) {
  layout.dragmode = false;
  for (const key of Object.keys(layout).filter((key) => /^[xy]axis\d*$/.test(key))) {
    layout[key].fixedrange = true;
    if (layout[key].exponentformat === "power") layout[key].tickfont = { size: 0.8 * (layout.font?.size ?? 12) };
  }
}

// Draws the last frame asked for; while one is being drawn, those in between are dropped. A run that goes on moves
// the lines alone, which costs half of a whole redraw; what is measured at its end comes with its last frame. `failed`
// hears why a frame could not be drawn; after `restore` the next one is drawn with the axes as they were at the start;
// after `close` nothing is drawn and nobody hears.
const NARROW = 560;
const CONFIG = { displayModeBar: false };
const AT_ONCE = { mode: "immediate", frame: { duration: 0, redraw: false }, transition: { duration: 0 } };

export class Drawer {
  constructor(Plotly, box, spec, drawn, failed) {
    Object.assign(this, { Plotly, box, spec, drawn, failed, waiting: undefined, last: null });
    Object.assign(this, { busy: false, closed: false, layout: null, made: "", width: 0, room: 0, before: undefined });
    this.lines = [...new Set(spec.draw.filter((place) => "y" in place && !place.once).map((place) => place.trace))];
    this.grows = spec.whole || spec.draw.some((place) => spec.curves.includes(place.z));
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
    if (narrow) stackBars(data, panelsOf(spec.figure.layout));
    const room = (this.room = this.roomNow());
    const wanted = JSON.stringify([width, room, ...spec.draw.filter((p) => p.layout).map((p) => frame?.final[p.from])]);
    this.width = width;
    if (wanted !== this.made) {
      this.made = wanted;
      const layout = (this.layout = layoutOf(spec.figure, spec.draw, frame));
      if (narrow) stack(layout);
      if (room) layout.height = room;
      hold(layout);
      if (width) layout.width = width;
      box.style.height = `${layout.height}px`;
      // On a phone it stays in sight while controls above it move, where that leaves room for them.
      const kept = narrow && layout.height < window.innerHeight - 200;
      box.parentElement.classList.toggle("mha-kept", kept);
      box.closest(".mha-live").style.setProperty("--mha-kept", kept ? `${layout.height}px` : "0px");
    }
    return Plotly.react(box, data, this.layout, CONFIG);
  }

  // In a view of the figure alone it is as high as there is room, but for a phone's: there it is as high as it likes.
  roomNow() {
    const { box, spec } = this;
    return spec.alone && box.clientWidth >= NARROW ? box.parentElement.clientHeight : 0;
  }

  async one(frame) {
    const { Plotly, box, spec, lines } = this,
      data = fill(spec, frame);
    const isOther = frame?.before !== this.before || frame?.isDefault !== this.isDefault; // gray lines come or go
    Object.assign(this, { before: frame?.before, isDefault: frame?.isDefault });
    if (!frame || frame.done || isOther || this.grows || box.clientWidth !== this.width) await this.whole(data, frame);
    else
      await Plotly.animate(box, { data: lines.map((k) => ({ x: data[k].x, y: data[k].y })), traces: lines }, AT_ONCE);
  }

  async draw(result) {
    this.waiting = this.last = result;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.waiting !== undefined && !this.closed) {
        const frame = this.waiting;
        this.waiting = undefined;
        await this.one(frame);
        if (!this.closed) this.drawn(frame);
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
      layout = this.box._fullLayout;
    return Object.fromEntries(
      ["x", "y"].map((letter) => {
        const axis = layout[`${letter}axis${(trace[`${letter}axis`] ?? "").slice(1)}`];
        return [letter, { axis, pixel: axis.d2p(trace[letter][k]) }];
      }),
    );
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
