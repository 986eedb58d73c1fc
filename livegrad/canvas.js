// Draws a figure in the place of the one before, with the reader's zoom. No saved notebook carries the 5 MB of
// plotly.js: Python sends them when they are asked for.
const plotly = (model) =>
  new Promise((resolve) => {
    const take = (message, buffers) => {
      if (message?.plotly !== true) return;
      model.off("msg:custom", take);
      // It is a module for Node or for RequireJS, or a global: here one for Node.
      const text = [
        "const define = null, module = { exports: {} }, { exports } = module;",
        ...buffers,
        "\nexport default module.exports;",
      ];
      resolve(import(URL.createObjectURL(new Blob(text, { type: "text/javascript" }))));
    };
    model.on("msg:custom", take);
    model.send({ want: "plotly" });
  });

// Reading 5 MB stops the page for a while. It waits until the other models of the page have begun, for anywidget
// gives up those that have not after two seconds.
const idle = () => new Promise((go) => (window.requestIdleCallback ?? setTimeout)(go));

export default {
  async render({ model, el }) {
    el.textContent = "Waiting for plotly.js, which a running kernel sends as soon as it is free.";
    await idle();
    const { default: Plotly } = await plotly(model);
    const draw = () => {
      const { data, layout } = JSON.parse(model.get("figure"));
      // As long as uirevision stays, plotly.js keeps what a reader has zoomed to or hidden.
      Plotly.react(el, data, { uirevision: "kept", ...layout }, { responsive: true });
    };
    el.replaceChildren();
    model.on("change:figure", draw);
    draw();
    return () => {
      model.off("change:figure", draw);
      Plotly.purge(el);
    };
  },
};
