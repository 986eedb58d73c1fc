// Figures follow the page: the keyboard, its width, the opening of what hides them, and a finger that scrolls it. Their
// colors are book.css's.
(() => {
  const figures = () => document.querySelectorAll(".mha-figure .js-plotly-plot");

  // plotly's slider answers to the pointer alone; this one, seen while it has the focus, answers to the keyboard.
  const addKeys = (figure) =>
    (figure.layout.sliders ?? []).forEach((slider, i) => {
      const input = document.createElement("input");
      const say = () => input.setAttribute("aria-valuetext", slider.steps[input.value].label);
      Object.assign(input, { type: "range", className: "mha-keys", min: 0, max: slider.steps.length - 1, step: 1 });
      input.value = slider.active ?? 0;
      input.setAttribute("aria-label", (slider.currentvalue?.prefix ?? "").replace(/[\s=]+$/, "") || "slider");
      input.addEventListener("input", () => {
        say();
        const done = () => Plotly.relayout(figure, { [`sliders[${i}].active`]: Number(input.value) });
        Plotly.animate(figure, ...slider.steps[input.value].args).then(done, () => {}); // the next key interrupts it
      });
      figure.on("plotly_sliderchange", ({ slider: moved }) => {
        input.value = moved.active;
        say();
      });
      say();
      figure.after(input);
    });

  const fit = (box) => {
    for (const figure of figures()) if (box.contains(figure)) Plotly.Plots.resize(figure);
  };

  // A finger on a figure scrolls the page, where a mouse would zoom.
  const leaveToFingers = (figure) => {
    const axes = Object.keys(figure.layout).filter((key) => /^[xy]axis\d*$/.test(key));
    Plotly.relayout(figure, {
      dragmode: false,
      ...Object.fromEntries(axes.map((axis) => [`${axis}.fixedrange`, true])),
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    figures().forEach(addKeys);
    if (window.matchMedia("(pointer: coarse)").matches) figures().forEach(leaveToFingers);
  });
  // A figure drawn while its box was closed has no size; "toggle" doesn't bubble, hence the capture.
  document.addEventListener("toggle", (event) => fit(event.target), true);
  window.addEventListener("beforeprint", () => fit(document));
})();
