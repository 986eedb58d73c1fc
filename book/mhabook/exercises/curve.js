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

// A finger that comes down in the plot may be about to scroll the page: it draws once it has gone
// this many pixels, more sideways than up or down, and sets one point where it is lifted before.
// A mouse and a pen draw at once.
const FAR = 8;
function sideways(from, to) {
  const across = Math.abs(to.clientX - from.clientX);
  return across >= FAR && across > Math.abs(to.clientY - from.clientY);
}

// Calls `begin`, `pull` and `end` for the points that a pointer draws in a plot.
function followPointer(svg, { begin, pull, end }) {
  let undecided = null, // where a finger came down that does not draw yet
    pen = false;
  const decide = () => {
    pull(undecided);
    undecided = null;
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button || !event.isPrimary) return;
    svg.setPointerCapture(event.pointerId);
    begin();
    pen = event.pointerType === "pen";
    undecided = event;
    if (event.pointerType !== "touch") decide();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!event.isPrimary || !svg.hasPointerCapture(event.pointerId)) return;
    if (undecided && sideways(undecided, event)) decide();
    if (!undecided) pull(event);
  });
  // Where the page scrolls, a pointercancel comes instead.
  svg.addEventListener("pointerup", ({ isPrimary }) => isPrimary && undecided && decide());
  svg.addEventListener("lostpointercapture", end);
  // The page scrolls under a finger that goes up or down (touch-action), and not under a pen.
  svg.addEventListener("touchstart", (event) => pen && event.preventDefault(), { passive: false });
}

// Show a guess, or faintly that there is none, and take another.
export function take(plot, guess) {
  const all = sliders(plot),
    svg = plot.querySelector("svg");
  const show = () => draw(plot, drawn(plot));
  let last = null,
    stroke = null; // the columns that the first stroke has passed, {from, to}

  // Where the first stroke has not been, the curve goes on level: no point keeps a value that nobody gave.
  function level(from, to) {
    stroke = { from: Math.min(from, stroke.from), to: Math.max(to, stroke.to) };
    all.forEach((slider, k) => {
      slider.value = all[Math.min(Math.max(k, stroke.from), stroke.to)].value;
    });
  }

  function pull(event) {
    const to = under(event, svg, all),
      from = last ?? to,
      columns = Math.abs(to.k - from.k) || 1;
    for (let j = 1; j <= columns; j++)
      all[from.k + j * Math.sign(to.k - from.k)].value = from.value + ((to.value - from.value) * j) / columns;
    if (stroke) level(Math.min(from.k, to.k), Math.max(from.k, to.k));
    last = to;
    all[to.k].dispatchEvent(new Event("input", { bubbles: true }));
  }

  followPointer(svg, {
    begin: () => {
      last = null;
      stroke = plot.classList.contains("mha-none") ? { from: all.length - 1, to: 0 } : null;
    },
    pull,
    end: () => last && all[last.k].focus({ preventScroll: true }),
  });
  plot.addEventListener("input", () => {
    plot.classList.remove("mha-none");
    show();
  });
  plot.classList.toggle("mha-none", !guess);
  guess?.split(", ").forEach((value, k) => Object.assign(all[k], { value }));
  show();
}
