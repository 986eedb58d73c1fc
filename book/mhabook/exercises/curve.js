// A guess that is drawn. Each of its points is a hidden slider of book/_ext/curves.py, which the keyboard reaches; a pointer
// that is pulled across the plot moves each that it passes.

const sliders = (plot) => [...plot.querySelectorAll("input")];
export const drawn = (plot) => sliders(plot).map(({ value }) => value);

// Tells whether a guess, as it is kept, can have been drawn in a plot: a value for each column, none above or below.
export function fits(plot, guess) {
  const { y: top, width, height } = plot.querySelector("svg").viewBox.baseVal,
    values = guess.split(", ");
  const inside = (value) => value !== "" && top <= -value && -value <= top + height;
  return values.length === width && values.every(inside);
}

const pointsOf = (values) => values.map((y, k) => `${k + 0.5} ${-y}`);
export const path = (values) => `M${pointsOf(values).join("L")}`;

export function draw(plot, values) {
  const points = pointsOf(values);
  plot.querySelector(".mha-yours").setAttribute("d", path(values));
  plot.querySelector(".mha-points").setAttribute("d", points.map((point) => `M${point}h0`).join(""));
}

// The column below a pointer, and the value at its height.
function under({ clientX, clientY }, svg, { length, 0: { min, max } }) {
  const { x, y, width, height } = svg.getBoundingClientRect(),
    column = Math.floor((length * (clientX - x)) / width);
  return { k: Math.min(Math.max(column, 0), length - 1), value: max - ((max - min) * (clientY - y)) / height };
}

// Show a guess, or faintly that there is none, and take another.
export function take(plot, guess) {
  const all = sliders(plot),
    svg = plot.querySelector("svg");
  const show = () => draw(plot, drawn(plot));
  let last = null;

  function pull(event) {
    const to = under(event, svg, all),
      from = last ?? to,
      columns = Math.abs(to.k - from.k) || 1;
    for (let j = 1; j <= columns; j++)
      all[from.k + j * Math.sign(to.k - from.k)].value = from.value + ((to.value - from.value) * j) / columns;
    last = to;
    all[to.k].dispatchEvent(new Event("input", { bubbles: true }));
  }

  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    svg.setPointerCapture(event.pointerId);
    last = null;
    pull(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (svg.hasPointerCapture(event.pointerId)) pull(event);
  });
  svg.addEventListener("lostpointercapture", () => all[last.k].focus({ preventScroll: true }));
  plot.addEventListener("input", () => {
    plot.classList.remove("mha-none");
    show();
  });
  plot.classList.toggle("mha-none", !guess);
  guess?.split(", ").forEach((value, k) => Object.assign(all[k], { value }));
  show();
}
