// The face of a live figure: its controls above its picture, and a sentence below. The description of the figure comes
// from Python. It stands behind training.js, drawing.js and widget.js.

function render({ model, el }) {
  const spec = model.get("spec"), figure = stage(spec.title, spec.figure.layout.meta.alt);
  const { root, box, picture } = figure, grips = handles(box, spec, () => values, moved);
  let values = { ...model.get("values") }, asked = values, touched = false, train = null, drawing = null;

  function go() {
    figure.runs(train.place);
    asked = values;
    train.run(values);
  }

  function hear(result) {
    if (result.error) fail(result.error);
    else drawing.draw({ ...result, values: asked });
  }

  function drawn(frame) {
    if (!frame) return;
    grips.place();
    figure.drew(frame);
    if (!frame.done || frame.values !== values) return; // a newer run is on its way
    figure.conclude("done", sentence(spec, values, frame), touched);
  }

  function fail(reason) {
    figure.conclude("failed", `This figure could not train: ${reason}`);
  }

  function move(next) {
    values = next;
    touched = true;
    figure.moved();
    setAll();
    if (train) go();
  }

  function moved(next) {
    move(next);
    kept.save();
  }

  function reset() {
    drawing?.restore();
    moved(defaults(spec.controls));
  }
  const kept = shared(model, () => values, move);

  const controls = Object.fromEntries(spec.controls.map((said) =>
    [said.name, control(said, (value) => moved({ ...values, [said.name]: value }))]));
  const setAll = () => Object.entries(controls).forEach(([name, { set }]) => set(values[name]));
  const all = [...Object.values(controls).map((one) => one.root), button("Reset", reset)];
  picture.before(element("div", { className: "mha-controls" }, ...all));
  picture.append(grips.layer);
  el.append(root);
  setAll();

  const stop = opened(model, spec.still, (Plotly) => {
    drawing = drawer(Plotly, box, spec, drawn, fail);
    train = trainer(spec, hear);
    drawing.draw(null).then(go); // the frame that came with the page, then the real one
  }, fail);

  return () => {
    stop();
    figure.hush();
    kept.close();
    drawing?.close();
    train?.close();
    window.Plotly?.purge(box);
  };
}

export default { render };
