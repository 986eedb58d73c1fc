// Figures follow the page: its colors in light and dark, its width, and the opening of what hides them.
(() => {
  const figures = () => document.querySelectorAll(".mha-figure .js-plotly-plot");

  const palette = () => {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue("--pst-color-" + name).trim();
    return { text: color("text-base"), line: color("border"), ground: color("background"), raised: color("surface") };
  };

  const axisColors = (name, { text, line }) => ({
    [name + ".color"]: text,
    [name + ".gridcolor"]: line,
    [name + ".linecolor"]: line,
    [name + ".zerolinecolor"]: line,
  });

  const sliderColors = (i, { text, line, raised }) => ({
    [`sliders[${i}].font.color`]: text,
    [`sliders[${i}].bgcolor`]: raised,
    [`sliders[${i}].bordercolor`]: text,
    [`sliders[${i}].tickcolor`]: line,
  });

  const menuColors = (i, { text, line, raised }) => ({
    [`updatemenus[${i}].font.color`]: text,
    [`updatemenus[${i}].bgcolor`]: raised,
    [`updatemenus[${i}].bordercolor`]: line,
  });

  const axesOf = (layout) => Object.keys(layout).flatMap((key) =>
    /^[xy]axis\d*$/.test(key) ? [key] :
    /^scene\d*$/.test(key) ? ["xaxis", "yaxis", "zaxis"].map((axis) => `${key}.${axis}`) : []);

  const layoutColors = (figure, colors) => Object.assign(
    { "font.color": colors.text, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", "legend.bgcolor": "rgba(0,0,0,0)" },
    ...axesOf(figure._fullLayout).map((axis) => axisColors(axis, colors)),
    ...(figure.layout.sliders ?? []).map((_, i) => sliderColors(i, colors)),
    ...(figure.layout.updatemenus ?? []).map((_, i) => menuColors(i, colors)));

  const paint = () => {
    const colors = palette();
    for (const figure of figures()) Plotly.relayout(figure, layoutColors(figure, colors));
  };

  // plotly's slider answers to the pointer alone; this one, seen while it has the focus, answers to the keyboard.
  const addKeys = (figure) => (figure.layout.sliders ?? []).forEach((slider, i) => {
    const input = document.createElement("input");
    const say = () => input.setAttribute("aria-valuetext", slider.steps[input.value].label);
    Object.assign(input, { type: "range", className: "mha-keys", min: 0, max: slider.steps.length - 1, step: 1 });
    input.value = slider.active ?? 0;
    input.setAttribute("aria-label", (slider.currentvalue?.prefix ?? "").replace(/[\s=]+$/, "") || "slider");
    input.addEventListener("input", async () => {
      say();
      await Plotly.animate(figure, ...slider.steps[input.value].args);
      Plotly.relayout(figure, { [`sliders[${i}].active`]: Number(input.value) });
    });
    figure.on("plotly_sliderchange", ({ slider: moved }) => { input.value = moved.active; say(); });
    say();
    figure.after(input);
  });

  const fit = (box) => {
    for (const figure of figures()) if (box.contains(figure)) Plotly.Plots.resize(figure);
  };

  document.addEventListener("DOMContentLoaded", () => {
    paint();
    figures().forEach(addKeys);
    new MutationObserver(paint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  });
  // A figure drawn while its box was closed has no size; "toggle" doesn't bubble, hence the capture.
  document.addEventListener("toggle", (event) => fit(event.target), true);
  window.addEventListener("beforeprint", () => fit(document));
})();
