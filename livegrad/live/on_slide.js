// On a slide (NAME.html?slides) letters in the picture are large enough for the last row, and a key that nothing here uses
// goes to the slides, also from inside this frame. What can be moved or pressed keeps its own keys; a menu, which finds its
// entries by letters, keeps all but those of a presenter.
(() => {
  if (!new URLSearchParams(location.search).has("slides")) return;

  // A slide shows this page 1.18 times as large (kit.css): the 12 pixels of an axis become 18.
  const LARGER = 1.28;
  const place = document.getElementById("state"),
    state = JSON.parse(place.textContent),
    { layout } = state.spec.figure;
  layout.font = { ...layout.font, size: LARGER * (layout.font?.size ?? 12) };
  for (const side of Object.keys(layout.margin ?? {})) layout.margin[side] *= LARGER;
  for (const title of layout.annotations ?? []) {
    if (title.font?.size) title.font.size *= LARGER;
    if (title.yshift) title.yshift *= LARGER; // above its legend
  }
  place.textContent = JSON.stringify(state);

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
