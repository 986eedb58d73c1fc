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
  let coming = window.Plotly && Promise.resolve(window.Plotly);
  const plotly = () => (coming ??= load());

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

  function draw(figure) {
    const box = figure.querySelector(".mha-drawing");
    const told = JSON.parse(figure.querySelector("script").textContent);
    box.replaceChildren(); // its picture gives way
    // The buttons of plotly cover legends, and one uploads the data.
    Plotly.newPlot(box, { ...told, config: { displayModeBar: false, responsive: true } });
    addKeys(box);
    figure.dispatchEvent(new CustomEvent("mha-still", { bubbles: true }));
  }

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
    for (const figure of drawn()) if (box.contains(figure)) Plotly.Plots.resize(figure);
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const figure of document.querySelectorAll(".mha-figure")) window.whenNear(figure, () => draw(figure));
  });
  // A figure drawn while its box was closed has no size; "toggle" doesn't bubble, hence the capture.
  document.addEventListener("toggle", (event) => fit(event.target), true);
  window.addEventListener("beforeprint", () => fit(document));
})();
