// What the faces of live figures are made of: controls, plotly, a worker that trains, a line of text that says what
// came out. It stands behind kernel.js, the engine and element.js, and before figure.js or the files of lab, in one
// module.

// Runs jobs in slices and posts what has been recorded; a newer job ends an older one, and one that waits behind it is
// never begun. Its text runs in the worker too. Messages: {spec}, {job, values, slice}, {} to stop.
function serve(engine, post) {
  const SLICE = 8, BETWEEN_FRAMES = 100; // milliseconds
  const channel = new MessageChannel(); // a later turn without the four milliseconds that a timer waits
  let spec = null, current = null, coming = false;

  channel.port1.onmessage = turn;

  function later() {
    if (!coming) channel.port2.postMessage(null);
    coming = true;
  }

  function turn() {
    coming = false;
    if (!current) return;
    const { job, values } = current;
    try {
      current.training ??= engine.run(spec, values);
      current.training.advance(current.slice ?? SLICE);
    } catch (error) {
      current = null;
      return post({ job, error: error.message });
    }
    const { result } = current.training, due = Date.now() - current.posted > BETWEEN_FRAMES;
    if (due) current.posted = Date.now();
    if (result.done) current = null;
    else later();
    if (due || result.done) post({ job, ...result });
  }

  return (message) => {
    spec = message.spec ?? spec;
    current = message.values ? { ...message, posted: 0 } : null;
    if (message.slice) turn();
    else later();
  };
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

// Gives `run(values)`, `tell(spec)` for another description, and `close()`; `show` hears of the last run alone. A worker
// takes a while to start, and a page may forbid it: until it says that it is ready, training takes slices of the page's
// own time; with `patience`, in milliseconds, it waits so long before it does. A worker that dies is replaced, with
// `patience` also one that has been silent for so long in a run, and the run begins anew; where a step takes long, its
// computation calls `alive`.
function trainer(spec, show, patience = null) {
  let job = 0, latest = null, worker = null, ready = false, deaths = 0, silence = null;
  const here = serve(makeEngine(makeKernel(bytesOf(KERNEL))), hear);
  here({ spec });

  function hear(result) {
    clearTimeout(silence);
    if (result.job !== job) return;
    if (result.done || result.error) latest = null;
    else if (ready) listen();
    show(result);
  }

  function listen() {
    clearTimeout(silence);
    if (patience) silence = setTimeout(died, patience);
  }

  // Of a worker that was never ready there is no other: the page trains.
  function died() {
    const lived = ready, another = lived && ++deaths < 4;
    ready = false;
    worker.terminate();
    worker = null;
    if (another) start();
    if (latest && (lived || patience)) send(latest);
  }

  function send(message) {
    if (ready) worker.postMessage(message);
    else if (!worker || !patience) return here(message);
    listen();
  }

  function start() {
    try {
      const parts = [makeKernel, makeEngine, serve, bytesOf].map(String).join("\n");
      const source = `const KERNEL = "${KERNEL}";\n${parts}
        const server = serve(makeEngine(makeKernel(bytesOf(KERNEL))), (result) => postMessage(result));
        let told = 0;
        globalThis.alive = () => { if (Date.now() - told > 1000) { told = Date.now(); postMessage("alive"); } };
        onmessage = ({ data }) => server(data);
        postMessage("ready");`;
      worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
      worker.onmessage = ({ data }) => {
        if (data === "alive") return latest && listen();
        if (data !== "ready") return hear(data);
        ready = true;
        worker.postMessage({ spec });
        if (patience && latest) send(latest);
      };
      worker.onerror = (event) => { // it cannot start, or it died; errors of the engine come as results
        event.preventDefault();
        died();
      };
    } catch {
      worker = null;
    }
  }
  start();

  return {
    run(values) {
      latest = { job: ++job, values };
      if (job === 1) latest.slice = 100; // while a page loads, a second turn may have to wait for a second
      here({});
      send(latest);
    },
    tell(next) {
      spec = next;
      here({ spec });
      if (ready) worker.postMessage({ spec });
    },
    close() {
      clearTimeout(silence);
      here({});
      worker?.terminate();
    },
    get place() { return ready || (worker && patience) ? "worker" : "page"; },
  };
}

// The page's own plotly; with a kernel behind, the one that Python's plotly carries. Each view asks for itself, since a
// view may be gone before the answer comes; the first answer is used by all.
function plotly(model) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return new Promise((resolve, reject) => {
    const tooLate = setTimeout(() => reject(new Error("no plotly.js came: is the kernel running?")), 60000);
    const take = (message, buffers) => {
      if (message?.plotly !== true) return;
      model.off("msg:custom", take);
      clearTimeout(tooLate);
      if (!window.Plotly) insert(new TextDecoder().decode(buffers[0]));
      if (window.Plotly) resolve(window.Plotly);
      else reject(new Error("this page does not let plotly.js run"));
    };
    model.on("msg:custom", take);
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

// One control: {root, set(value)}; `changed(value)` is called at every move.
function control({ name, label, values, texts, kind }, changed) {
  const index = (value) => Math.max(0, values.indexOf(value));
  const id = `mha-${name}-${Math.random().toString(36).slice(2)}`;
  const caption = element("label", { htmlFor: id, textContent: label });

  if (kind === "switch") {
    const input = element("input", { id, type: "checkbox", dataset: { control: name, ...OWN_KEYS } });
    input.addEventListener("change", () => changed(input.checked));
    return { root: element("div", { className: "mha-control mha-switch" }, input, caption),
             set: (value) => { input.checked = value; } };
  }
  if (kind === "choice") {
    const options = texts.map((text, k) => element("option", { value: k, textContent: text }));
    const input = element("select", { id, dataset: { control: name, ...OWN_KEYS } }, ...options);
    input.addEventListener("change", () => changed(values[input.value]));
    return { root: element("div", { className: "mha-control" }, caption, input),
             set: (value) => { input.value = index(value); } };
  }
  const input = element("input", { id, type: "range", min: 0, max: values.length - 1, step: 1,
                                   dataset: { control: name, ...OWN_KEYS } });
  const shown = element("span", { className: "mha-value", ariaHidden: "true" }); // the slider itself says it aloud
  const say = () => {
    shown.textContent = texts[input.value];
    input.setAttribute("aria-valuetext", texts[input.value]);
  };
  input.addEventListener("input", () => { say(); changed(values[input.value]); });
  return { root: element("div", { className: "mha-control" }, caption, input, shown),
           set: (value) => { input.value = index(value); say(); } };
}

// 0.0123 and 4.5e-7: three digits, as in the text of the book.
function digits(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return String(value);
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5)) {
    const [mantissa, exponent] = value.toExponential(2).split("e");
    return `${mantissa} · 10${[...exponent.replace("+", "")].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("")}`;
  }
  return String(Number(value.toPrecision(3)));
}

// "after {steps} steps the loss is {loss}": the last number of each curve (the first of it: {first_loss}), what is
// measured last, the controls' values in words.
function sentence(spec, values, result) {
  const last = (curve) => curve[curve.length - 1];
  const of = (entries) => Object.fromEntries(entries);
  const set = of(spec.controls.map((c) => [c.name, c.texts[c.values.indexOf(values[c.name])]]));
  const curves = Object.entries(result.curves);
  const ends = of(curves.flatMap(([name, curve]) => [[name, last(curve)], ["first_" + name, curve[0]]]));
  const known = { ...spec.fixed, ...set, ...ends, ...result.lasts, steps: last(result.steps), stopped: result.stopped };
  const template = result.stopped === null ? spec.summary : spec.stopped;
  return template.replace(/\{(\w+)\}/g, (_, name) => digits(known[name]));
}

// What was recorded, put where the description says it is drawn; no result: the frame that Python drew.
function fill(figure, draw, result) {
  const data = figure.data.map((trace) => ({ ...trace }));
  if (!result) return data;
  const known = { steps: result.steps, ...result.curves, ...result.lasts };
  for (const { trace, once, layout, ...parts } of draw) {
    if (once || layout) continue;
    // A copy: plotly draws nothing where it gets the array that it has, and a run on the page goes on filling its own.
    for (const [key, name] of Object.entries(parts)) if (known[name]) data[trace][key] = [...known[name]];
  }
  return data;
}

function layoutOf(figure, draw, result) {
  const layout = structuredClone(figure.layout);
  for (const { layout: path, from } of draw) {
    if (!path || !result?.lasts[from]) continue;
    const keys = path.split("."), name = keys.pop();
    keys.reduce((node, key) => (node[key] ??= {}), layout)[name] = result.lasts[from];
  }
  return layout;
}

// On a phone the panels stand one below the other, each color bar beside its own.
const panelsOf = (layout) => Object.keys(layout).filter((key) => /^xaxis\d*$/.test(key)).length;

// The share of the height that panel k of n gets when they are stacked.
function place(k, n) {
  const gap = 0.48 / n, size = (1 - gap * (n - 1)) / n;
  return [1 - k * (size + gap) - size, 1 - k * (size + gap)];
}

function stack(layout) {
  const n = panelsOf(layout), rows = new Set(Array.from({ length: n }, (_, k) => layout[axis("y", k)].domain?.[0])).size;
  if (n < 2) return;
  for (let k = 0; k < n; k++) {
    layout[axis("x", k)].domain = [0, 1];
    layout[axis("y", k)].domain = place(k, n);
  }
  layout.annotations?.slice(0, n).forEach((title, k) => Object.assign(title, { x: 0.5, y: place(k, n)[1] }));
  layout.height = (0.85 * n / rows) * (layout.height ?? 380);
  (layout.legend ??= {}).y = -0.24 / n;
}

const axis = (letter, k) => `${letter}axis${k ? k + 1 : ""}`;

function stackBars(data, n) {
  for (const trace of data) {
    if (!trace.colorbar || n < 2) continue;
    const [low, high] = place(Number((trace.yaxis ?? "y").slice(1) || 1) - 1, n);
    trace.colorbar = { ...trace.colorbar, y: (low + high) / 2, len: high - low };
  }
}

// Draws the last frame asked for; while one is being drawn, those in between are dropped. A run that goes on moves
// the lines alone, which costs half of a whole redraw; what is measured at its end comes with its last frame.
function drawer(Plotly, box, spec, drawn) {
  const config = { displayModeBar: false };
  const atOnce = { mode: "immediate", frame: { duration: 0, redraw: false }, transition: { duration: 0 } };
  const lines = [...new Set(spec.draw.filter((place) => "y" in place && !place.once).map((place) => place.trace))];
  let waiting, last = null, busy = false, layout = null, made = "", width = 0;

  function whole(data, frame) {
    width = box.clientWidth;
    const narrow = width > 0 && width < 480; // a figure that is still hidden has no width
    if (narrow) stackBars(data, panelsOf(spec.figure.layout));
    const wanted = JSON.stringify([width, ...spec.draw.filter((p) => p.layout).map((p) => frame?.lasts[p.from])]);
    if (wanted !== made) {
      made = wanted;
      layout = layoutOf(spec.figure, spec.draw, frame);
      if (narrow) stack(layout);
      if (width) layout.width = width;
      box.style.height = `${layout.height}px`;
    }
    return Plotly.react(box, data, layout, config);
  }

  async function one(frame) {
    const data = fill(spec.figure, spec.draw, frame);
    if (!frame || frame.done || spec.whole || box.clientWidth !== width) return whole(data, frame);
    return Plotly.animate(box, { data: lines.map((k) => ({ x: data[k].x, y: data[k].y })), traces: lines }, atOnce);
  }

  async function draw(result) {
    waiting = last = result;
    if (busy) return;
    busy = true;
    try {
      while (waiting !== undefined) {
        const frame = waiting;
        waiting = undefined;
        await one(frame);
        drawn(frame);
      }
    } finally {
      busy = false;
    }
  }

  const resizing = new ResizeObserver(() => {
    if (layout && box.clientWidth && box.clientWidth !== width) draw(last);
  });
  resizing.observe(box);
  return { draw, close: () => resizing.disconnect() };
}

// Points that a pointer can take: over each lies a handle, and moving it moves the sliders that its trace names, by as
// much as the point would move. Without a pointer there are the sliders. Gives `place()`, to be called when drawn.
function handles(box, { drag, controls }, valuesNow, moved) {
  const layer = element("div", {});
  const slider = (name) => controls.find((one) => one.name === name).values;
  const nearest = (list, x) => list.reduce((best, one) => (Math.abs(one - x) < Math.abs(best - x) ? one : best));

  function handle(names, at) {
    const root = element("div", { className: "mha-handle" });
    let grip = null;
    root.addEventListener("pointerdown", (event) => {
      event.preventDefault(); // else plotly would begin to zoom
      root.setPointerCapture(event.pointerId);
      grip = { x: event.clientX, y: event.clientY, at: at(), values: valuesNow() };
    });
    root.addEventListener("pointermove", (event) => {
      if (!grip) return;
      const changes = Object.entries(names).map(([letter, name]) => {
        const { axis, pixel } = grip.at[letter], by = letter === "x" ? event.clientX - grip.x : event.clientY - grip.y;
        return [name, nearest(slider(name), grip.values[name] + axis.p2d(pixel + by) - axis.p2d(pixel))];
      });
      if (changes.some(([name, value]) => valuesNow()[name] !== value))
        moved({ ...valuesNow(), ...Object.fromEntries(changes) });
    });
    const release = () => { grip = null; };
    root.addEventListener("pointerup", release);
    root.addEventListener("pointercancel", release);
    layer.append(root);
    return { root, at };
  }

  const axisOf = (trace, letter) => box._fullLayout[`${letter}axis${(trace[`${letter}axis`] ?? "").slice(1)}`];
  const all = drag.map(({ trace: index, ...names }) => ({ index, names, made: [] }));

  function place() {
    for (const { index, names, made } of all) {
      const trace = box.data[index];
      const at = (k) => () => Object.fromEntries(["x", "y"].map((letter) => {
        const axis = axisOf(trace, letter);
        return [letter, { axis, pixel: axis.d2p(box.data[index][letter][k]) }];
      }));
      while (made.length < trace.x.length) made.push(handle(names, at(made.length)));
      made.forEach(({ root, at }, k) => {
        const { x, y } = k < trace.x.length ? at() : {};
        root.hidden = ![x, y].every((end) => end && end.pixel >= 0 && end.pixel <= end.axis._length);
        if (root.hidden) return;
        root.style.left = `${x.axis._offset + x.pixel}px`;
        root.style.top = `${y.axis._offset + y.pixel}px`;
      });
    }
  }

  return { layer, place };
}
