import { followed } from "./address.js";
import { Cursor } from "./cursor.js";
import { Drawer, Handles } from "./drawing.js";
import { element } from "./element.js";
import { Ends } from "./ends.js";
import { Run } from "./engine/run.js";
import { hosted } from "./host.js";
import { linkOf, readLink } from "./link.js";
import { Replay } from "./replay.js";
import { Trainer, work } from "./training.js";
import { Stage, below, button, control, defaults, opened, sentence, shared } from "./widget.js";

// A live figure: its picture, its controls right below it, and a sentence. The description comes from Python, and with
// `formulas` the functions that it names, as `Run` takes them. It gives what the entry of a figure exports by default:
// `render` for the page, `work` for the worker, `run` for both. Where only controls have moved that choose what is measured
// of the last model, the last run is not trained again.
export function liveFigure(formulas) {
  let last = null;
  const run = (spec, values) => {
    const own = spec.controls.filter(({ measures }) => !measures),
      trained = JSON.stringify(own.map(({ name }) => values[name])),
      begun = new Run(formulas, spec, values);
    if (own.length < spec.controls.length) {
      if (last?.spec === spec && last.trained === trained && last.begun.result.done) begun.follow(last.begun);
      last = { spec, trained, begun };
    }
    return begun;
  };
  const render = ({ model, el }) => {
    const view = new View(run, hosted(model), el);
    return () => view.close();
  };
  return { run, render, work: () => work(run) };
}

const HINT = "Dashed rings can be dragged.";

class View {
  constructor(run, model, el) {
    const spec = model.get("spec"),
      figure = new Stage(spec.title, spec.figure.layout.meta.alt);
    const values = { ...model.get("values") };
    Object.assign(this, { spec, figure, values, asked: values, touched: false, train: null, drawing: null });
    const draw = (frame) => this.drawing.draw(frame),
      now = () => this.values;
    this.replay = new Replay(spec.watched, draw);
    this.grips = new Handles(figure.box, spec, now, (next) => this.moved(next));
    this.ends = new Ends(figure.box, spec);
    this.cursor = new Cursor(figure, spec, draw, () => this.again());
    this.kept = shared(model, now, (next) => this.move(next));
    this.controls = Object.fromEntries(
      spec.controls.map((said) => [
        said.name,
        control(said, (value) => this.moved({ ...this.values, [said.name]: value }, said.name)),
      ]),
    );
    this.tries = spec.tries.map(({ label, values: tried }) => {
      const made = button(label, () => this.moved({ ...tried }));
      return { made, tried };
    });
    this.show(el);
    this.listen();
    this.redraw = () => this.drawing?.last && this.drawing.draw(this.drawing.last);
    if (spec.guesses?.length) document.addEventListener("mha-guess", this.redraw);
    this.stop = opened(
      model,
      figure,
      spec.fallback,
      (Plotly) => this.begin(run, Plotly),
      (reason) => this.fail(reason),
    );
  }

  show(el) {
    const {
      spec,
      figure: { picture, root, summary },
      grips,
      controls,
      tries,
    } = this;
    const reset = button("Reset", () => this.reset()),
      all = Object.values(controls).map((one) => one.root);
    if (tries.length) {
      const named = { className: "mha-tries", role: "group", "aria-label": "Try this" };
      picture.before(element("div", named, "Try: ", ...tries.map(({ made }) => made), reset));
    } else all.push(reset);
    if (spec.drag.length) all.push(element("p", { className: "mha-hint", textContent: HINT }));
    summary.before(element("div", { className: "mha-controls" }, ...all));
    root.addEventListener("change", () => {
      this.moving = null; // a slider has been let go
    });
    picture.append(grips.layer);
    if (spec.alone) root.dataset.alone = "";
    this.note = element("p", { className: "mha-hint", role: "status" });
    picture.before(this.note);
    el.append(root);
    this.setAll();
  }

  // Where the page's address names this figure, it is set to what the address says, and brought into sight.
  listen() {
    const { spec, figure } = this;
    const read = (hash) => readLink(spec, hash);
    this.address = followed(read, ({ values, left }) => {
      if (Object.keys(values).length) this.move({ ...this.values, ...values });
      this.note.textContent = left;
      requestAnimationFrame(() => figure.root.scrollIntoView());
    });
    figure.root.mhaLink = () => linkOf(spec, this.values);
    this.address.look();
  }

  // The run that is trained here; what came with the page is drawn only where that one lasts.
  begin(run, Plotly) {
    const { spec, figure } = this,
      fail = (reason) => this.fail(reason);
    this.drawing = new Drawer(Plotly, figure.box, spec, (frame) => this.drawn(frame), fail);
    this.train = new Trainer(run, spec, (result) => this.hear(result));
    this.go();
    if (!this.drawing.last) this.drawing.draw(null);
  }

  go() {
    if (this.isAgain) this.train.tell(this.spec);
    this.isAgain = false;
    this.figure.runs(this.train.place);
    this.asked = this.values;
    this.train.run(this.values);
  }

  // The same run once more, with what is measured last at each of its steps.
  again() {
    this.isAgain = true;
    this.train.tell({ ...this.spec, watched: 1 });
    this.train.run(this.asked);
  }

  hear(result) {
    const isDefault = this.isDefault(this.asked),
      frame = { ...result, values: this.asked, before: isDefault ? null : this.before, isDefault };
    if (result.error) this.fail(result.error);
    else if (this.isAgain) this.cursor.know(result.finals);
    else this.replay.hear(frame);
  }

  drawn(frame) {
    if (!frame) return;
    const { figure, spec, values, touched } = this;
    this.grips.place();
    this.ends.place(frame);
    this.cursor.place();
    figure.drew(frame);
    if (!frame.done || frame.values !== values) return; // a newer run is on its way
    this.settled = frame;
    figure.finish("done", sentence(spec, values, frame) + below(spec, frame), touched);
    this.cursor.settle(frame);
  }

  fail(reason) {
    this.figure.finish("failed", `This figure could not train: ${reason}`);
  }

  setAll() {
    for (const [name, { set }] of Object.entries(this.controls)) set(this.values[name]);
    for (const { made, tried } of this.tries) {
      const isSet = Object.entries(tried).every(([name, value]) => this.values[name] === value);
      made.setAttribute("aria-pressed", String(isSet));
    }
  }

  move(next) {
    this.values = next;
    this.touched = true;
    this.replay.end();
    this.cursor.settle(null);
    this.figure.moved();
    this.setAll();
    if (this.train) this.go();
  }

  // As long as one control moves, the run before is the one that stood when it began to.
  moved(next, name = null) {
    if (this.settled && (name === null || name !== this.moving))
      this.before = this.settled.isDefault ? null : { steps: this.settled.steps, ...this.settled.curves };
    this.moving = name;
    this.keepInSight(this.controls[name]?.root ?? document.activeElement);
    this.address.leave();
    this.note.textContent = "";
    this.move(next);
    this.kept.save();
  }

  // On a phone the picture stays in sight once a control has been touched; it must not cover that control.
  keepInSight(control) {
    const { root } = this.figure;
    if ("touched" in root.dataset) return;
    root.dataset.touched = "";
    if (root.contains(control)) control.scrollIntoView({ block: "nearest" });
  }

  isDefault(values) {
    return this.spec.controls.every(({ name, value }) => values[name] === value);
  }

  reset() {
    this.drawing?.restore();
    this.moved(defaults(this.spec.controls));
  }

  close() {
    this.stop();
    this.address.close();
    document.removeEventListener("mha-guess", this.redraw);
    this.replay.end();
    this.figure.cancelAnnouncement();
    this.kept.close();
    this.cursor.close();
    this.drawing?.close();
    this.train?.close();
    window.Plotly?.purge(this.figure.box);
  }
}
