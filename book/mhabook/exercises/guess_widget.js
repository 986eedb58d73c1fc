import { without } from "livegrad/live/element.js";
import { all, begin, show } from "./guess.js";

// Guesses in a notebook, as guess.py wrote them; Python is not asked.

function render({ model, el }) {
  const { html, fallback } = model.get("guesses");
  el.innerHTML = html;
  // JupyterLab would take arrows and letters for its own
  for (const input of all("input", el)) input.dataset.lmSuppressShortcuts = "true";
  el.append(without(fallback));
  begin(el);
  // In Colab each output is a document of its own, and hears of the others what they keep.
  const hear = () => show(el);
  window.addEventListener("storage", hear);
  return () => window.removeEventListener("storage", hear);
}

export default { render };
