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

  const modules = {};
  const moduleOf = (source) =>
    (modules[source] ??= import(URL.createObjectURL(new Blob([source], { type: "text/javascript" }))));

  // The code of a state, which may stand with another widget; the style stands in the head (bookext.py).
  const code = ({ _esm }) => known[_esm.as]?.state._esm ?? _esm;

  async function mount(view, { state }) {
    const el = document.createElement("div");
    el.className = "widget-subarea jupyter-widgets";
    view.after(el);
    const { default: widget } = await moduleOf(code(state));
    widget.render({ model: standing(state), el });
  }

  // A live figure waits for plotly.js, and its default frame stands meanwhile; what draws nothing waits for nothing.
  function show(view, model) {
    const frame = view.closest(".cell_output")?.querySelector(".mha-fallback");
    if (frame) window.whenNear(frame, () => mount(view, model));
    else mount(view, model);
  }

  // The states stand in the head; a figure is shown as soon as its place has been read, while the page still loads.
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
  reading.observe(document, { childList: true, subtree: true });
  document.addEventListener("DOMContentLoaded", () => {
    reading.disconnect();
    look();
  });
})();
