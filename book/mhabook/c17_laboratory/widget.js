import { followed, moveTo } from "livegrad/live/address.js";
import { element } from "livegrad/live/element.js";
import { copy } from "livegrad/live/export.js";
import { hosted } from "livegrad/live/host.js";
import { work } from "livegrad/live/training.js";
import { Stage, button, opened, shared } from "livegrad/live/widget.js";
import { exportButtons, linesOf, sampleButtons, save } from "./exports.js";
import { readFile } from "./files.js";
import { linkOf, readLink } from "./links.js";
import { laboratory } from "./runs.js";
import { begin, missing, next, told } from "./state.js";
import { Sight } from "./sight.js";
import { controlsView, experimentsView, linesView, noteView, pictureView, PlotView, summaryView } from "./views.js";

// The widget of the laboratory: a state, the views that show it, and what moves it beside its controls: the link of the
// page, the reader's file, Python.

// The link in the page's address is followed, and taken out when the reader leaves what it has set.
function linkSource(spec, root, send, now) {
  const address = followed(
    (hash) => readLink(spec, hash),
    (found) => {
      send({ is: "link", ...found });
      root.scrollIntoView({ block: "start" });
    },
  );
  return {
    follow: address.look,
    reads: ["values"],
    show({ by }) {
      if (by === "reader") address.leave();
    },
    // In a frame, as of Colab's outputs, and on a disk, the address is of no use to others: the link leads to the page of
    // the book.
    copied() {
      const framed = (window.top !== window || window.location.protocol === "file:") && spec.page,
        hash = linkOf(spec, now().values, now().own);
      const to = new URL(hash, framed || window.location.href).href;
      if (!framed) moveTo(to);
      return copy(to, "The link");
    },
    close: address.close,
  };
}

// A file that is chosen with the button, or dropped on the figure.
function fileSource(root, send, say) {
  let opening = 0;
  async function open(file) {
    if (!file) return;
    const turn = ++opening,
      own = await readFile(file).catch((error) => ({ wrong: error.message }));
    if (turn !== opening) return; // another was opened since
    if (own.wrong) say(`“${file.name}” was not opened: ${own.wrong}`);
    else send({ is: "file", own });
  }
  const picker = element("input", { type: "file", accept: ".csv,.npz", hidden: true });
  picker.addEventListener("change", async () => {
    await open(picker.files[0]);
    picker.value = "";
  });
  root.addEventListener("dragover", (event) => {
    event.preventDefault();
    root.dataset.over = "";
  });
  root.addEventListener("dragleave", () => {
    delete root.dataset.over;
  });
  root.addEventListener("drop", (event) => {
    event.preventDefault();
    delete root.dataset.over;
    open(event.dataTransfer?.files[0]);
  });
  return {
    picker,
    close() {
      opening++;
    },
  }; // a file that is being read comes too late
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

// What to try stands first, and what is taken in or away below the picture. What an experiment changes stands above the
// controls: beside the picture, which stays in its place.
const tools = (...parts) => element("div", { className: "mha-tools" }, ...parts);

function toTry({ roots }, send, plot) {
  const reset = button("Reset", () => {
    plot.restore();
    send({ is: "reset" });
  });
  roots[0].append(reset);
  return tools(...roots);
}

const toTake = (spec, now, say, { picker }, link) =>
  tools(
    button("Open a file", () => picker.click()),
    picker,
    button("Copy link", () => say(link.copied())),
    button("Copy Python", () => say(copy(linesOf(spec, now()), "The Python"))),
  );

// The state, and the views that show it.
class Page {
  constructor(spec, state) {
    Object.assign(this, { spec, state, views: [] });
  }

  send(event) {
    const before = this.state;
    this.state = next(this.spec, before, event);
    this.show(before);
  }

  show(before) {
    for (const view of this.views)
      if (view.reads.some((name) => this.state[name] !== before[name])) view.show(this.state, before);
  }

  async say(words) {
    this.send({ is: "note", note: "" }); // else the same words would not be heard again
    this.send({ is: "note", note: await words });
  }
}

function render({ model: given, el }) {
  const model = hosted(given),
    spec = model.get("laboratory"),
    page = new Page(spec, begin(spec, model.get("values"), model.get("own")));
  const now = () => page.state,
    send = (event) => page.send(event),
    say = (words) => page.say(words);
  const figure = new Stage(spec.title, spec.alt),
    plot = new PlotView(spec, figure, send);
  const link = linkSource(spec, figure.root, send, now),
    file = fileSource(figure.root, send, say);
  const python = pythonSource(model, send, now),
    experiments = experimentsView(spec, send);
  const sight = new Sight(figure);
  const shown = layOut(
    spec,
    figure,
    [sight.stage, toTry(experiments, send, plot), experiments.changed, toTake(spec, now, say, file, link)],
    (format) => say(save(spec, now(), plot, format)),
    send,
  );
  page.views = [experiments, ...shown, link, python, pictureView(spec, figure), summaryView(spec, figure), plot];
  el.append(figure.root);
  sight.look();
  page.show({});
  const begun = (Plotly) => {
    plot.begin(Plotly);
    if (!link.follow()) plot.show(now(), {});
  };
  const stop = opened(model, figure, spec.fallback, begun, (wrong) => send({ is: "failed", wrong }));
  return () => {
    stop();
    for (const source of [file, python, link, plot, sight]) source.close();
  };
}

// Puts everything in its place around the picture; gives the views of it.
function layOut(spec, { root, said }, [stage, first, changed, last], saved, send) {
  const controls = controlsView(spec, send),
    note = noteView(),
    lines = linesView(spec);
  root.classList.add("mha-laboratory");
  const parts = [changed, controls.root, last, exportButtons(saved), sampleButtons()],
    side = element("div", { className: "mha-side" }, ...parts);
  said.before(element("div", { className: "mha-bench" }, stage, first, side), note.root, lines.root);
  return [controls, note, lines];
}

export default { run: laboratory, render, work: () => work(laboratory) };
