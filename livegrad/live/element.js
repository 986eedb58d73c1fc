// What everything is built of that a reader sees of a widget: elements of the page.

// JupyterLab's shortcuts would take arrows and letters from whatever in an output has the focus.
const FOCUSED = ["button", "input", "select", "summary", "pre"];

// What scripts add to a page is marked, and is not there twice where the page is saved and opened again (saved.js). This
// mark is for what they put around something that stays.
export const AROUND = { added: "around" };

export function element(name, properties, ...children) {
  const { dataset, ...plain } = properties,
    made = document.createElement(name);
  for (const [key, value] of Object.entries(plain)) {
    if (/^(role$|aria-)/.test(key))
      made.setAttribute(key, value); // as properties not every browser knows them
    else made[key] = value;
  }
  Object.assign(made.dataset, { added: "" }, dataset, FOCUSED.includes(name) ? { lmSuppressShortcuts: "true" } : null);
  made.append(...children);
  return made;
}

// Hides what a notebook shows until a widget does, as long as the widget stands. This is a rule, and not a property of
// that element, which JupyterLab may put into the page after the widget. On a page of the book (book.css) the box around
// that element goes with it.
export function without(fallback) {
  const textContent = `[data-fallback="${fallback}"] { display: none; }`;
  return element("style", { className: "mha-without", textContent });
}
