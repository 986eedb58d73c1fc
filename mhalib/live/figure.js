// The face of a live figure: its controls above its picture, and a sentence below. The description of the figure comes
// from Python. It stands behind widget.js.

function render({ model, el }) {
  const spec = model.get("spec");
  const box = element("div", { className: "mha-live-plot", ariaHidden: "true" });
  const grips = handles(box, spec, () => values, (next) => moved(next));
  const picture = element("div", { className: "mha-live-picture", role: "img",
                                   ariaLabel: `At the start: ${spec.figure.layout.meta.alt}` }, box, grips.layer);
  const summary = element("p", { className: "mha-live-summary" });
  const said = element("p", { className: "mha-said", role: "status" }); // what a screen reader says of it
  const root = element("div", { className: "mha-live", role: "group", ariaLabel: spec.title,
                                dataset: { state: "loading" } });

  let values = { ...model.get("values") }, asked = values, touched = false;
  let train = null, drawing = null, saving = null, saying = null;

  function go() {
    root.dataset.state = "running";
    root.dataset.place = train.place;
    asked = values;
    train.run(values);
  }

  function hear(result) {
    if (result.error) fail(result.error);
    else drawing.draw({ ...result, values: asked }).catch((error) => fail(error.message));
  }

  function drawn(frame) {
    if (!frame) return;
    grips.place();
    root.dispatchEvent(new CustomEvent("mha-drawn", { bubbles: true, detail: { job: frame.job, done: frame.done } }));
    if (!frame.done || frame.values !== values) return; // a newer run is on its way
    summary.textContent = sentence(spec, values, frame);
    root.dataset.state = "done";
    if (touched) say();
  }

  function fail(reason) {
    root.dataset.state = "failed";
    summary.textContent = `This figure could not train: ${reason}`;
    say();
  }

  // Aloud only what stays for a while: not every value that a drag passes.
  function say() {
    clearTimeout(saying);
    saying = setTimeout(() => { said.textContent = summary.textContent; }, 700);
  }

  function move(next) {
    values = next;
    touched = true;
    clearTimeout(saying);
    picture.ariaLabel = "Drawn for the values that are set; the result stands below.";
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
  root.append(caption, panel, picture, summary, said);
  el.append(root);
  setAll();

  let closed = false;
  plotly(model).then((Plotly) => {
    if (closed) return;
    for (const still of document.querySelectorAll(`[data-still="${spec.still}"]`)) still.hidden = true;
    drawing = drawer(Plotly, box, spec, drawn);
    train = trainer(spec, hear);
    drawing.draw(null).then(go); // the frame that came with the page, then the real one
  }).catch((error) => fail(error.message));

  return () => {
    closed = true;
    clearTimeout(saving);
    clearTimeout(saying);
    drawing?.close();
    model.off("change:values", told);
    train?.close();
    window.Plotly?.purge(box);
  };
}

export default { render };
