// What everything is built of that a reader sees of a widget: elements of the page.

// JupyterLab's shortcuts would take arrows and letters from whatever in an output has the focus.
const FOCUSED = ["button", "input", "select", "summary", "pre"];

export function element(name, properties, ...children) {
  const { dataset, ...plain } = properties,
    made = document.createElement(name);
  for (const [key, value] of Object.entries(plain)) {
    if (/^(role$|aria-)/.test(key))
      made.setAttribute(key, value); // as properties not every browser knows them
    else made[key] = value;
  }
  Object.assign(made.dataset, dataset, FOCUSED.includes(name) ? { lmSuppressShortcuts: "true" } : null);
  made.append(...children);
  return made;
}
