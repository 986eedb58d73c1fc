// What the faces of live figures are made of beside their drawing: controls, a sentence that says what came out, values
// that Python shares. It stands behind element.js and before figure.js or the files of lab.

// One control: {root, set(value)}; `changed(value)` is called at every move.
function control({ name, label, values, texts, kind }, changed) {
  const index = (value) => Math.max(0, values.indexOf(value));
  const id = `mha-${name}-${Math.random().toString(36).slice(2)}`;
  const caption = element("label", { htmlFor: id, textContent: label });

  if (kind === "switch") {
    const input = element("input", { id, type: "checkbox", dataset: { control: name } });
    input.addEventListener("change", () => changed(input.checked));
    return { root: element("div", { className: "mha-control mha-switch" }, input, caption),
             set: (value) => { input.checked = value; } };
  }
  if (kind === "choice") {
    const options = texts.map((text, k) => element("option", { value: k, textContent: text }));
    const input = element("select", { id, dataset: { control: name } }, ...options);
    input.addEventListener("change", () => changed(values[input.value]));
    return { root: element("div", { className: "mha-control" }, caption, input),
             set: (value) => { input.value = index(value); } };
  }
  const input = element("input", { id, type: "range", min: 0, max: values.length - 1, step: 1,
                                   dataset: { control: name } });
  const shown = element("span", { className: "mha-value", "aria-hidden": "true" }); // the slider itself says it aloud
  const say = () => {
    shown.textContent = texts[input.value];
    input.setAttribute("aria-valuetext", texts[input.value]);
  };
  slide(input, () => { say(); changed(values[input.value]); });
  return { root: element("div", { className: "mha-control" }, caption, input, shown),
           set: (value) => { input.value = index(value); say(); } };
}

// A finger that lands on a slider may be scrolling the page. Nothing changes before it moves along the slider or is
// lifted, and where the page takes it over, the slider goes back to where it was.
function slide(input, changed) {
  let finger = null;
  input.addEventListener("pointerdown", ({ pointerType, clientX }) => {
    finger = pointerType === "touch" ? { from: clientX, before: input.value, slides: false } : null;
  });
  input.addEventListener("pointermove", ({ clientX }) => {
    if (finger && Math.abs(clientX - finger.from) > 8) finger.slides = true;
  });
  input.addEventListener("input", () => { if (!finger || finger.slides) changed(); });
  input.addEventListener("pointerup", () => {
    const waits = finger && !finger.slides && input.value !== finger.before;
    finger = null;
    if (waits) changed();
  });
  input.addEventListener("pointercancel", () => {
    if (finger && !finger.slides) input.value = finger.before;
    finger = null;
  });
}

function button(text, action) {
  const made = element("button", { type: "button", className: "mha-reset", textContent: text });
  made.addEventListener("click", action);
  return made;
}

const defaults = (controls) => Object.fromEntries(controls.map(({ name, value }) => [name, value]));

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

const RUNNING = "Training with these values …", PAUSE = 400;

// What every live figure shows: {root, box, picture, …}, a picture in whose `box` plotly draws, and a sentence below.
function stage(title, alt) {
  const box = element("div", { className: "mha-live-plot", "aria-hidden": "true" });
  const picture = element("div", { className: "mha-live-picture", role: "img", "aria-label": `At the start: ${alt}` }, box);
  const summary = element("p", { className: "mha-live-summary" });
  const said = element("p", { className: "mha-said", role: "status" }); // what a screen reader says of it
  const caption = element("p", { className: "mha-live-title", textContent: title });
  const root = element("div", { className: "mha-live", role: "group", "aria-label": title, dataset: { state: "loading" } },
                       caption, picture, summary, said);
  let saying = null, waiting = null;
  const hush = () => { clearTimeout(saying); clearTimeout(waiting); waiting = null; };

  // The state in which a run has ended, and its sentence; aloud only what stays for a while, not every value that a
  // drag passes.
  function conclude(state, words, aloud = true) {
    root.dataset.state = state;
    summary.textContent = words;
    hush();
    if (aloud) saying = setTimeout(() => { if (said.textContent !== words) said.textContent = words; }, 700);
  }

  return {
    root, box, picture, summary, conclude, hush,
    // What a run before it has left is not said of a run that lasts.
    runs(place) {
      Object.assign(root.dataset, { state: "running", place });
      waiting ??= setTimeout(() => { summary.textContent = RUNNING; }, PAUSE);
    },
    moved() {
      clearTimeout(saying);
      picture.setAttribute("aria-label", "Drawn for the values that are set; the result stands below.");
    },
    drew: ({ job, done }) => root.dispatchEvent(new CustomEvent("mha-drawn", { bubbles: true, detail: { job, done } })),
  };
}

// Values that the reader and Python both set. `save()` tells the kernel, where there is one, of what `now()` is, once
// nothing has moved for a while; `heard(values)` is called when Python has set others.
function shared(model, now, heard) {
  let saving = null;
  function told() {
    const next = model.get("values");
    if (Object.keys(next).some((name) => next[name] !== now()[name])) heard({ ...next });
  }
  model.on("change:values", told);
  return {
    save() {
      clearTimeout(saving);
      saving = setTimeout(() => { model.set("values", now()); model.save_changes(); }, 150);
    },
    close() {
      clearTimeout(saving);
      model.off("change:values", told);
    },
  };
}

// Calls `begin` when plotly is there, and takes the default frame away; or says why it does not come. Gives what ends it.
function opened(model, still, begin, failed) {
  let closed = false;
  plotly(model).then((Plotly) => {
    if (closed) return;
    for (const frame of document.querySelectorAll(`[data-still="${still}"]`)) frame.hidden = true;
    begin(Plotly);
  }).catch((error) => closed || failed(error.message));
  return () => { closed = true; };
}
