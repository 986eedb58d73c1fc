// plotly's FigureWidget, whose 5 MB anywidget does not wait for: after two seconds it would hear Python no more.
const load = (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));

export default () => {
  let made;
  return {
    initialize({ model }) {
      made = load(model.get("_plotly")).then(({ default: make }) => {
        const widget = make();
        widget.initialize({ model });
        return widget;
      });
    },
    render: async (given) => (await made).render(given),
  };
};
