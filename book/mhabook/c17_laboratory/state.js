import { defaults } from "livegrad/live/widget.js";
import { resolve } from "./links.js";

// What stands on the laboratory's page, and what becomes of it at an event. Nothing here knows the page. A state has
//   values      where the controls stand, as they offer them beside each other; a new object at every move
//   by          who moved last: "reader", "link" or "python"; "" at the start
//   touched     whether a reader, or a link, has moved anything
//   own         the reader's file, as files.js reads it, or null
//   lent        {file, sum} of a file that Python has, or another view, and this page has not, or null
//   awaited     the link that waits for its file, or null
//   experiment  the one that the menu names, or ""
//   note        what went wrong or was done, and what to do; until the next move
//   result      the finished run of these values, or null
//   wrong       why these values could not be trained on, or ""

export const missing = ({ data }, theirs, own) => data === "own" && theirs?.sum !== own?.sum;

// This page trains on other data, and Python keeps its file until the reader chooses another model or other data.
const elsewhere = (lent) =>
  lent === null
    ? ""
    : `“${lent.file}” is open in Python or in another view, and not here. Open it here, too, and the figure trains on it.`;

function moved({ controls }, state, by, values, more = {}) {
  const next = {
    ...state,
    by,
    touched: true,
    lent: null,
    awaited: null,
    experiment: "",
    note: "",
    result: null,
    wrong: "",
    ...more,
  };
  return { ...next, values: resolve(controls, values, next.own?.kind) };
}

const valuesOf = ({ controls, experiments }, name) => ({ ...defaults(controls), ...experiments[name].values });

// Where the controls stand before anyone moves them: at the run of chapter 1.
export const opening = (spec) => valuesOf(spec, "first");

// The experiment that these are the values of, or "".
function experimentOf(spec, values) {
  const isAt = (all) => spec.controls.every(({ name }) => values[name] === all[name]);
  return Object.keys(spec.experiments).find((name) => isAt(valuesOf(spec, name))) ?? "";
}

const anew = (spec, state, by, note = "") => moved(spec, state, by, opening(spec), { experiment: "first", note });

const EVENTS = {
  set(spec, state, { name, value }) {
    const lent = ["model", "data"].includes(name) ? null : state.lent,
      begin = name === "model" ? spec.begins[value] : {};
    return moved(spec, state, "reader", { ...state.values, [name]: value, ...begin }, { lent, note: elsewhere(lent) });
  },
  reset: (spec, state) => anew(spec, state, "reader"),
  experiment: (spec, state, { name }) => moved(spec, state, "reader", valuesOf(spec, name), { experiment: name }),
  // A link restores what it says, and names what is `left` of it; one with a file waits for the file.
  link(spec, state, { wrong, values, experiment, file, sum, left = "" }) {
    if (wrong) return anew(spec, state, "link", wrong);
    const next = moved(spec, state, "link", values, {
      experiment: experiment ?? "",
      note: left,
    });
    if (values.data !== "own" || sum === state.own?.sum) return next;
    const named = file ? `the file “${file}”` : "a file";
    return {
      ...next,
      awaited: { values, sum },
      note: `${left} This link is of a run on ${named}, which stayed with its owner. Open that file here, and the run is restored.`.trimStart(),
    };
  },
  file(spec, state, { own }) {
    const { values, awaited } = state,
      left = awaited !== null && awaited.values.model !== own.kind;
    const link = left ? null : awaited,
      begin = own.kind === values.model ? {} : spec.begins[own.kind];
    const note =
      link && link.sum !== own.sum
        ? `“${own.file}” is open, but it is not the file of the link: its run may differ.`
        : `“${own.file}” is open: ${own.words}. It stays on this machine.` +
          (left ? " The run of the link is of another model, and is not restored." : "");
    return moved(
      spec,
      state,
      "reader",
      {
        ...(link?.values ?? { ...values, ...begin }),
        model: own.kind,
        data: "own",
      },
      { own, note },
    );
  },
  // Python has set the controls; `theirs` is the file that it knows of.
  python(spec, state, { values, theirs }) {
    const { touched } = state,
      lent = missing(values, theirs, state.own) ? theirs : null;
    return moved(spec, state, "python", values, {
      touched,
      experiment: experimentOf(spec, values),
      lent,
      own: lent ? null : state.own,
      note: elsewhere(lent),
    });
  },
  drawn(spec, state, { frame }) {
    if (!frame.done || frame.values !== state.values) return state; // a newer run is on its way
    return frame.steps.length
      ? { ...state, result: frame, wrong: "" }
      : {
          ...state,
          wrong: "the numbers are not finite at the start. Lower the initialization scale, or scale your data.",
        };
  },
  failed: (spec, state, { wrong }) => ({ ...state, wrong }),
  note: (spec, state, { note }) => ({ ...state, note }),
};

export const next = (spec, state, event) => EVENTS[event.is](spec, state, event);

export function begin(spec, values, theirs) {
  return { ...next(spec, { own: null, touched: false }, { is: "python", values, theirs }), by: "" };
}

export const opens = (spec, values) => experimentOf(spec, values) === "first";

// What Python hears of the controls: while it has a file that this page has not, that they stand on it.
export const told = ({ values, lent }) => (lent ? { ...values, data: "own" } : values);
