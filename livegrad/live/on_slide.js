// On a slide (NAME.html?slides) the page looks as the slides do, letters in the picture are large enough for the last row,
// and a key that nothing here uses goes to the slides, also from inside this frame. What can be moved or pressed keeps its
// own keys; a menu, which finds its entries by letters, keeps all but those of a presenter.
(() => {
  const asked = new URLSearchParams(location.search);
  if (!asked.has("slides")) return;

  // The letters and the styles of the slides, where they lie beside the figures; names are as wide as their letters, so the
  // figure waits for these (widget.py).
  const styled = (name) =>
    new Promise((done) => {
      const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: `../_static/${name}.css` });
      link.onload = link.onerror = done;
      document.head.append(link);
    });
  Object.assign(document.documentElement.dataset, { theme: "light", slide: "" });
  window.mhaStyled = Promise.all(["letters", "kit"].map(styled)).then(() => document.fonts.load('1em "Source Sans 3"'));

  // A slide shows this page 1.18 times as large (kit.css): the 12 pixels of an axis become 18.
  const LARGER = 1.28,
    BAR = 10; // pixels: a broader line is a bar
  const place = document.getElementById("state"),
    state = JSON.parse(place.textContent),
    { data, layout } = state.spec.figure;
  if (asked.get("slides") === "first") keepFirst(state.spec);
  layout.font = { ...layout.font, size: LARGER * (layout.font?.size ?? 12) };
  for (const side of ["l", "r"]) layout.margin[side] *= LARGER;
  for (const key of Object.keys(layout))
    if (/^[xy]axis\d*$/.test(key) && layout[key].title) layout[key].title.font = { size: layout.font.size };
  for (const title of layout.annotations ?? []) if (title.font?.size) title.font.size = layout.font.size;
  place.textContent = JSON.stringify(state);

  // ?slides=first: of the panels only the first, and of what the figure says only what stands before the first semicolon.
  // The places of traces are numbers, so those of other panels stay, unseen.
  function keepFirst(spec) {
    spec.summary = spec.summary.replace(/;.*/s, ".");
    const wider = 1 / layout.xaxis.domain[1];
    data.forEach(({ line, xaxis = "x", ...others }, k) => {
      if (xaxis !== "x") data[k] = { visible: false, showlegend: false };
      else if (line?.width > BAR) data[k] = { ...others, line: { ...line, width: wider * line.width } };
    });
    for (const key of Object.keys(layout)) if (/^([xy]axis|legend)\d+$/.test(key)) delete layout[key];
    layout.xaxis.domain = [0, 1];
    layout.annotations = layout.annotations?.slice(0, 1);
  }

  const MOVES = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"],
    PRESENTER = ["PageUp", "PageDown"];
  const USED = new Map(
    Object.entries({ range: MOVES, checkbox: [" "], button: [" ", "Enter"], a: ["Enter"], body: [] }),
  );
  const kindOf = ({ localName, type }) => (["input", "button"].includes(localName) ? type : localName);

  function uses(element, key) {
    const used = USED.get(kindOf(element));
    return used ? used.includes(key) : !PRESENTER.includes(key);
  }

  // Not those of the browser: F5, Tab, whatever is pressed with Control.
  const isForSlides = ({ key, ctrlKey, altKey, metaKey }) =>
    !(ctrlKey || altKey || metaKey) && (key.length === 1 || /^(Arrow|Page|Home$|End$|Enter$|Escape$)/.test(key));

  function pressed(event) {
    const { key, code, keyCode, shiftKey } = event,
      focused = document.activeElement ?? document.body;
    if (!isForSlides(event)) return;
    if (key === "Escape" && focused !== document.body) focused.blur();
    else if (uses(focused, key)) return;
    else parent.postMessage({ key, code, keyCode, shiftKey }, "*");
    event.preventDefault();
  }
  addEventListener("keydown", pressed, true);
})();
