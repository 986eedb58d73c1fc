import { leftOut, settingsOf, valueOf, written } from "livegrad/live/address.js";
import { defaults } from "livegrad/live/widget.js";

// What the controls of the laboratory offer beside each other, the lines of Python of a run, and the link that restores
// it: as controls.py and code.py, beside this file, have them.

export const VERSION = "1";

// The kind of a run, by which the page carries what is drawn of it.
export const kindOf = ({ model, data }) => (data === "own" ? `own_${model}` : data);

// What is drawn of a run, and where: {figure, draw, alt}. A constant step size has no panel, nor has a curvature that is not
// measured: as panels.below in Python.
const belowOf = ({ schedule, curvature }) => {
  if (schedule !== "constant") return "schedule";
  return curvature ? "curvature" : "";
};
export const frameOf = ({ drawn }, values) => drawn[kindOf(values)].frames[belowOf(values)];

const matches = (conditions, values) =>
  Object.entries(conditions).every(([name, allowed]) => allowed.includes(values[name] ?? ""));

const withFile = (values, own) => ({ ...values, own: own === values.model ? "fits" : "" });

// The values of a control that can be chosen where the others stand at `values`; none if it is not there.
export function offered({ when, values: all, entries }, values, own) {
  const known = withFile(values, own);
  return matches(when, known) ? all.filter((_, k) => matches(entries[k], known)) : [];
}

// In words, which of the conditions of a control, or of an entry, the others do not meet.
export function needed(conditions, controls, values, own) {
  const known = withFile(values, own);
  return Object.entries(conditions)
    .filter(([name, allowed]) => !allowed.includes(known[name] ?? ""))
    .map(([name, allowed]) => {
      if (name === "own") return "a file for this model";
      const { label, values: all, texts } = controls.find((one) => one.name === name);
      return `${label}: ${allowed.map((value) => texts[all.indexOf(value)]).join(" or ")}`;
    })
    .join(", ");
}

export function resolve(controls, values, own) {
  const next = { ...values };
  for (const control of controls) {
    const choices = offered(control, next, own);
    if (choices.length && !choices.includes(next[control.name]))
      next[control.name] = choices.includes(control.value) ? control.value : choices[0];
  }
  return next;
}

// The lines of Python that repeat the run.
export function pythonOf({ code, controls }, values, file) {
  const codes = Object.fromEntries(controls.map((c) => [c.name, c.codes[c.values.indexOf(values[c.name])]]));
  const text = (name) => (code[name] ? code[name].find(({ when }) => matches(when, values)).text : codes[name]);
  // A file may be called {n}.csv: its name is not filled in.
  const filled = (part) =>
    part.replace(/\{(\w+)\}/g, (_, name) => (name === "file" ? JSON.stringify(file ?? "") : filled(text(name))));
  return filled("{lines}");
}

// #laboratory=1&model=heads&…: every control that is there, and of the reader's own file its name and checksum.
export function linkOf({ controls }, values, own) {
  const there = controls.filter((control) => offered(control, values, own?.kind).length),
    file = values.data === "own" ? ["file", "sum"].map((name) => [name, own[name]]) : [];
  return `#${written([["laboratory", VERSION], ...there.map(({ name }) => [name, values[name]]), ...file])}`;
}

// What a link may carry beside the controls, as it is read: text → what it means, or undefined.
const BESIDE = {
  laboratory: (text) => (/^\d*$/.test(text) ? text : undefined),
  experiment: (text, experiments) => (Object.hasOwn(experiments, text) ? text : undefined),
  file: (text) => text.slice(0, 80),
  sum: (text) => (/^[\da-f]{1,8}$/.test(text) ? text : undefined),
};

// {values, experiment, file, sum, left} of a link, `left` a sentence on what the laboratory does not have; {wrong: what to
// do} if it is not one; null if it is not meant for the laboratory.
export function readLink({ controls, experiments }, hash) {
  const meant = (key, text) => {
    if (text === undefined) return undefined;
    if (Object.hasOwn(BESIDE, key)) return BESIDE[key](text, experiments);
    const control = controls.find((one) => one.name === key);
    return control && valueOf(control.values, text);
  };
  const told = settingsOf(hash, meant),
    { laboratory, experiment = null, file, sum = null, ...set } = Object.fromEntries(told.values);
  const wrong = (what) => ({
    wrong: `${what} The laboratory starts anew; ask for the link again, or set the controls by hand.`,
  });
  if (!told.values.size) return null;
  if (laboratory === undefined) return wrong("This link has lost its beginning, “laboratory=1”.");
  if (laboratory !== VERSION)
    return wrong(
      `This link is of version ${laboratory.slice(0, 20)} of the laboratory, and this is version ${VERSION}.`,
    );
  const named = controls.map(({ name, label }) => [name, label]);
  const labels = new Map([...named, ["experiment", "the experiment"], ["sum", "the checksum of its file"]]);
  const values = { ...defaults(controls), ...experiments[experiment]?.values, ...set };
  return { values, experiment, file, sum, left: leftOut(told, labels, "the laboratory") };
}
