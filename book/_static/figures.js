// Figures of a page: plotly.js is asked for when the first of them comes near the window, or when the browser has nothing
// else to do; until it draws, their pictures stand. They follow the page: the keyboard, its width, the opening of what
// hides them. Their colors are book.css's.
(() => {
  const SOURCE = new URL("vendor/plotly-cartesian.min.js", document.currentScript.src);
  const MISSING = "plotly.js, which draws it, did not come from the page's server. Load the page again.";
  const drawn = () => document.querySelectorAll(".mha-figure .js-plotly-plot");

  const load = () =>
    new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.addEventListener("load", () => resolve(window.Plotly));
      script.addEventListener("error", () => reject(new Error(MISSING)));
      script.src = SOURCE;
      document.head.append(script);
    });
  let coming;
  const plotly = () => (coming ??= window.Plotly ? Promise.resolve(window.Plotly) : load());

  // Whose turn has not come: element → what is to be done with it.
  const waiting = new Map();
  const near = new IntersectionObserver((seen) => seen.forEach((one) => one.isIntersecting && turn(one.target)), {
    rootMargin: "150% 0px",
  });

  async function turn(element) {
    const [begin, fail] = waiting.get(element) ?? [];
    waiting.delete(element);
    near.unobserve(element);
    if (begin) await plotly().then(begin, fail);
  }

  const rest = window.requestIdleCallback ?? ((next) => setTimeout(next, 200)); // Safari has none
  async function all() {
    const [element] = waiting.keys();
    if (!element) return;
    await turn(element);
    rest(all);
  }

  // Calls `begin` with plotly when an element is near the window, and with one after the other while the browser rests.
  // Where plotly does not come, `fail` hears why; pictures stand.
  window.whenNear = (element, begin, fail = () => {}) => {
    if (!waiting.size) rest(all);
    waiting.set(element, [begin, fail]);
    near.observe(element);
  };

  // Side by side, the panels of a still figure would be as wide as a word on a phone: there they
  // stand one below the other, as those of live figures do (livegrad/live/drawing.js).
  const PHONE = window.matchMedia("(max-width: 591.98px)");
  const HEIGHT = 450; // pixels, as all below; plotly's own
  // Of a panel, of the words between two of them, of those below the last one, and of a slider.
  const [PANEL, BETWEEN, BELOW, SLIDER] = [210, 85, 60, 110];
  // A legend is as wide as a plot on a phone; of each name its line, a letter, and its sample.
  const [LEGEND, LINE, LETTER, SAMPLE] = [290, 19, 6.5, 45];

  // plotly writes powers of ten larger by a quarter: here they are as large as other numbers.
  function told(figure) {
    const drawing = JSON.parse(figure.querySelector("script").textContent);
    for (const axis of Object.values(drawing.layout))
      if (axis?.exponentformat === "power" && axis.dtick) axis.tickfont = { size: 9.6 };
    return drawing;
  }
  const arranged = (figure, narrow = PHONE.matches) => (narrow ? stacked(told(figure)) : told(figure));
  const axisOf = (name) => name.replace(/^[xy]/, "$&axis"); // "y2" → "yaxis2"
  const middle = ([low, high]) => (low + high) / 2;

  // The panels in which something is drawn, in their order: name of the y axis, both axes, title.
  function panelsOf({ data, layout }) {
    const pairs = new Map(data.map(({ xaxis = "x", yaxis = "y" }) => [axisOf(yaxis), axisOf(xaxis)]));
    const number = (name) => Number(name.slice("yaxis".length) || 1);
    const names = [...pairs.keys()].filter((name) => layout[name]?.domain).sort((a, b) => number(a) - number(b));
    return names.map((name) => {
      const [x, y] = [layout[pairs.get(name)], layout[name]],
        over = (word) => (word.xanchor === "left" ? x.domain[0] : middle(x.domain)),
        at = (word) => Math.hypot(word.x - over(word), word.y - y.domain[1]);
      return { name, x, y, title: layout.annotations?.find((word) => at(word) < 1e-6) };
    });
  }

  // Of axes side by side some have the title that all share; one below the other each has it.
  function share(axes) {
    const [title, ...others] = new Set(axes.map((axis) => axis.title?.text).filter(Boolean));
    if (title && !others.length) for (const axis of axes) axis.title = { ...axis.title, text: title };
  }

  // plotly gives each name of a legend that has several lines the width of the longest.
  function lines(data) {
    const names = data.filter(({ name, showlegend }) => name && showlegend !== false),
      wide = SAMPLE + LETTER * Math.max(...names.map(({ name }) => name.length));
    return Math.ceil(names.length / Math.max(1, Math.floor(LEGEND / wide)));
  }

  function stacked(figure) {
    const { data, layout } = figure,
      panels = panelsOf(figure);
    // Small images have no numbers along their axes, and stay side by side.
    if (new Set(panels.map(({ x }) => x.domain[0])).size < 2 || panels[0].x.showticklabels === false) return figure;
    const high = panels.length * (PANEL + BETWEEN) - BETWEEN;
    panels.forEach(({ name, x, y, title }, k) => {
      const top = 1 - (k * (PANEL + BETWEEN)) / high;
      x.domain = [0, 1];
      y.domain = [top - PANEL / high, top];
      if (title) Object.assign(title, { x: title.xanchor === "left" ? 0 : 0.5, y: top });
      for (const trace of data)
        if (trace.colorbar && axisOf(trace.yaxis ?? "y") === name)
          Object.assign(trace.colorbar, { y: middle(y.domain), len: PANEL / high });
    });
    for (const letter of "xy") share(panels.map((panel) => panel[letter]));
    const slides = layout.sliders ? SLIDER : 0; // below the panels, and the legend above them
    layout.legend = { ...layout.legend, itemwidth: 30, y: slides ? 1 + BELOW / 2 / high : -BELOW / high };
    layout.height = layout.margin.t + high + BELOW + lines(data) * LINE + slides;
    return figure;
  }

  function draw(figure) {
    const box = figure.querySelector(".mha-drawing"),
      shown = arranged(figure);
    box.replaceChildren(); // its picture gives way
    box.style.height = `${shown.layout.height ?? HEIGHT}px`;
    // The buttons of plotly cover legends, and one uploads the data.
    Plotly.newPlot(box, { ...shown, config: { displayModeBar: false, responsive: true } });
    addKeys(box);
    figure.dispatchEvent(new CustomEvent("mha-still", { bubbles: true }));
  }

  function rearrange(box) {
    const { data, layout } = arranged(box.closest(".mha-figure")),
      height = `${layout.height ?? HEIGHT}px`;
    if (box.style.height === height) return;
    box.style.height = height;
    layout.sliders?.forEach((slider, i) => Object.assign(slider, { active: box.layout.sliders[i].active }));
    Plotly.react(box, layout.sliders ? box.data : data, layout); // a slider has moved the data
  }
  PHONE.addEventListener("change", () => {
    if (!window.matchMedia("print").matches) drawn().forEach(rearrange);
  });
  window.mhaPhoneHeight = (figure) => arranged(figure, true).layout.height ?? HEIGHT;

  // plotly's slider answers to the pointer alone; this one, seen while it has the focus, answers to the keyboard.
  const addKeys = (figure) =>
    (figure.layout.sliders ?? []).forEach((slider, i) => {
      const input = document.createElement("input");
      const say = () => input.setAttribute("aria-valuetext", slider.steps[input.value].label);
      Object.assign(input, { type: "range", className: "mha-keys", min: 0, max: slider.steps.length - 1, step: 1 });
      input.dataset.added = ""; // livegrad/live/saved.js
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
    for (const figure of drawn()) if (box.contains(figure)) Plotly.Plots.resize(figure);
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const figure of document.querySelectorAll(".mha-figure")) window.whenNear(figure, () => draw(figure));
  });
  // A figure drawn while its box was closed has no size; "toggle" doesn't bubble, hence the capture.
  document.addEventListener("toggle", (event) => fit(event.target), true);
  window.addEventListener("beforeprint", () => fit(document));
})();
