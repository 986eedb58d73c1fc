import { element } from "livegrad/live/element.js";
import { download } from "livegrad/live/export.js";
import { button } from "livegrad/live/widget.js";
import { SAMPLES } from "./files.js";
import { VERSION, kindOf, pythonOf } from "./links.js";

// What a reader of the laboratory takes away: the run in five formats, sample files, what is copied.

// The curves of a run, also those that have no panel: not a bound that does not apply, nor the edge of a rule that has none.
function knownCurves({ curves, looks }, draw) {
  const hidden = draw.filter(({ visible }) => visible && !looks[visible]).map(({ y }) => y);
  return Object.fromEntries(Object.entries(curves).filter(([name]) => !hidden.includes(name)));
}

function tableOf(steps, curves) {
  const names = Object.keys(curves),
    rows = steps.map((step, k) => [step, ...names.map((name) => curves[name][k])]);
  return [["step", ...names], ...rows].map((row) => row.join(",")).join("\n") + "\n";
}

// Format → its name, its MIME type, and what is written of a state; `plot` draws the images.
export const linesOf = (spec, { values, own }) => pythonOf(spec, values, own?.file);
const curvesOf = ({ drawn }, { result, values }) => knownCurves(result, drawn[kindOf(values)].frames.schedule.draw);
const EXPORTS = {
  csv: ["curves, CSV", "text/csv", (spec, state) => tableOf(state.result.steps, curvesOf(spec, state))],
  json: [
    "everything, JSON",
    "application/json",
    (spec, state) =>
      JSON.stringify(
        {
          laboratory: VERSION,
          values: state.values,
          steps: state.result.steps,
          curves: curvesOf(spec, state),
          last: state.result.final,
          stopped: state.result.stopped,
          python: linesOf(spec, state),
        },
        null,
        1,
      ),
  ],
  svg: ["figure, SVG", "", (spec, state, plot) => plot.image("svg")],
  png: ["figure, PNG", "", (spec, state, plot) => plot.image("png")],
  py: ["lines of Python", "text/x-python", linesOf],
};

export async function save(spec, state, plot, format) {
  const { values, result } = state,
    [, type, written] = EXPORTS[format];
  if (!result && format !== "py")
    return "There is no finished run to save. The next sentence says whether to wait, or what to change.";
  try {
    download(`laboratory-${values.model}-${values.data}.${format}`, await written(spec, state, plot), type);
    return "";
  } catch (error) {
    return `This could not be saved: ${error.message}. Save the figure in the other format, or the numbers.`;
  }
}

// A button for each key of `entries` = {key: [text, …]}.
const buttons = (entries, pressed) => Object.entries(entries).map(([key, [text]]) => button(text, () => pressed(key)));

export const exportButtons = (saved) =>
  element(
    "fieldset",
    { className: "mha-group mha-tools" },
    element("legend", { textContent: "Save the run" }),
    ...buttons(EXPORTS, saved),
  );

export const sampleButtons = () =>
  element(
    "details",
    { className: "mha-group" },
    element("summary", { textContent: "Sample files" }),
    element(
      "div",
      { className: "mha-tools" },
      ...buttons(SAMPLES, (key) => download(SAMPLES[key][1], SAMPLES[key][2](), "text/csv")),
    ),
  );
