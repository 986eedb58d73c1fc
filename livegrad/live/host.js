// A model to lean on. Hosts without a kernel, as MyST's directive and marimo may be, hand over one that leaves out what
// would speak to it, or refuses: then nothing is said.
const SPEAKS = ["on", "off", "set", "save_changes", "send"];

export function hosted(model) {
  const said = (name) =>
    function (...words) {
      try {
        model[name](...words);
      } catch {
        // nobody listens
      }
    };
  return { get: (name) => model.get(name), ...Object.fromEntries(SPEAKS.map((name) => [name, said(name)])) };
}
