import { axesOf } from "./drawing.js";
import { element } from "./element.js";
import { digits, signed } from "./widget.js";

// A step of a run that has ended: where a pointer stands in a panel over steps, or the arrow keys, with a line there, a
// dot on every curve, and their numbers in words. What is measured of the last model is drawn as it was at that step.

const STRIDE = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
const KEYS = { ...STRIDE, Home: -Infinity, End: Infinity };
const PENDING = " The other panels show the last step until the run has been trained once more.";

// `draw(frame)` draws a frame; one of a step has `at`, its place. `ask()` is called where a run has not kept what is
// measured at its steps: whoever is asked trains once more, and tells `know` of the `finals`.
export class Cursor {
  constructor({ box, picture, summary }, spec, draw, ask) {
    const over = spec.draw.filter(({ x, once }) => x === "steps" && !once);
    Object.assign(this, { box, summary, places: spec.draw, over, draw, ask, frame: null, at: null });
    this.first = over.find(({ y }) => y) ?? over[0];
    this.closing = new AbortController();
    const said = { className: "mha-steps", role: "slider", "aria-label": "step of the run", tabIndex: 0, hidden: true };
    this.layer = element("div", { ...said, dataset: { lmSuppressShortcuts: "true" } });
    if (!over.length) return;
    picture.append(this.layer);
    const listens = { signal: this.closing.signal },
      hear = (element, name, heard) => element.addEventListener(name, (event) => this.frame && heard(event), listens);
    hear(picture, "pointermove", (event) => this.point(event));
    hear(picture, "click", (event) => {
      this.point(event);
      if (this.at !== null) this.layer.focus({ preventScroll: true }); // after a tap it stays until the focus goes
    });
    hear(picture, "pointerleave", ({ pointerType }) => pointerType === "touch" || this.end());
    hear(picture, "pointercancel", () => this.end());
    hear(this.layer, "blur", () => this.end());
    hear(this.layer, "keydown", (event) => this.press(event));
  }

  // The run that has ended, and is drawn; null: another one begins.
  settle(frame) {
    if (this.frame === frame || !this.over.length) return;
    this.end(false);
    const isOn = frame?.steps.length > 1;
    this.layer.hidden = !isOn;
    this.frame = isOn ? frame : null;
    if (!isOn) return;
    Object.assign(this, { finals: frame.finals, isAsked: frame.finals.length > 0, panel: this.first });
    this.say(frame.steps.length - 1);
  }

  know(finals) {
    this.finals = finals;
    if (this.at !== null) this.show(this.at);
  }

  axes(trace) {
    return axesOf(this.box._fullLayout, this.box.data[trace]);
  }

  // The step nearest to the pointer, in a panel over steps; elsewhere there is none.
  point({ clientX, clientY }) {
    const { left, top } = this.box.getBoundingClientRect(),
      isIn = ({ _offset: from, _length: long }, at) => at >= from && at <= from + long,
      panel = this.over.find(({ trace }) => {
        const [across, up] = this.axes(trace);
        return isIn(across, clientX - left) && isIn(up, clientY - top);
      });
    if (!panel) {
      this.end();
      return;
    }
    const [{ _offset: from, d2p }] = this.axes(panel.trace),
      apart = this.frame.steps.map((step) => Math.abs(from + d2p(step) - clientX + left)),
      known = apart.filter(Number.isFinite); // a logarithmic axis has no place for step 0
    const k = apart.indexOf(Math.min(...known));
    if (k === this.at && panel === this.panel) return;
    this.panel = panel;
    this.show(k);
  }

  press(event) {
    const last = this.frame.steps.length - 1;
    if (event.key === "Escape") this.end();
    else if (KEYS[event.key]) this.show(Math.min(last, Math.max(0, (this.at ?? last) + KEYS[event.key])));
    else return;
    event.preventDefault();
  }

  show(k) {
    const { frame, finals, summary } = this,
      isMeasured = this.places.some((place) => Object.values(place).some((name) => name in frame.final));
    if (this.at === null) {
      this.words = summary.textContent;
      summary.style.minHeight = `${summary.offsetHeight}px`;
    }
    this.at = k;
    this.place();
    const isKnown = !isMeasured || k in finals;
    summary.textContent = this.say(k) + (isKnown ? "" : PENDING);
    if (isMeasured && isKnown) this.draw({ ...frame, final: finals[k], done: false, at: k });
    if (isKnown || this.isAsked) return;
    this.isAsked = true;
    this.ask();
  }

  end(draws = true) {
    if (this.at === null) return;
    Object.assign(this, { at: null, panel: this.first });
    this.place();
    this.summary.textContent = this.words;
    this.summary.style.minHeight = "";
    this.say(this.frame.steps.length - 1);
    if (draws) this.draw(this.frame);
  }

  // The step in words, with what the curves of the panel show there.
  say(k) {
    const { box, frame, over, panel, layer } = this;
    const told = over.flatMap(({ trace, y }) => {
      const { name, yaxis } = box.data[trace],
        value = frame.curves[y]?.[k],
        isSaid = yaxis === box.data[panel.trace].yaxis && Number.isFinite(value);
      return isSaid ? [`${name} ${signed(digits(value))}`] : [];
    });
    const words = [`Step ${frame.steps[k]} of ${frame.steps.at(-1)}`, told.join(", ")].filter(Boolean).join(": ") + ".";
    const values = { min: 0, max: frame.steps.length - 1, now: k, text: words };
    for (const [name, value] of Object.entries(values)) layer.setAttribute(`aria-value${name}`, value);
    return words;
  }

  // To be called when drawn.
  place() {
    const { layer, box, over, places, at } = this,
      panels = new Map(over.map(({ trace }) => [box.data[trace].yaxis, trace]));
    const lines = () => [...panels.values()].map((trace) => this.line(trace)),
      dots = () => places.map((one) => this.dot(one));
    layer.replaceChildren(...(at === null ? [] : [...lines(), ...dots()].filter(Boolean)));
  }

  line(trace) {
    const step = this.frame.steps[this.at],
      [{ d2p, _length: wide }, { _length: height }] = this.axes(trace);
    return this.mark("mha-step", trace, [d2p(step), 0], {
      textContent: step,
      dataset: d2p(step) > wide / 2 ? { back: "" } : {},
      style: `height: ${height}px`,
    });
  }

  // On a curve over steps or over another curve.
  dot({ trace, x, y, once }) {
    const { frame, at } = this,
      known = { ...frame.curves, steps: frame.steps };
    if (once || !(x in known && y in frame.curves)) return null;
    const [across, up] = this.axes(trace);
    return this.mark("mha-step-dot", trace, [across.d2p(known[x][at]), up.d2p(known[y][at])]);
  }

  // In the panel of a trace; null where that does not reach.
  mark(className, trace, [x, y], { style = "", ...told } = {}) {
    const { offsetLeft, offsetTop } = this.box,
      [across, up] = this.axes(trace),
      at = `left: ${offsetLeft + across._offset + x}px; top: ${offsetTop + up._offset + y}px; ${style}`;
    const isIn = x >= -1 && x <= across._length + 1 && y >= -1 && y <= up._length + 1;
    return isIn ? element("div", { className, style: at, ...told }) : null;
  }

  close() {
    this.closing.abort();
    this.layer.remove();
  }
}
