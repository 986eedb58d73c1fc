// A browser saves a page as it stands, with all that scripts have added to it; when it is opened again they would add that
// once more. So what they add is marked, and where a page has been saved it is taken out before any of them begins.
// data-added is on what goes; "around" says that what it stands around stays. data-changed lists the attributes that
// scripts gave to what stands in the page by itself. The theme, plotly and the slides' reveal.js mark nothing: what is
// theirs is named here.
(() => {
  const root = document.documentElement;
  const each = (selector, mend) => document.querySelectorAll(selector).forEach(mend);
  const remove = (one) => one.remove();
  const without = (selector, ...names) => each(selector, (one) => one.classList.remove(...names));

  function restore() {
    each('[data-added="around"]', (one) => one.replaceWith(...one.childNodes));
    each("[data-added]", remove);
    each("[data-changed]", (one) =>
      ["data-changed", ...one.dataset.changed.split(" ")].forEach((name) => one.removeAttribute(name)),
    );
    each("button.toggle-button, button.copybtn, body > .tooltip, .reveal > :not(.slides)", remove);
    without(".admonition.toggle", "toggle", "toggle-hidden");
    without(".mha-drawing", "js-plotly-plot");
    if (new URLSearchParams(location.search).has("q")) each("#search-results > *", remove);
  }

  // live.js would begin before all of the page has been read.
  const isSaved = "opened" in root.dataset;
  if (isSaved) document.addEventListener("readystatechange", restore, { once: true });
  root.dataset.opened = isSaved ? "again" : "once";
})();
