// The face of the laboratory: controls that come and go, the reader's own files, links, exports. It stands behind
// training.js, drawing.js, widget.js, files.js and links.js.

const GROUPS = { model: "Model", data: "Data", training: "Training", picture: "Attention shown" };
const PATIENCE = 6000; // a worker that is silent for so many milliseconds of a run is replaced

function download(name, content, type) {
  const url = typeof content === "string" && content.startsWith("data:") ? content
    : URL.createObjectURL(new Blob([content], { type }));
  element("a", { href: url, download: name }).click();
  if (url.startsWith("blob:")) setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// A menu with an entry for each key of `entries`; choosing one calls `chosen(key)`.
function menu(label, entries, chosen) {
  const id = `mha-menu-${Math.random().toString(36).slice(2)}`;
  const options = Object.entries(entries).map(([value, textContent]) => element("option", { value, textContent }));
  const select = element("select", { id }, element("option", { value: "", textContent: "choose …" }), ...options);
  select.addEventListener("change", () => select.value && chosen(select.value));
  const root = element("div", { className: "mha-control" }, element("label", { htmlFor: id, textContent: label }), select);
  return { root, choose: (key) => { select.value = key; } };
}

// A button for each key of `entries` = {key: [text, …]}, below a title.
function buttons(title, entries, pressed) {
  return element("fieldset", { className: "mha-group mha-tools" }, element("legend", { textContent: title }),
                 ...Object.entries(entries).map(([key, [text]]) => button(text, () => pressed(key))));
}

// The controls in their groups: {root, set(values, own)} shows those that are there, with what each offers.
function panel(controls, changed) {
  const made = controls.map((said) => ({ said, ...control(said, (value) => changed(said.name, value)) }));
  const groups = Object.entries(GROUPS).map(([name, title]) => {
    const own = made.filter(({ said }) => said.group === name).map(({ root }) => root);
    return element("details", { className: "mha-group", open: true }, element("summary", { textContent: title }),
                   element("div", { className: "mha-controls" }, ...own));
  });
  function set(values, own) {
    for (const { said, root, set } of made) {
      const choices = offered(said, values, own);
      root.hidden = !choices.length;
      for (const option of root.querySelectorAll("option"))
        option.hidden = option.disabled = !choices.includes(said.values[option.value]);
      set(values[said.name]);
    }
    for (const group of groups)
      group.hidden = ![...group.querySelectorAll(".mha-control")].some((one) => !one.hidden);
  }
  return { root: element("div", { className: "mha-groups" }, ...groups), set };
}

// Which lines there are, as measures.there in Python. Plotly draws a curve that was not measured at 0, 1, 2, …
const there = ({ curvature, moves }) => ({ has_curvature: curvature, has_value_bound: moves === "WV" });

// The curves that are drawn: not a bound that does not apply, nor the edge of a rule that has none.
function drawnCurves({ curves, looks }, draw) {
  const hidden = draw.filter(({ visible }) => visible && !looks[visible]).map(({ y }) => y);
  return Object.fromEntries(Object.entries(curves).filter(([name]) => !hidden.includes(name)));
}

function tableOf(steps, curves) {
  const names = Object.keys(curves), rows = steps.map((step, k) => [step, ...names.map((name) => curves[name][k])]);
  return [["step", ...names], ...rows].map((row) => row.join(",")).join("\n") + "\n";
}

function render({ model, el }) {
  const spec = model.get("laboratory"), { controls, drawn: kinds } = spec, figure = stage(spec.title, spec.alt);
  const { root, box, picture } = figure;
  const note = element("p", { className: "mha-note", role: "alert" });
  const lines = element("pre", { className: "mha-lines", tabIndex: 0 });

  let values = { ...model.get("values") }, own = null, awaited = null, asked = values, result = null, touched = false;
  let train = null, drawing = null, shown = "", opening = 0, plot = null, lent = false;

  const kindOf = ({ model, data }) => (data === "own" ? `own_${model}` : data);
  const fileName = () => `laboratory-${values.model}-${values.data}`;

  function go() {
    const kind = kindOf(values);
    if (kind !== shown) {
      drawing?.close();
      shown = kind;
      drawing = drawer(plot, box, { ...kinds[kind], whole: true }, drawn, fail);
    }
    figure.runs(train.place);
    asked = values;
    train.run(values);
  }

  function hear(found) {
    if (found.error) fail(found.error);
    else drawing.draw({ ...found, looks: { ...spec.looks[asked.optimizer], ...there(asked) }, values: asked });
  }

  function drawn(frame) {
    if (!frame) return;
    figure.drew(frame);
    if (!frame.done || frame.values !== values) return; // a newer run is on its way
    if (!frame.steps.length) return fail("the numbers are not finite at the start. Lower the start scale, or scale your data.");
    result = frame;
    const told = { controls, fixed: {}, summary: kinds[shown].says, stopped: spec.stopped };
    figure.conclude("done", sentence(told, values, frame), touched);
  }

  function fail(reason) {
    figure.conclude("failed", `This combination could not train: ${reason}`);
  }

  // What went wrong or was done, and what to do; until the next move.
  function tell(words) {
    note.textContent = words;
  }

  function move(next) {
    values = settled(controls, next, own?.kind);
    result = null;
    figure.moved();
    describe();
    parts.set(values, own?.kind);
    lines.textContent = pythonOf(spec, values, own?.file);
    if (train) go();
  }

  // The picture in words; those that came with the page are of the controls' own values.
  function describe() {
    picture.setAttribute("aria-label", `${kinds[kindOf(values)].alt} The result stands below.`);
  }

  // `keeps`: Python's file, if it has one that this page does not have.
  function moved(next, keeps = false) {
    touched = true;
    lent &&= keeps;
    experiments.choose("");
    tell(lent ? elsewhere() : "");
    move(next);
    if (values.data === "own") model.set("own", { file: own.file, kind: own.kind, sum: own.sum });
    kept.save();
  }

  // A file that Python has read, or another view of this figure, is not here: this page trains on other data, and
  // Python keeps the file until the reader chooses another model or other data.
  const elsewhere = () => `“${model.get("own").file}” is open in Python or in another view, and not here. ` +
    "Open it here, too, and the figure trains on it.";
  const missing = ({ data }) => data === "own" && model.get("own")?.sum !== own?.sum;
  function heard(next) {
    awaited = null;
    lent = missing(next);
    if (lent) own = null;
    tell(lent ? elsewhere() : "");
    move(next);
  }
  const kept = shared(model, () => (lent ? { ...values, data: "own" } : values), heard);
  const lend = () => { if (missing(model.get("values"))) heard({ ...model.get("values") }); };
  model.on("change:own", lend);

  // The page's own address; a frame may forbid to change it.
  function addressed(address) {
    try {
      history.replaceState(null, "", address);
    } catch {
      // it stays
    }
  }

  // The reader leaves what a link has set: the address no longer says it, and no file is waited for.
  function leave(next, keeps = false) {
    awaited = null;
    if (readLink(spec, window.location.hash)) addressed(window.location.href.split("#")[0]);
    moved(next, keeps);
  }

  // A link restores what it says; one with a file waits for the file.
  function follow() {
    const link = readLink(spec, window.location.hash);
    if (!link) return false;
    awaited = null;
    if (link.wrong) {
      moved(defaults(controls));
      tell(link.wrong);
    } else if (link.values.data === "own" && link.sum !== own?.sum) {
      moved(settled(controls, link.values, own?.kind));
      awaited = link;
      const named = link.file ? `the file “${link.file}”` : "a file";
      tell(`This link is of a run on ${named}, which stayed with its owner. Open that file here, and the run is restored.`);
    } else moved(link.values);
    if (link.experiment) experiments.choose(link.experiment);
    return true;
  }
  function follows() {
    const followed = follow();
    if (followed) root.scrollIntoView({ block: "start" });
    return followed;
  }
  window.addEventListener("hashchange", follows);

  async function open(file) {
    if (!file) return;
    const turn = ++opening, read = await readFile(file).catch((error) => ({ wrong: error.message }));
    if (turn !== opening) return; // another was opened since
    if (read.wrong) return tell(`“${file.name}” was not opened: ${read.wrong}`);
    own = read;
    train?.tell({ ...spec, own });
    const left = awaited !== null && awaited.values.model !== own.kind, link = left ? null : awaited;
    const begin = own.kind === values.model ? {} : spec.begins[own.kind];
    leave({ ...(link?.values ?? { ...values, ...begin }), model: own.kind, data: "own" });
    tell(link && link.sum !== own.sum
      ? `“${file.name}” is open, but it is not the file of the link: its run may differ.`
      : `“${file.name}” is open: ${own.words}. It stays on this machine.` +
        (left ? " The run of the link is of another model, and is not restored." : ""));
  }

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
      tell(`${what} is copied.`);
    } catch {
      tell(`The browser does not let the page copy. Select and copy it here: ${text}`);
    }
  }

  // In a frame, as of Colab's outputs, the address is of no use to others: the link leads to the page of the book.
  function link() {
    const framed = window.top !== window && spec.page, hash = linkOf(spec, values, own);
    const address = new URL(hash, framed || window.location.href).href;
    if (!framed) addressed(address);
    copy(address, "The link");
  }

  async function image(format) {
    const { data, layout } = box, { width, height } = box._fullLayout;
    const plain = { ...layout, paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff" };
    download(`${fileName()}.${format}`, await plot.toImage({ data, layout: plain }, { format, width, height, scale: format === "png" ? 2 : 1 }));
  }

  const curvesNow = () => drawnCurves(result, kinds[shown].draw);
  const EXPORTS = {
    csv: ["curves, CSV", () => download(`${fileName()}.csv`, tableOf(result.steps, curvesNow()), "text/csv")],
    json: ["everything, JSON", () => download(`${fileName()}.json`, JSON.stringify({
      laboratory: VERSION, values, steps: result.steps, curves: curvesNow(), last: result.lasts, stopped: result.stopped,
      python: lines.textContent }, null, 1), "application/json")],
    svg: ["figure, SVG", () => image("svg")],
    png: ["figure, PNG", () => image("png")],
    python: ["lines of Python", () => download(`${fileName()}.py`, lines.textContent, "text/x-python")],
  };
  async function save(key) {
    if (!result && key !== "python") return tell("There is no finished run to save. The next sentence says whether to wait, or what to change.");
    tell("");
    try {
      await EXPORTS[key][1]();
    } catch (error) {
      tell(`This could not be saved: ${error.message}. Save the figure in the other format, or the numbers.`);
    }
  }

  const picker = element("input", { type: "file", accept: ".csv,.npz", hidden: true });
  picker.addEventListener("change", async () => { await open(picker.files[0]); picker.value = ""; });
  root.addEventListener("dragover", (event) => { event.preventDefault(); root.dataset.over = ""; });
  root.addEventListener("dragleave", () => { delete root.dataset.over; });
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    delete root.dataset.over;
    open(event.dataTransfer?.files[0]);
  });

  function reset() {
    drawing?.restore();
    leave(defaults(controls));
  }

  const parts = panel(controls, (name, value) =>
    leave({ ...values, [name]: value, ...(name === "model" ? spec.begins[value] : {}) }, !["model", "data"].includes(name)));
  // Their titles begin with their numbers; the state that a page carries has its keys in the order of the alphabet.
  const inOrder = Object.entries(spec.experiments).sort(([, one], [, other]) => one.title.localeCompare(other.title));
  const titles = Object.fromEntries(inOrder.map(([key, { title }]) => [key, title]));
  const experiments = menu("experiment", titles, (key) => {
    leave({ ...defaults(controls), ...spec.experiments[key].values });
    experiments.choose(key);
  });
  const tools = element("div", { className: "mha-tools" },
    experiments.root, button("Open a file", () => picker.click()), picker, button("Copy link", link),
    button("Copy Python", () => copy(lines.textContent, "The Python")), button("Reset", reset));
  const saves = buttons("Save the run", EXPORTS, save);
  const examples = buttons("Sample files", SAMPLES, (key) => download(SAMPLES[key][1], SAMPLES[key][2](), "text/csv"));
  const python = element("details", { className: "mha-python" }, element("summary", { textContent: "The same run in Python" }), lines);
  root.classList.add("mha-laboratory");
  picture.before(tools, parts.root);
  const words = element("div", { className: "mha-words" }); // in sight while there is something to do about them
  picture.after(words);
  words.append(note, figure.summary);
  root.append(saves, examples, python);
  el.append(root);
  if (missing(values)) heard(values);
  else parts.set(values, "");
  if (controls.some(({ name, value }) => values[name] !== value)) describe();
  lines.textContent = pythonOf(spec, values, null);

  const stop = opened(model, spec.still, (Plotly) => {
    plot = Plotly;
    train = trainer(spec, hear, PATIENCE);
    if (!follows()) go();
  }, fail);

  return () => {
    stop();
    opening++; // a file that is being read comes too late
    figure.hush();
    kept.close();
    model.off("change:own", lend);
    window.removeEventListener("hashchange", follows);
    drawing?.close();
    train?.close();
    window.Plotly?.purge(box);
  };
}

export default { render };
