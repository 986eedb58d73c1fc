import { defaults } from "mhalib/live/widget.js";

// What the controls of the laboratory offer beside each other, the lines of Python of a run, and the link that restores
// it: as controls.py and code.py, beside this file, have them.

export const VERSION = "1";

// The kind of a run, by which the page carries what is drawn of it.
export const kindOf = ({ model, data }) => (data === "own" ? `own_${model}` : data);

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
  const there = controls.filter((control) => offered(control, values, own?.kind).length);
  const parts = new URLSearchParams([
    ["laboratory", VERSION],
    ...there.map(({ name }) => [name, String(values[name])]),
  ]);
  if (values.data === "own") for (const name of ["file", "sum"]) parts.set(name, own[name]);
  return `#${parts}`;
}

// {values, file, sum} of a link; {wrong: what to do} if it is not one; null if it is not meant for the laboratory.
export function readLink({ controls, experiments }, hash) {
  const parts = new URLSearchParams(hash.replace(/^#/, ""));
  const known = (name, text) =>
    name === "experiment" ? Object.hasOwn(experiments, text) : controls.some((one) => one.name === name);
  const set = [...parts].filter(([name, text]) => text && known(name, text));
  if (!parts.has("laboratory") && !set.length) return null;
  const wrong = (what) => ({
    wrong: `${what} The laboratory starts anew; ask for the link again, or set the controls by hand.`,
  });
  if (!parts.has("laboratory")) return wrong("This link has lost its beginning, “laboratory=1”.");
  if (parts.get("laboratory") !== VERSION)
    return wrong(
      `This link is of version ${parts.get("laboratory").slice(0, 20)} of the laboratory, and this is version ${VERSION}.`,
    );
  const values = defaults(controls),
    experiment = parts.get("experiment");
  const rest = [...parts].filter(([name]) => !["laboratory", "experiment", "file", "sum"].includes(name));
  if (experiment !== null && !Object.hasOwn(experiments, experiment))
    return wrong(`This link names an experiment that is not there, “${experiment.slice(0, 20)}”.`);
  if (experiment !== null) Object.assign(values, experiments[experiment].values);
  for (const [name, text] of rest) {
    const control = controls.find((one) => one.name === name);
    if (!control) return wrong(`This link sets “${name.slice(0, 20)}”, which the laboratory does not have.`);
    const at = control.values.findIndex((value) => String(value) === text);
    if (at < 0) return wrong(`This link sets ${control.label} to “${text.slice(0, 20)}”, which is not offered.`);
    values[name] = control.values[at];
  }
  return { values, experiment, file: parts.get("file")?.slice(0, 80), sum: parts.get("sum") };
}
