// The face of a live figure: controls, plotly, a worker that trains, a line of text that says what came out.
// It stands behind kernel.js and engine.js in one module; the description of the figure comes from Python.

// Runs jobs in slices and posts what has been recorded; a newer job ends an older one. Its text runs in the worker
// too. Messages: {spec}, {job, values, slice}, {} to stop.
function serve(engine, post) {
  const SLICE = 8, BETWEEN_FRAMES = 100; // milliseconds
  const channel = new MessageChannel(); // a later turn without the four milliseconds that a timer waits
  let spec = null, current = null;

  channel.port1.onmessage = turn;

  function turn() {
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
    else channel.port2.postMessage(null);
    if (due || result.done) post({ job, ...result });
  }

  return (message) => {
    spec = message.spec ?? spec;
    current = message.values ? { ...message, posted: 0 } : null;
    turn();
  };
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

// Gives `run(values)` and `close()`; `show` hears of the last run alone. A worker takes a while to start, and a page
// may forbid it: until it says that it is ready, training takes slices of the page's own time.
function trainer(spec, show) {
  let job = 0, worker = null, ready = false;
  const hear = (result) => result.job === job && show(result);
  const here = serve(makeEngine(makeKernel(bytesOf(KERNEL))), hear);
  here({ spec });

  try {
    const parts = [makeKernel, makeEngine, serve, bytesOf].map(String).join("\n");
    const source = `const KERNEL = "${KERNEL}";\n${parts}
      const server = serve(makeEngine(makeKernel(bytesOf(KERNEL))), (result) => postMessage(result));
      onmessage = ({ data }) => server(data);
      postMessage("ready");`;
    worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => {
      if (data !== "ready") return hear(data);
      ready = true;
      worker.postMessage({ spec });
    };
    worker.onerror = (event) => event.preventDefault(); // it cannot start; errors of the engine come as results
  } catch {
    worker = null;
  }

  return {
    run(values) {
      const message = { job: ++job, values };
      if (job === 1) message.slice = 100; // while a page loads, a second turn may have to wait for a second
      if (!ready) return here(message);
      here({});
      worker.postMessage(message);
    },
    close() {
      here({});
      worker?.terminate();
    },
    get place() { return ready ? "worker" : "page"; },
  };
}

// The page's own plotly; with a kernel behind, the one that Python's plotly carries, asked for once a page.
function plotly(model) {
  if (window.Plotly) return Promise.resolve(window.Plotly);
  return (window.mhaPlotly ??= new Promise((resolve, reject) => {
    const tooLate = setTimeout(() => {
      window.mhaPlotly = null;
      reject(new Error("no plotly.js came: is the kernel running?"));
    }, 60000);
    const take = (message, buffers) => {
      if (message?.plotly !== true) return;
      model.off("msg:custom", take);
      clearTimeout(tooLate);
      const define = window.define; // a loader of modules would keep plotly for itself
      const script = document.createElement("script");
      window.define = undefined;
      script.textContent = new TextDecoder().decode(buffers[0]);
      document.head.append(script);
      window.define = define;
      resolve(window.Plotly);
    };
    model.on("msg:custom", take);
    model.send({ want: "plotly" });
  }));
}

function element(name, properties, ...children) {
  const { dataset, ...plain } = properties;
  const made = Object.assign(document.createElement(name), plain);
  Object.assign(made.dataset, dataset ?? {});
  made.append(...children);
  return made;
}

// JupyterLab's shortcuts would take the arrow keys from whatever in an output has the focus.
const OWN_KEYS = { lmSuppressShortcuts: "true" };

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

// "after {steps} steps the loss is {loss}": the last number of each curve, what is measured last, the controls' values.
function sentence(spec, values, result) {
  const last = (curve) => curve[curve.length - 1];
  const ends = Object.fromEntries(Object.entries(result.curves).map(([name, curve]) => [name, last(curve)]));
  const known = { ...spec.fixed, ...values, ...ends, ...result.lasts, steps: last(result.steps), stopped: result.stopped };
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
    for (const [key, name] of Object.entries(parts)) if (known[name]) data[trace][key] = known[name];
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

// On a phone the right panel goes below the left one, and its color bar with it.
function stack(layout) {
  if (!layout.xaxis2) return;
  const places = { xaxis: [0, 1], xaxis2: [0, 1], yaxis: [0.58, 1], yaxis2: [0, 0.42] };
  for (const [axis, domain] of Object.entries(places)) layout[axis].domain = domain;
  layout.annotations.forEach((title, k) => Object.assign(title, { x: 0.5, y: k ? 0.42 : 1 }));
  layout.height *= 1.7;
  layout.legend.y = -0.12;
}

function stackBars(data) {
  for (const trace of data) if (trace.colorbar) trace.colorbar = { ...trace.colorbar, y: 0.21, len: 0.42 };
}

// Draws the last frame asked for; while one is being drawn, those in between are dropped. A run that goes on moves
// the lines alone, which costs half of a whole redraw; what is measured at its end comes with its last frame.
function drawer(Plotly, box, spec, drawn) {
  const config = { displayModeBar: false, responsive: true };
  const atOnce = { mode: "immediate", frame: { duration: 0, redraw: false }, transition: { duration: 0 } };
  const lines = [...new Set(spec.draw.filter((place) => "y" in place && !place.once).map((place) => place.trace))];
  let waiting, busy = false, layout = null, made = "";

  function whole(data, frame) {
    const narrow = box.clientWidth < 480;
    if (narrow) stackBars(data);
    const wanted = JSON.stringify([narrow, ...spec.draw.filter((p) => p.layout).map((p) => frame?.lasts[p.from])]);
    if (wanted !== made) {
      made = wanted;
      layout = layoutOf(spec.figure, spec.draw, frame);
      if (narrow) stack(layout);
    }
    return Plotly.react(box, data, layout, config);
  }

  async function one(frame) {
    const data = fill(spec.figure, spec.draw, frame);
    if (!frame || frame.done) return whole(data, frame);
    return Plotly.animate(box, { data: lines.map((k) => ({ x: data[k].x, y: data[k].y })), traces: lines }, atOnce);
  }

  return async function draw(result) {
    waiting = result;
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
  };
}

function render({ model, el }) {
  const spec = model.get("spec");
  const box = element("div", { className: "mha-live-plot" });
  const summary = element("p", { className: "mha-live-summary" });
  summary.setAttribute("role", "status"); // a screen reader says what came out, when it has come
  const root = element("div", { className: "mha-live", dataset: { state: "loading" } });
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", spec.figure.layout.meta.alt);
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", spec.figure.layout.meta.alt);

  let values = { ...model.get("values") }, asked = values, train = null, draw = null, saving = null;

  function go() {
    root.dataset.state = "running";
    root.dataset.place = train.place;
    asked = values;
    train.run(values);
  }

  function hear(result) {
    if (result.error) fail(result.error);
    else draw({ ...result, values: asked });
  }

  function drawn(frame) {
    if (!frame) return;
    root.dispatchEvent(new CustomEvent("mha-drawn", { bubbles: true, detail: { job: frame.job, done: frame.done } }));
    if (!frame.done || frame.values !== values) return; // a newer run is on its way
    summary.textContent = sentence(spec, values, frame);
    root.dataset.state = "done";
  }

  function fail(reason) {
    root.dataset.state = "failed";
    summary.textContent = `This figure could not train: ${reason}`;
  }

  function move(next) {
    values = next;
    setAll();
    if (train) go();
  }

  // The reader moves; the kernel, where there is one, hears of the values that are kept.
  function moved(next) {
    move(next);
    clearTimeout(saving);
    saving = setTimeout(() => { model.set("values", values); model.save_changes(); }, 150);
  }

  // Python moves.
  function told() {
    const next = model.get("values");
    if (Object.keys(next).some((name) => next[name] !== values[name])) move({ ...next });
  }
  model.on("change:values", told);

  const controls = Object.fromEntries(spec.controls.map((said) =>
    [said.name, control(said, (value) => moved({ ...values, [said.name]: value }))]));
  const setAll = () => Object.entries(controls).forEach(([name, { set }]) => set(values[name]));
  const reset = element("button", { type: "button", className: "mha-reset", textContent: "Reset",
                                    dataset: OWN_KEYS });
  reset.addEventListener("click", () =>
    moved(Object.fromEntries(spec.controls.map(({ name, value }) => [name, value]))));

  const caption = element("p", { className: "mha-live-title", textContent: spec.title });
  const panel = element("div", { className: "mha-controls" }, ...Object.values(controls).map((c) => c.root), reset);
  root.append(caption, panel, box, summary);
  el.append(root);
  setAll();

  const closing = { done: false };
  plotly(model).then((Plotly) => {
    if (closing.done) return;
    document.getElementById(spec.still)?.setAttribute("hidden", "");
    draw = drawer(Plotly, box, spec, drawn);
    train = trainer(spec, hear);
    draw(null).then(go); // the frame that came with the page, then the real one
  }).catch((error) => fail(error.message));

  return () => {
    closing.done = true;
    clearTimeout(saving);
    model.off("change:values", told);
    train?.close();
    window.Plotly?.purge(box);
  };
}

export default { render };
