"""A widget alone on a page of its own, without a book and without a kernel."""

import json

import mhabook
import mhalib as mha
from livegrad.live.widget import PLOTLY
from mhabook.start import figure_surface


def own(steps=20):
    """The figure of a model of one's own, with buttons for two telling cases."""
    data = mha.data.tokenized_mixture(n=8, T=4, d=6, M=2, zeta=0.25, seed=0)
    zero = mha.MultiHeadAttention.zeros(H=1, T=4, d=6)
    return mha.live.figure(
        zero,
        data,
        mha.GradientDescent(lr=1.0),
        steps,
        {"lr": [0.1, 1.0, 10.0]},
        tries={"Initial settings": {}, "Ten times the step": {"lr": 10}},
    )


MADE = {
    "figure": lambda: figure_surface.surface(steps=20),
    "laboratory": mhabook.laboratory,
    "exercise": lambda: mhabook.exercise("ex-1-half"),
    "own": own,
}
# A page that counts what is opened and what is closed, and a model that no kernel is behind.
WATCHED = """
window.counts = { workers: 0, addresses: 0, observers: 0, listeners: 0 };
const Plain = window.Worker, Observer = window.ResizeObserver, { createObjectURL, revokeObjectURL } = URL;
window.Worker = class extends Plain {
  constructor(...parts) { super(...parts); window.counts.workers++; }
  terminate() { window.counts.workers--; super.terminate(); }
};
window.ResizeObserver = class extends Observer {
  observe(node) { window.counts.observers++; super.observe(node); }
  disconnect() { window.counts.observers--; super.disconnect(); }
};
const addresses = new Set();
URL.createObjectURL = (blob) => {
  const address = createObjectURL(blob);
  addresses.add(address);
  window.counts.addresses = addresses.size;
  return address;
};
URL.revokeObjectURL = (address) => {
  addresses.delete(address);
  window.counts.addresses = addresses.size;
  revokeObjectURL(address);
};
window.turns = 0; // of training on the page itself: it asks for each by a message
const { postMessage } = MessagePort.prototype;
MessagePort.prototype.postMessage = function (...parts) {
  window.turns++;
  postMessage.apply(this, parts);
};
const { addEventListener, removeEventListener } = window;
window.addEventListener = (name, ...rest) => {
  if (name === "hashchange") window.counts.listeners++;
  addEventListener.call(window, name, ...rest);
};
window.removeEventListener = (name, ...rest) => {
  if (name === "hashchange") window.counts.listeners--;
  removeEventListener.call(window, name, ...rest);
};
window.mount = (made, shipped) => {
  const heard = {}, state = structuredClone(shipped), el = document.createElement("div");
  const model = {
    get: (name) => state[name], set: (name, value) => { state[name] = value; }, save_changes() {}, send() {},
    on: (name, hear) => { (heard[name] ??= new Set()).add(hear); window.counts.listeners++; },
    off: (name, hear) => { if (heard[name]?.delete(hear)) window.counts.listeners--; },
  };
  document.body.append(el);
  const close = made.render({ model, el });
  return { el, model, heard, close };
};
"""
FINISHED = '() => document.querySelector(".mha-live[data-state=done]")'
MOUNT = "() => { window.shown = mount(made, state); }"
CLOSE = """() => {
  window.drawnAfter = 0;
  shown.el.firstChild.addEventListener("mha-drawn", () => { window.drawnAfter++; });
  shown.close();
  shown.el.remove();
  window.turns = 0;
}"""


def open_one(context, kind, with_plotly=True, change=lambda source: source):
    """Open a page with plotly, one kind of widget as `made`, its module as `change` makes it, its
    state as `state`."""
    page = context.new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    fill(page, kind, with_plotly, change)
    return page


def fill(place, kind, with_plotly=True, change=lambda source: source):
    """Put into a page, or a frame of one, what ``open_one`` has."""
    widget, traits = MADE[kind](), ("spec", "laboratory", "exercise", "values", "own")
    state = {name: getattr(widget, name) for name in traits if widget.has_trait(name)}
    place.set_content(f"<style>{widget._css}</style>")
    place.add_script_tag(content=WATCHED)
    if with_plotly:
        place.add_script_tag(content=PLOTLY.read_text("utf-8"))
    source = change(widget._esm).replace("export default", "return")
    place.add_script_tag(
        content=f"window.made = (() => {{ {source} }})(); window.state = {json.dumps(state)};"
    )
