// Live figures without a widget manager: what the manager would do for them, in one small file. Each brings
// its own module and its state with the page, asks for nothing, and draws; the manager, which can show every other
// widget too, weighs 4 MB and waits until the page has loaded.
(() => {
  const scripts = (type) => [...document.querySelectorAll(`script[type="application/vnd.jupyter.${type}+json"]`)];

  // The model that a module sees: no kernel is behind it, so nothing that is set goes anywhere.
  const standing = (state) => ({
    get: (name) => state[name],
    set: (name, value) => {
      state[name] = value;
    },
    save_changes() {},
    send() {},
    on() {},
    off() {},
  });

  const FORBIDDEN =
    "the page's server forbids its code (by a Content-Security-Policy whose script-src allows neither 'unsafe-inline' nor " +
    "blob:). Open the book at another address or from your disk, or run this page as a notebook.";

  // A module by a script in the page, whose text says how it is made; where a policy forbids such scripts, by an address
  // of its own.
  async function run(source) {
    const script = document.createElement("script");
    const made = source.replace(/^export default /m, "return ");
    script.textContent = `document.currentScript.make = () => {\n${made}\n};`;
    document.head.append(script);
    script.remove();
    if (script.make) return script.make();
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    const module = await import(address).catch(() => {
      throw new Error(FORBIDDEN);
    });
    return module.default;
  }
  const modules = {};
  const moduleOf = (source) => (modules[source] ??= run(source));

  // The code of a state, which may stand with another widget; the style stands in the head (bookext.py).
  const code = ({ _esm }) => known[_esm.as]?.state._esm ?? _esm;

  // What cannot be shown says why: a figure above its picture, without the controls that would move nothing.
  function refuse(frame, view, { message }) {
    const said = document.createElement("p");
    Object.assign(said, { className: "mha-refused", textContent: `This cannot run here: ${message}` });
    said.dataset.added = "";
    (frame?.querySelector("figcaption") ?? view).after(said);
    for (const part of frame?.querySelectorAll(".mha-around") ?? []) {
      part.hidden = true;
      part.dataset.changed = "hidden";
    }
  }

  async function mount(view, { state }) {
    const el = document.createElement("div");
    el.className = "widget-subarea jupyter-widgets";
    el.dataset.added = ""; // livegrad/live/saved.js
    view.after(el);
    const widget = await moduleOf(code(state));
    widget.render({ model: standing(state), el });
  }

  // A live figure waits for plotly.js, and its default frame stands meanwhile; what draws nothing waits for nothing.
  function show(view, model) {
    const frame = view.closest(".cell_output")?.querySelector(".mha-fallback");
    const fail = (error) => refuse(frame, view, error);
    const begin = () => mount(view, model).catch(fail);
    if (frame) window.whenNear(frame, begin, fail);
    else begin();
  }

  // The states stand in the head; a figure is shown as soon as its place has been read, while the page still loads; not
  // where the page has been saved, which has been read before it is as it was written.
  const shown = new Set();
  let known = null;

  // Null as long as the parser has read a part of it.
  function parsed(script) {
    try {
      return JSON.parse(script.textContent);
    } catch {
      return null;
    }
  }

  function look() {
    for (const script of scripts("widget-view")) {
      const view = shown.has(script) ? null : parsed(script);
      if (!view) continue;
      shown.add(script);
      known ??= Object.assign({}, ...scripts("widget-state").map((each) => parsed(each).state));
      show(script, known[view.model_id]);
    }
  }
  const reading = new MutationObserver(look);
  if (document.documentElement.dataset.opened !== "again")
    reading.observe(document, { childList: true, subtree: true });
  document.addEventListener("DOMContentLoaded", () => {
    reading.disconnect();
    look();
  });
})();
