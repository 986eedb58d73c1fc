// What everything is built of that a reader sees of a widget: elements of the page.

// JupyterLab's shortcuts would take arrows and letters from whatever in an output has the focus.
const FOCUSED = ["button", "input", "select", "summary", "pre"];

function element(name, properties, ...children) {
  const { dataset, ...plain } = properties;
  const made = Object.assign(document.createElement(name), plain);
  Object.assign(made.dataset, dataset, FOCUSED.includes(name) ? { lmSuppressShortcuts: "true" } : null);
  made.append(...children);
  return made;
}
