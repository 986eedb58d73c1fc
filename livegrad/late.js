// plotly's FigureWidget, whose 5 MB no saved notebook carries, and for which anywidget does not wait: after two seconds it
// would hear Python no more. Python sends them when they are asked for.
const load = (bytes) => import(URL.createObjectURL(new Blob(bytes, { type: "text/javascript" })));

const sent = (model) =>
  new Promise((resolve) => {
    const take = (message, buffers) => {
      if (message?.plotly !== true) return;
      model.off("msg:custom", take);
      resolve(load(buffers));
    };
    model.on("msg:custom", take);
    model.send({ want: "plotly" });
  });

// Reading 5 MB stops the page for a while. It waits until the other models of the page have begun, for anywidget gives up
// those that have not after two seconds.
const idle = () => new Promise((go) => (window.requestIdleCallback ?? setTimeout)(go));

export default () => {
  let made;
  return {
    initialize({ model }) {
      made = idle()
        .then(() => sent(model))
        .then(({ default: make }) => {
          const widget = make();
          widget.initialize({ model });
          return widget;
        });
    },
    async render(given) {
      const note = document.createElement("p");
      note.textContent = "Waiting for plotly.js, which a running kernel sends as soon as it is free.";
      given.el.append(note);
      const widget = await made;
      note.remove();
      return widget.render(given);
    },
  };
};
