import { axisOf, plotly } from "./drawing.js";
import { element } from "./element.js";

// What live figures are made of beside their drawing: controls, a sentence that says what came out, values that Python
// shares.

// One control: {root, set(value)}; `changed(value)` is called at every move.
export function control(said, changed) {
  const id = `mha-${said.name}-${Math.random().toString(36).slice(2)}`;
  const caption = element("label", { htmlFor: id, textContent: said.label });
  return KINDS[said.kind](
    { ...said, dataset: { control: said.name }, index: (value) => Math.max(0, said.values.indexOf(value)) },
    id,
    caption,
    changed,
  );
}

const KINDS = {
  switch({ dataset }, id, caption, changed) {
    const input = element("input", { id, type: "checkbox", dataset });
    input.addEventListener("change", () => changed(input.checked));
    return {
      root: element("div", { className: "mha-control mha-switch" }, input, caption),
      set: (value) => {
        input.checked = value;
      },
    };
  },

  choice({ values, texts, index, dataset }, id, caption, changed) {
    const options = texts.map((text, k) => element("option", { value: k, textContent: text }));
    const input = element("select", { id, dataset }, ...options);
    input.addEventListener("change", () => changed(values[input.value]));
    return {
      root: element("div", { className: "mha-control" }, caption, input),
      set: (value) => {
        input.value = index(value);
      },
    };
  },

  slider({ values, texts, index, dataset }, id, caption, changed) {
    const input = element("input", { id, type: "range", min: 0, max: values.length - 1, step: 1, dataset });
    const shown = element("span", { className: "mha-value", "aria-hidden": "true" }); // the slider itself says it aloud
    const longest = Math.max(...texts.map(({ length }) => length)); // has its room at every value: no label wraps anew
    shown.setAttribute("style", `min-width: ${longest}ch`);
    const say = () => {
      shown.textContent = texts[input.value];
      input.setAttribute("aria-valuetext", texts[input.value]);
    };
    slide(input, () => {
      say();
      changed(values[input.value]);
    });
    return {
      root: element("div", { className: "mha-control" }, caption, input, shown),
      set: (value) => {
        input.value = index(value);
        say();
      },
    };
  },
};

// A finger that lands on a slider may be scrolling the page. Nothing changes before it moves along the slider or is
// lifted, and where the page takes it over, the slider goes back to where it was, and stays there: a busy browser says
// that the page has the finger before it moves the slider to where the finger has landed.
function slide(input, changed) {
  let finger = null;
  const giveBack = () => {
    finger.taken = true;
    input.value = finger.before;
  };
  input.addEventListener("pointerdown", ({ pointerType, clientX: x, clientY: y }) => {
    finger = pointerType === "touch" ? { x, y, before: input.value, slides: false, taken: false } : null;
  });
  input.addEventListener("pointermove", ({ clientX, clientY }) => {
    if (!finger || finger.slides || finger.taken) return;
    if (Math.abs(clientX - finger.x) > 8) finger.slides = true;
    else if (Math.abs(clientY - finger.y) > 8) giveBack();
  });
  input.addEventListener("input", () => {
    if (finger?.taken) input.value = finger.before;
    else if (!finger || finger.slides) changed();
  });
  input.addEventListener("pointerup", () => {
    if (finger && !finger.slides && !finger.taken && input.value !== finger.before) changed();
  });
  input.addEventListener("pointercancel", () => {
    if (finger && !finger.slides) giveBack();
  });
  for (const end of ["touchend", "touchcancel", "keydown"])
    input.addEventListener(end, () => {
      finger = null;
    });
}

export function button(text, action) {
  const made = element("button", { type: "button", className: "mha-reset", textContent: text });
  made.addEventListener("click", action);
  return made;
}

export const defaults = (controls) => Object.fromEntries(controls.map(({ name, value }) => [name, value]));

// 0.0123 and 4.5e-7: three digits, as in the text of the book.
export function digits(value) {
  if (typeof value !== "number" || !Number.isFinite(value)) return String(value);
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5)) {
    const [mantissa, exponent] = value.toExponential(2).split("e");
    return `${mantissa}\u00a0·\u00a010${[...exponent.replace("+", "")].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("")}`;
  }
  return String(Number(value.toPrecision(3)));
}

// A negative number has a minus sign, not a hyphen.
export const signed = (text) => text.replace(/^-/, "−");

// "after {steps} steps the loss is {loss}": the last number of each curve (the first of it: {first_loss}), what is
// measured last, the controls' values in words. Other braces stand as they are: a set {1, 2}.
export function sentence(spec, values, result) {
  const last = (curve) => curve[curve.length - 1];
  const of = (entries) => Object.fromEntries(entries);
  const set = of(spec.controls.map((c) => [c.name, c.texts[c.values.indexOf(values[c.name])]]));
  const curves = Object.entries(result.curves);
  const ends = of(
    curves.flatMap(([name, curve]) => [
      [name, last(curve)],
      ["first_" + name, curve[0]],
    ]),
  );
  const known = { ...spec.fixed, ...set, ...ends, ...result.final, steps: last(result.steps), stopped: result.stopped };
  const ended = result.noSlope ? spec.noSlope : spec.stopped;
  const template = result.stopped === null ? spec.summary : ended;
  const said = (whole, name) => (Object.hasOwn(known, name) ? signed(digits(known[name])) : whole);
  return template.replace(/\{([^{}]+)\}/g, said);
}

// Which lines go below the end of their logarithmic axis, in words.
export function below({ figure, draw }, { curves }) {
  const leaves = ({ trace, y, once }) => {
    if (once || !(y in curves)) return false;
    const { type, range, autorangeoptions } = axisOf(figure, figure.data[trace]),
      end = range ? 10 ** Math.min(...range) : (autorangeoptions?.clipmin ?? 0);
    return type === "log" && curves[y].some((value) => value > 0 && value < end);
  };
  const names = draw.filter(leaves).map(({ trace }) => figure.data[trace].name);
  return names.length ? ` Part of a line lies below the axis: ${[...new Set(names)].join(", ")}.` : "";
}

const WAITING = "Waiting for plotly.js, which a running kernel sends as soon as it is free.",
  RUNNING = "Training with these values …",
  PAUSE = 400;

// What every live figure shows: {root, box, picture, …}, a picture in whose `box` plotly draws, and a sentence below.
export class Stage {
  constructor(title, alt) {
    const described = { className: "mha-live-plot", role: "img", "aria-label": `At the start: ${alt}` };
    this.box = element("div", described);
    this.picture = element("div", { className: "mha-live-picture" }, this.box);
    this.summary = element("p", { className: "mha-live-summary" });
    this.said = element("p", { className: "mha-said", role: "status" }); // what a screen reader says of it
    const caption = element("p", { className: "mha-live-title", textContent: title });
    const named = { className: "mha-live", role: "group", "aria-label": title, dataset: { state: "loading" } };
    this.root = element("div", named, caption, this.picture, this.summary, this.said);
    [this.saying, this.waiting] = [null, null];
  }

  cancelAnnouncement() {
    clearTimeout(this.saying);
    clearTimeout(this.waiting);
    this.waiting = null;
  }

  // The state in which a run has ended, and its sentence; aloud only what stays for a while, not every value that a
  // drag passes.
  finish(state, words, aloud = true) {
    const { root, summary, said } = this;
    root.dataset.state = state;
    summary.textContent = words;
    summary.style.minHeight = "";
    this.cancelAnnouncement();
    if (aloud)
      this.saying = setTimeout(() => {
        if (said.textContent !== words) said.textContent = words;
      }, 700);
  }

  // The sentence keeps its room until the next one is there: what stands below the figure does not move.
  hold(height) {
    this.summary.style.minHeight = `${height}px`;
  }

  // What a run before it has left is not said of a run that lasts.
  runs(place) {
    Object.assign(this.root.dataset, { state: "running", place });
    this.waiting ??= setTimeout(() => {
      this.hold(this.summary.offsetHeight);
      this.summary.textContent = RUNNING;
    }, PAUSE);
  }

  moved() {
    clearTimeout(this.saying);
    this.box.setAttribute("aria-label", "Drawn for the current values. The result is below.");
  }

  drew({ job, done }) {
    this.root.dispatchEvent(new CustomEvent("mha-drawn", { bubbles: true, detail: { job, done } }));
  }
}

// Values that the reader and Python both set. `save()` tells the kernel, where there is one, of what `now()` is, once
// nothing has moved for a while; `heard(values)` is called when Python has set others.
export function shared(model, now, heard) {
  let saving = null;
  function told() {
    const next = model.get("values");
    if (Object.keys(next).some((name) => next[name] !== now()[name])) heard({ ...next });
  }
  model.on("change:values", told);
  return {
    save() {
      clearTimeout(saving);
      saving = setTimeout(() => {
        model.set("values", now());
        model.save_changes();
      }, 150);
    },
    close() {
      clearTimeout(saving);
      model.off("change:values", told);
    },
  };
}

// Calls `begin` when plotly is there, and takes the default frame away; or says why it does not come. Gives what ends it.
export function opened(model, figure, fallback, begin, failed) {
  const closing = new AbortController();
  if (!window.Plotly) figure.summary.textContent = WAITING;
  plotly(model, closing.signal)
    .then((Plotly) => {
      if (closing.signal.aborted) return;
      whenInPage(figure.root, closing.signal, () => takeAway(figure, fallback, closing.signal));
      begin(Plotly);
    })
    .catch((error) => closing.signal.aborted || failed(error.message));
  return () => closing.abort();
}

// A host may draw a figure first, and put it into the page then; once it has a size there it is observed.
function whenInPage(root, closed, then) {
  if (root.isConnected) {
    then();
    return;
  }
  const sized = new ResizeObserver(() => {
    if (!root.isConnected) return;
    sized.disconnect();
    then();
  });
  sized.observe(root);
  closed.addEventListener("abort", () => sized.disconnect());
}

// Hides the default frame as long as the figure stands. Equal figures have equal frames: of those that no other figure
// has taken it is the last one before this. Where none stands there, as in JupyterLab, which may put it into the page
// after the figure, a rule hides what no other figure has taken, once it comes. The figure has no sentence yet, and keeps
// the room of the frame's.
function takeAway(figure, fallback, closed) {
  const { root } = figure,
    free = `[data-fallback="${fallback}"]:not([data-taken])`,
    isBefore = (frame) => frame.compareDocumentPosition(root) & Node.DOCUMENT_POSITION_FOLLOWING,
    frame = [...document.querySelectorAll(free)].filter(isBefore).pop();
  if (!frame) {
    root.append(element("style", { textContent: `${free} { display: none; }` }));
    return;
  }
  const hide = (hidden) => {
    frame.hidden = hidden;
    frame.toggleAttribute("data-taken", hidden);
    frame.dataset.changed = "hidden data-taken"; // saved.js
  };
  const still = frame.querySelector(".mha-live-summary");
  if (still) figure.hold(still.offsetHeight);
  hide(true);
  closed.addEventListener("abort", () => hide(false));
}
