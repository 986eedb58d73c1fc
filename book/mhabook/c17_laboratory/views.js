import { Cursor } from "livegrad/live/cursor.js";
import { Drawer } from "livegrad/live/drawing.js";
import { Ends } from "livegrad/live/ends.js";
import { element } from "livegrad/live/element.js";
import { Replay } from "livegrad/live/replay.js";
import { Trainer } from "livegrad/live/training.js";
import { below, button, control, sentence } from "livegrad/live/widget.js";
import { linesOf } from "./exports.js";
import { frameOf, kindOf, needed, offered } from "./links.js";
import { laboratory } from "./runs.js";
import { opening, opens } from "./state.js";

// What the laboratory's page shows of its state. A view is {reads, show(state, before), …}: it is shown anew when what it
// reads is another than before.

const GROUPS = { model: "Model", data: "Data", training: "Training", picture: "Attention shown" };
const PATIENCE = 6000, // a worker that is silent for so many milliseconds of a run is replaced
  WATCHED = 3; // in how many seconds the first run is shown

// What a control does not offer beside the others stands in its menu all the same, with what it needs.
function mark(select, { values: all, texts, entries }, choices, needs) {
  for (const option of select.options) {
    const k = option.value,
      there = choices.includes(all[k]);
    option.disabled = !there;
    option.textContent = there ? texts[k] : `${texts[k]} (needs ${needs(entries[k])})`;
  }
}

// The controls of a group that are not there, folded, and what each needs.
function absentList() {
  const title = element("summary", {}),
    list = element("ul", {});
  const root = element("details", { className: "mha-absent" }, title, list);
  return {
    root,
    show(absent) {
      root.hidden = !absent.length;
      title.textContent = `Not with these choices: ${absent.length}`;
      list.replaceChildren(...absent.map((textContent) => element("li", { textContent })));
    },
  };
}

function group(name, title, made) {
  const own = made.filter(({ said }) => said.group === name),
    absent = absentList();
  const root = element(
    "details",
    { className: "mha-group", open: name === "training" },
    element("summary", { textContent: title }),
    element("div", { className: "mha-controls" }, ...own.map((one) => one.root)),
    absent.root,
  );
  return { name, own, absent, root };
}

// The controls in their groups: those that are there, with what each offers, and what the others need.
export function controlsView({ controls, experiments }, send) {
  const made = controls.map((said) => ({
    said,
    ...control(said, (value) => send({ is: "set", name: said.name, value })),
  }));
  const groups = Object.entries(GROUPS).map(([name, title]) => group(name, title, made));
  function show({ values, own, experiment }, before) {
    if (experiment && experiment !== before.experiment)
      for (const { name, root } of groups) root.open = experiments[experiment].moves.includes(name);
    const needs = (conditions) => needed(conditions, controls, values, own?.kind);
    for (const { said, root, set } of made) {
      const choices = offered(said, values, own?.kind),
        select = root.querySelector("select"),
        slider = root.querySelector("input[type=range]");
      root.hidden = !choices.length;
      if (select) mark(select, said, choices, needs);
      if (slider) slider.max = Math.max(0, choices.length - 1); // the last values are those that need something
      set(values[said.name]);
    }
    for (const { own: all, absent } of groups)
      absent.show(all.filter(({ root }) => root.hidden).map(({ said }) => `${said.label}: needs ${needs(said.when)}`));
  }
  const roots = groups.map(({ root }) => root);
  return { root: element("div", { className: "mha-groups" }, ...roots), reads: ["values", "own", "experiment"], show };
}

// What an experiment changes of the run that the laboratory opens with, each as “label before → now”, in a frame of its
// own; a control that is not there in that run has no value before.
function changes(spec, values) {
  const initial = opening(spec),
    text = ({ kind, values: all, texts }, value) =>
      kind === "switch" ? (value ? "on" : "off") : texts[all.indexOf(value)];
  return spec.controls
    .filter((said) => values[said.name] !== initial[said.name] && offered(said, values).length)
    .map((said) => {
      const before = offered(said, initial).length ? `${text(said, initial[said.name])} → ` : "";
      return element("span", { textContent: `${said.label} ${before}${text(said, values[said.name])}` });
    });
}

// Experiments: a menu of all, and buttons for those that a reader who is new here may try.
export function experimentsView(spec, send) {
  const { experiments, tries } = spec,
    id = `mha-menu-${Math.random().toString(36).slice(2)}`;
  // Their titles begin with their numbers; the state that a page carries has its keys in the order of the alphabet.
  const inOrder = Object.entries(experiments).sort(([, one], [, other]) => one.title.localeCompare(other.title));
  const options = inOrder.map(([value, { title }]) => element("option", { value, textContent: title }));
  const named = (name) => experiments[name].title.replace(/^\d+ · ./, (start) => start.at(-1).toUpperCase());
  const pressed = tries.map((name) => [name, button(named(name), () => send({ is: "experiment", name }))]);
  const select = element(
    "select",
    { id, "aria-describedby": `${id}-changed` },
    element("option", { value: "", textContent: "choose …" }),
    ...options,
  );
  select.addEventListener("change", () => select.value && send({ is: "experiment", name: select.value }));
  const label = element("label", { htmlFor: id, textContent: "experiment" }),
    changed = element("p", { id: `${id}-changed`, className: "mha-changed" });
  const offered = { className: "mha-tries", role: "group", "aria-label": "Try this" };
  return {
    roots: [
      element("div", offered, "Try: ", ...pressed.map(([, one]) => one)),
      element("div", { className: "mha-control" }, label, select),
    ],
    changed,
    reads: ["values", "experiment"],
    show({ values, experiment }) {
      select.value = experiment;
      for (const [name, one] of pressed) one.setAttribute("aria-pressed", String(name === experiment));
      const set = experiment ? changes(spec, values).flatMap((one) => [one, " "]) : [];
      changed.replaceChildren(
        ...(set.length ? ["This experiment changes ", ...set, "All other settings have their initial values."] : []),
      );
    },
  };
}

export function noteView() {
  const root = element("p", { className: "mha-note", role: "alert" });
  return {
    root,
    reads: ["note"],
    show({ note }) {
      root.textContent = note;
    },
  };
}

export function linesView(spec) {
  const lines = element("pre", { className: "mha-lines", tabIndex: 0 });
  return {
    root: element(
      "details",
      { className: "mha-python" },
      element("summary", { textContent: "The same run in Python" }),
      lines,
    ),
    reads: ["values", "own"],
    show({ values, own }) {
      lines.textContent = linesOf(spec, { values, own });
    },
  };
}

// What the values tell before a run, as measures.told in Python. Plotly draws a curve that was not measured at 0, 1, 2, …
const told = ({ curvature, moves, steps }) => ({
  has_curvature: curvature,
  has_value_bound: moves === "WV",
  span: [0, Math.log10(steps)],
});

// The picture in words; those that came with the page are of the run that it opens with.
export function pictureView(spec, figure) {
  return {
    reads: ["values"],
    show({ values, by }) {
      if (by) figure.moved();
      if (!by && opens(spec, values)) return;
      const { alt, draw } = frameOf(spec, values),
        beside = !opens(spec, values) && draw.some(({ once }) => once) ? spec.beside : "";
      figure.box.setAttribute("aria-label", [alt, beside, "The result is below."].filter(Boolean).join(" "));
    },
  };
}

// The run that the laboratory opens with, for its first so many steps.
function beginning(run, steps) {
  const count = run.steps.filter((step) => step <= steps).length;
  return Object.fromEntries(Object.entries(run).map(([name, curve]) => [name, curve.slice(0, count)]));
}

export function summaryView({ controls, drawn, stopped }, figure) {
  return {
    reads: ["result", "wrong"],
    show({ values, result, wrong, touched }) {
      const said = { controls, fixed: {}, summary: drawn[kindOf(values)].says, stopped };
      if (wrong) figure.finish("failed", `This combination could not train: ${wrong}`);
      else if (result)
        figure.finish("done", sentence(said, values, result) + below(frameOf({ drawn }, values), result), touched);
    },
  };
}

// What is trained and drawn, from `begin(Plotly)` on.
export class PlotView {
  constructor(spec, figure, send) {
    Object.assign(this, { spec, figure, send, reads: ["values"] });
    Object.assign(this, { plot: null, train: null, drawing: null, ends: null, cursor: null, frame: null, asked: null });
    this.replay = new Replay(WATCHED, (frame) => this.drawing.draw(frame));
  }

  begin(Plotly) {
    this.plot = Plotly;
    this.train = new Trainer(laboratory, this.spec, (found) => this.hear(found), PATIENCE);
  }

  fail(wrong) {
    this.send({ is: "failed", wrong });
  }

  hear(found) {
    const { asked, spec, replay } = this;
    if (found.error) {
      this.fail(found.error);
      return;
    }
    const looks = { ...spec.looks[asked.optimizer], ...told(asked) },
      beside = { isDefault: opens(spec, asked), first: beginning(spec.opening, asked.steps) };
    replay.hear(
      { ...found, ...beside, looks, values: asked },
      found.done ? found.steps.length : spec.records[asked.steps].length,
    );
  }

  drawn(frame) {
    if (!frame) return;
    const { figure, cursor } = this;
    this.ends.place(frame);
    cursor.place();
    figure.drew(frame);
    this.send({ is: "drawn", frame });
    if (frame.done && frame.values === this.asked) cursor.settle(frame);
  }

  show({ values, own }, before) {
    const { train, spec, figure } = this;
    if (!train) return;
    if (own !== before.own) train.tell({ ...spec, own });
    const frame = frameOf(spec, values);
    if (frame !== this.frame) this.draws(frame);
    this.cursor.settle(null);
    figure.runs(train.place);
    if (this.asked) this.replay.end();
    this.asked = values;
    train.run(values);
  }

  draws(frame) {
    const { plot, spec, figure } = this,
      { data, layout } = frame.figure,
      drawn = { ...frame, figure: { data, layout: { ...layout, template: spec.template } }, whole: true };
    this.drawing?.close();
    this.cursor?.close();
    this.frame = frame;
    this.ends?.layer.remove();
    this.ends = new Ends(figure.box, drawn);
    this.cursor = new Cursor(figure, drawn, (frame) => this.drawing.draw(frame));
    this.drawing = new Drawer(
      plot,
      figure.box,
      drawn,
      (frame) => this.drawn(frame),
      (wrong) => this.fail(wrong),
    );
  }

  restore() {
    this.drawing?.restore();
  }

  image(format) {
    const { data, layout, _fullLayout } = this.figure.box,
      { width, height } = _fullLayout;
    const annotations = [...(layout.annotations ?? []), ...(this.figure.box.mhaEnds ?? [])],
      plain = { ...layout, annotations, paper_bgcolor: "#ffffff", plot_bgcolor: "#ffffff" };
    return this.plot.toImage({ data, layout: plain }, { format, width, height, scale: format === "png" ? 2 : 1 });
  }

  close() {
    this.replay.end();
    this.figure.cancelAnnouncement();
    this.cursor?.close();
    this.drawing?.close();
    this.train?.close();
    window.Plotly?.purge(this.figure.box);
  }
}
