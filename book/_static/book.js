// What togglebutton.js asks for stands in small scripts of the page as well, which the policy of a server may forbid:
// proofs and solutions would stay closed.
Object.assign(window, {
  togglebuttonSelector: ".toggle, .admonition.dropdown",
  toggleHintShow: "Click to show",
  toggleHintHide: "Click to hide",
  toggleOpenOnPrint: "true",
});

// A click on anything inside the title of a dropdown (a number, a formula, a link) opens it, as one on its bare text does.
// Without this the theme's handler, which knows only the bare title, toggles whatever dropdown was last used.
document.addEventListener(
  "click",
  (event) => {
    const title = event.target.closest?.(".admonition.toggle > .admonition-title");
    if (!title || event.target === title || event.target.closest("button")) return;
    event.preventDefault();
    event.stopPropagation();
    title.querySelector("button.toggle-button").click();
  },
  true,
);

// The button of a dropdown is called as what it opens, to those who hear the page.
window.addEventListener("load", () => {
  for (const button of document.querySelectorAll(".admonition-title > button.toggle-button"))
    button.setAttribute("aria-label", button.parentElement.textContent.trim().replace(/\s+/g, " "));
});

// Paper is white: print in the light theme.
(() => {
  const root = document.documentElement;
  let theme;
  window.addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
  });
  window.addEventListener("afterprint", () => {
    root.dataset.theme = theme;
  });
})();

// Whatever scrolls sideways on its own, now or after a dropdown opens, is a stop of the keyboard, and nothing else is.
(() => {
  const BOXES = '.bd-article :is(pre, table, div.math, mjx-container[display="true"], .cell_output, .mha-figure)';
  // Not by :has, which not every browser knows: an unknown selector would throw.
  const lines = () =>
    [...document.querySelectorAll(".bd-article :is(p, dd)")].filter((box) => box.querySelector("mjx-container"));
  const scrolls = (box) => box.scrollWidth > box.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(box).overflowX);
  const mark = ({ target }) => {
    if (scrolls(target)) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  };
  const sizes = new ResizeObserver((changes) => changes.forEach(mark));
  const watch = () => [...document.querySelectorAll(BOXES), ...lines()].forEach((box) => sizes.observe(box));
  window.addEventListener("load", watch);
})();

// Of the list of pages and the contents beside a page, which may be longer than the window, the place of its reader stays in
// sight, below the name of the book. The theme scrolls the list to where it stood on the page before.
(() => {
  const shown = (link) => link.offsetParent !== null;
  function keep(box, links, from = box.getBoundingClientRect().top) {
    const place = [...links].filter(shown).pop();
    if (!place) return;
    const { top, bottom, height } = place.getBoundingClientRect(),
      to = box.getBoundingClientRect().bottom;
    if (top < from + height) box.scrollTop -= from + 3 * height - top;
    else if (bottom > to - height) box.scrollTop += bottom - to + 3 * height;
  }
  document.addEventListener("DOMContentLoaded", () => {
    const pages = document.querySelector(".bd-sidebar-primary"),
      name = pages?.querySelector(".sidebar-primary-item");
    if (name) keep(pages, pages.querySelectorAll("li.active > a"), name.getBoundingClientRect().bottom);
    const contents = document.getElementById("pst-page-toc-nav"),
      box = contents?.closest(".bd-sidebar-secondary");
    const moves = new MutationObserver(() => keep(box, contents.querySelectorAll(".toc-entry.active > a")));
    if (contents) moves.observe(contents, { subtree: true, attributeFilter: ["aria-current"] });
  });
})();
