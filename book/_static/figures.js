// Figures follow the page: its colours in light and dark, its width, and the opening of what hides them.
(() => {
  const figures = () => document.querySelectorAll(".mha-figure .js-plotly-plot");

  const palette = () => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue("--pst-color-" + name).trim();
    return { text: colour("text-base"), line: colour("border"), ground: colour("background"), raised: colour("surface") };
  };

  const axisColours = (name, { text, line }) => ({
    [name + ".color"]: text,
    [name + ".gridcolor"]: line,
    [name + ".linecolor"]: line,
    [name + ".zerolinecolor"]: line,
  });

  const sliderColours = (i, { text, line, raised }) => ({
    [`sliders[${i}].font.color`]: text,
    [`sliders[${i}].bgcolor`]: raised,
    [`sliders[${i}].bordercolor`]: text,
    [`sliders[${i}].tickcolor`]: line,
  });

  const menuColours = (i, { text, line, raised }) => ({
    [`updatemenus[${i}].font.color`]: text,
    [`updatemenus[${i}].bgcolor`]: raised,
    [`updatemenus[${i}].bordercolor`]: line,
  });

  const axesOf = (layout) => Object.keys(layout).flatMap((key) =>
    /^[xy]axis\d*$/.test(key) ? [key] :
    /^scene\d*$/.test(key) ? ["xaxis", "yaxis", "zaxis"].map((axis) => `${key}.${axis}`) : []);

  const layoutColours = (figure, colours) => Object.assign(
    { "font.color": colours.text, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", "legend.bgcolor": "rgba(0,0,0,0)" },
    ...axesOf(figure._fullLayout).map((axis) => axisColours(axis, colours)),
    ...(figure.layout.sliders ?? []).map((_, i) => sliderColours(i, colours)),
    ...(figure.layout.updatemenus ?? []).map((_, i) => menuColours(i, colours)));

  const paint = () => {
    const colours = palette();
    for (const figure of figures()) Plotly.relayout(figure, layoutColours(figure, colours));
  };

  const fit = (box) => {
    for (const figure of figures()) if (box.contains(figure)) Plotly.Plots.resize(figure);
  };

  document.addEventListener("DOMContentLoaded", () => {
    paint();
    new MutationObserver(paint).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  });
  // A figure drawn while its box was closed has no size; "toggle" doesn't bubble, hence the capture.
  document.addEventListener("toggle", (event) => fit(event.target), true);
  window.addEventListener("beforeprint", () => fit(document));
})();
