import { element } from "mhalib/live/element.js";
import { work } from "mhalib/live/training.js";
import { Stage, button, opened, shared } from "mhalib/live/widget.js";
import { EXPORTS, buttons, copy, linesOf, sampleButtons, save } from "./exports.js";
import { readFile } from "./files.js";
import { linkOf, readLink } from "./links.js";
import { laboratory } from "./runs.js";
import { begin, missing, next, told } from "./state.js";
import { controlsView, experimentsView, linesView, noteView, pictureView, plotView, summaryView } from "./views.js";

// The face of the laboratory: a state, the views that show it, and what moves it beside its controls: the link of the
// page, the reader's file, Python.

// The link in the page's address is followed, and taken out when the reader leaves what it has set.
function linkSource(spec, root, send, now) {
  const link = () => readLink(spec, window.location.hash);
  function follow() {
    const found = link();
    if (!found) return false;
    send({ is: "link", ...found });
    root.scrollIntoView({ block: "start" });
    return true;
  }
  function address(next) {
    try {
      history.replaceState(null, "", next);
    } catch {
      // a frame may forbid it: the address stays
    }
  }
  window.addEventListener("hashchange", follow);
  return {
    follow, reads: ["values"],
    show({ by }) {
      if (by === "reader" && link()) address(window.location.href.split("#")[0]);
    },
    // In a frame, as of Colab's outputs, the address is of no use to others: the link leads to the page of the book.
    copied() {
      const framed = window.top !== window && spec.page, hash = linkOf(spec, now().values, now().own);
      const to = new URL(hash, framed || window.location.href).href;
      if (!framed) address(to);
      return copy(to, "The link");
    },
    close: () => window.removeEventListener("hashchange", follow),
  };
}

// A file that is chosen with the button, or dropped on the figure.
function fileSource(root, send, say) {
  let opening = 0;
  async function open(file) {
    if (!file) return;
    const turn = ++opening, own = await readFile(file).catch((error) => ({ wrong: error.message }));
    if (turn !== opening) return; // another was opened since
    if (own.wrong) say(`“${file.name}” was not opened: ${own.wrong}`);
    else send({ is: "file", own });
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
  return { picker, close() { opening++; } }; // a file that is being read comes too late
}

// The kernel behind the page, where there is one, or other views of the same figure.
function pythonSource(model, send, now) {
  const heard = (values) => send({ is: "python", values, theirs: model.get("own") });
  const kept = shared(model, () => told(now()), heard);
  const lend = () => {
    if (missing(model.get("values"), model.get("own"), now().own)) heard({ ...model.get("values") });
  };
  model.on("change:own", lend);
  return {
    reads: ["values"],
    show({ values, own, by }) {
      if (!["reader", "link"].includes(by)) return;
      if (values.data === "own") model.set("own", { file: own.file, kind: own.kind, sum: own.sum });
      kept.save();
    },
    close() {
      kept.close();
      model.off("change:own", lend);
    },
  };
}

function toolbar(spec, now, send, say, { experiments, picker, link, plot }) {
  return element("div", { className: "mha-tools" },
    experiments.root, button("Open a file", () => picker.click()), picker, button("Copy link", () => say(link.copied())),
    button("Copy Python", () => say(copy(linesOf(spec, now()), "The Python"))),
    button("Reset", () => { plot.restore(); send({ is: "reset" }); }));
}

function render({ model, el }) {
  const spec = model.get("laboratory"), figure = new Stage(spec.title, spec.alt), { root, picture, summary } = figure;
  let state = begin(spec, model.get("values"), model.get("own")), views = [];
  const now = () => state;
  function send(event) {
    const before = state;
    state = next(spec, state, event);
    show(before);
  }
  function show(before) {
    for (const view of views) if (view.reads.some((name) => state[name] !== before[name])) view.show(state, before);
  }
  async function say(words) {
    send({ is: "note", note: "" }); // else the same words would not be heard again
    send({ is: "note", note: await words });
  }

  const experiments = experimentsView(spec, send), controls = controlsView(spec, send), note = noteView(), lines = linesView(spec);
  const link = linkSource(spec, root, send, now), { picker, ...file } = fileSource(root, send, say);
  const python = pythonSource(model, send, now), plot = plotView(spec, figure, send);
  views = [experiments, controls, note, lines, link, python, pictureView(spec, figure), summaryView(spec, figure), plot];
  root.classList.add("mha-laboratory");
  picture.before(toolbar(spec, now, send, say, { experiments, picker, link, plot }), controls.root);
  // In sight while there is something to do about them.
  picture.after(element("div", { className: "mha-words" }, note.root, summary));
  root.append(buttons("Save the run", EXPORTS, (format) => say(save(spec, state, plot, format))), sampleButtons(), lines.root);
  el.append(root);
  show({});

  const stop = opened(model, spec.still, (Plotly) => {
    plot.begin(Plotly);
    if (!link.follow()) plot.show(state, {});
  }, (wrong) => send({ is: "failed", wrong }));

  return () => {
    stop();
    for (const source of [file, python, link, plot]) source.close();
  };
}

export default { run: laboratory, render, work: () => work(laboratory) };
