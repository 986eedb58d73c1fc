import { element, without } from "livegrad/live/element.js";
import { keep, kept } from "./kept.js";
import { DIGITS, judge, rounds } from "./judge.js";
import { Fault } from "./tokens.js";

// The fields of an exercise that checks itself; the questions come from Python. Answers are kept in the reader's browser,
// and nothing is sent.

const MINUS = "−";
const shown = (x) => {
  const text = Number.isInteger(x) ? String(x) : String(Number(x.toPrecision(6)));
  return text.replace("-", MINUS);
};
const place = (part, values) =>
  part.variables.map(({ name, symbol }) => `${symbol || name} = ${shown(values[name])}`).join(", ");

// The reader's text with the fault marked in it, and what is wrong there.
function marked(text, { message, at, length }) {
  const mark = element("mark", { textContent: text.slice(at, at + length) || " " });
  const where = length
    ? [element("code", { className: "mha-typed" }, text.slice(0, at), mark, text.slice(at + length))]
    : [];
  return [length ? `At character ${at + 1}: ${message} ` : message, ...where];
}

const unjudged = ({ message }) => `This answer could not be judged (${message}). Write it in another way.`;

export function differs(part, { off, of, first, mistake, almost, meant, share, missing }) {
  if (mistake) return `Not yet. ${mistake}`;
  if (share !== null) return `Not yet. As a fraction this is ${shown(share)}, or ${shown(first.yours)}%.`;
  if (meant) return `Not yet: as it is typed it is another formula. With these parentheses it is right: ${meant}`;
  if (missing.length)
    return `Not yet: where is ${missing.map((name) => spelledOut(part, name)).join(", and where is ")}?`;
  if (!Number.isFinite(first.yours))
    return part.variables.length
      ? `Not yet: at ${place(part, first.values)} your formula has no finite value.`
      : "Not yet: this has no finite value.";
  return `Not yet: ${distance(part, { off, of, first, almost })}`;
}

function distance(part, { off, of, first, almost }) {
  if (!part.variables.length)
    return almost
      ? `${shown(first.yours)} is near, but not right to ${wanted(part)}.`
      : `${shown(first.yours)} is too ${first.yours < first.ours ? "small" : "large"}.`;
  if (almost)
    return (
      `your formula is near, and not the same: at ${place(part, first.values)} it gives ${shown(first.yours)}. ` +
      "If a number in it is rounded, write what it stands for."
    );
  const many = off === of ? `on all ${of}` : `on ${off} of ${of}`;
  return `it differs ${many} drawn instances. At ${place(part, first.values)} your formula gives ${shown(first.yours)}.`;
}

function spelledOut(part, name) {
  const { symbol, meaning } = part.variables.find((variable) => variable.name === name);
  return (symbol || name) + (meaning ? ` (${meaning})` : "");
}

// How the formula was read, where products had no sign, or a fragment of TeX stood for something.
const readAs = ({ reading }) =>
  reading === null ? [] : [" Read as ", element("code", { className: "mha-reading", textContent: reading }), "."];

const wanted = ({ digits }) => (digits === 1 ? "1 digit" : `${digits || DIGITS} digits`);

function agreed(part, { of }) {
  return part.variables.length ? `Right: it agrees with our formula on all ${of} drawn instances.` : "Right.";
}

export function lettersOf(part) {
  const letters = part.variables
    .map(({ name, symbol, meaning }) => (symbol ? `${name} for ${symbol}` : name) + (meaning ? ` (${meaning})` : ""))
    .join(", ");
  if (letters) return `A formula in ${letters}`;
  if (part.digits) return `A number, to ${wanted(part)}`;
  return rounds(part) ? `A number, to ${wanted(part)}, or a formula for it` : "A number, or a formula for it";
}

// One answer: what is asked, the field, and what is said of it.
class Field {
  constructor(part, key) {
    const id = `mha-answer-${Math.random().toString(36).slice(2)}`;
    Object.assign(this, { part, key });
    this.input = element("input", { type: "text", id, autocomplete: "off", spellcheck: false, autocapitalize: "off" });
    this.check = element("button", { type: "button", textContent: "Check" });
    this.more = element("button", { type: "button" });
    this.ours = element("button", { type: "button", textContent: "Our value there", hidden: true });
    this.verdict = element("p", { className: "mha-verdict", role: "status", id: `${id}-verdict` });
    this.hints = element("ol", { className: "mha-hints" });
    this.hints.setAttribute("aria-live", "polite");
    this.input.setAttribute("aria-describedby", `${id}-names ${id}-verdict`);
    const names = element("span", { className: "mha-names", id: `${id}-names`, textContent: lettersOf(part) });
    const row = element("span", { className: "mha-row" }, this.input, this.check, this.more, this.ours);
    const label = element("label", { htmlFor: id, textContent: part.ask });
    this.root = element("div", { className: "mha-part" }, label, names, row, this.verdict, this.hints);
    this.tried = new Set(); // what was wrong
    this.last = null;
    this.listen();
    this.next();
    this.comeBack();
  }

  comeBack() {
    this.input.value = kept(this.key) ?? "";
    if (this.input.value) this.answer();
  }

  // No form: JupyterLab takes the Enter that would submit it.
  listen() {
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.answer();
    });
    this.check.addEventListener("click", () => this.answer());
    this.input.addEventListener("input", () => this.changed());
    this.more.addEventListener("click", () => this.hint());
    this.ours.addEventListener("click", () => this.show());
  }

  say(state, ...words) {
    this.root.dataset.state = state;
    this.input.setAttribute("aria-invalid", String(state === "unread"));
    this.verdict.replaceChildren(...words);
  }

  // What could not be judged is not kept: it would come back at every visit.
  answer() {
    const { part, input, tried, ours } = this;
    ours.hidden = true;
    let result;
    try {
      result = judge(part, input.value);
    } catch (fault) {
      this.say("unread", ...(fault instanceof Fault ? marked(input.value, fault) : [unjudged(fault)]));
      return;
    }
    keep(this.key, input.value, this.root);
    if (result.right) {
      this.say("right", agreed(part, result), ...readAs(result));
      return;
    }
    this.last = result.first;
    tried.add(input.value.trim());
    ours.hidden = tried.size < 2 || !part.variables.length;
    this.say("wrong", differs(part, result), ...readAs(result));
  }

  changed() {
    if (!this.input.value) keep(this.key, "", this.root);
    if (!this.root.dataset.state) return;
    this.ours.hidden = true;
    this.say("");
  }

  next() {
    const { length } = this.hints.children,
      all = this.part.hints.length;
    this.more.hidden = length >= all;
    this.more.textContent = length ? `Another hint (${length} of ${all} seen)` : "Hint";
  }

  hint() {
    this.hints.append(element("li", { textContent: this.part.hints[this.hints.children.length] }));
    this.next();
    if (this.more.hidden) this.input.focus();
  }

  show() {
    const { part, last } = this;
    this.say(
      "wrong",
      `At ${place(part, last.values)} your formula gives ${shown(last.yours)}, ours ${shown(last.ours)}.`,
    );
    this.ours.hidden = true;
    this.input.focus();
  }
}

const HELP =
  "Numbers, + − * / ^ and parentheses; exp, log (natural), sqrt, abs, sin, cos, sinh, cosh, tanh, sigmoid (also as sigma or σ), " +
  "its derivatives σ′ and σ″, min, max and binom(n, k); pi and e. " +
  "Products need no sign: 2x is 2*x, and 1/2 x is (1/2)*x; the field says how it read you. Put into " +
  "parentheses what belongs together: x^1/2 is (x^1)/2, and a/b*c is (a/b)*c. Fragments of TeX are read as well, such as " +
  `\\frac{1}{4}u. A number that is not whole may be rounded to ${DIGITS} digits, or to as many as its field asks for; ` +
  "whole numbers and the numbers inside a formula have to be exact. " +
  "A formula is compared with ours at drawn values of its letters. Your answers are kept in this browser, and sent nowhere. " +
  "The solution stands in its own folded box.";

function render({ model, el }) {
  const { label, parts } = model.get("exercise");
  const help = element(
    "details",
    { className: "mha-help" },
    element("summary", { textContent: "How to type an answer" }),
    element("p", { textContent: HELP }),
  );
  el.append(
    element(
      "div",
      { className: "mha-exercise", role: "group", "aria-label": `Check your answer: ${parts[0].ask}` },
      element("p", { className: "mha-exercise-title", textContent: "Check your answer" }),
      ...parts.map((part, k) => new Field(part, `answer:${label}:${k}`).root),
      help,
    ),
    without(label),
  );
}

export default { render };
