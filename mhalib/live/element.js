// What everything is built of that a reader sees of a widget: elements of the page.

function element(name, properties, ...children) {
  const { dataset, ...plain } = properties;
  const made = Object.assign(document.createElement(name), plain);
  Object.assign(made.dataset, dataset ?? {});
  made.append(...children);
  return made;
}

// JupyterLab's shortcuts would take the arrow keys from whatever in an output has the focus.
const OWN_KEYS = { lmSuppressShortcuts: "true" };
