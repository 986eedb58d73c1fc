// As much of a browser as the book's figures need to build their controls, to train, and to say how much room they take:
// elements that can be written as HTML, and a page with a width. Nothing is laid out, and plotly draws nothing here.

// What is shown of an element; what ties it to its page (id, for, data-…) is not.
const WRITTEN = { className: "class", type: "type", min: "min", max: "max", step: "step" };
const FLAGS = ["hidden", "selected", "checked"];
const MARKS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => String(text).replace(/[&<>"]/g, (mark) => MARKS[mark]);

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, dataset: {}, children: [], parentElement: null, isConnected: true });
    this.style = {
      setProperty(name, value) {
        this[name] = value;
      },
    };
    this.classList = { add() {}, toggle() {} };
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  get textContent() {
    return this.children.map((child) => child.textContent ?? child).join("");
  }

  set textContent(text) {
    this.children = [text];
  }

  append(...children) {
    for (const child of children) if (child instanceof Element) child.parentElement = this;
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }

  before(...others) {
    const { parentElement: parent } = this;
    for (const other of others) other.parentElement = parent;
    parent.children.splice(parent.children.indexOf(this), 0, ...others);
  }

  closest(selector) {
    return !this.parentElement || selector === `.${this.className}` ? this : this.parentElement.closest(selector);
  }

  get clientWidth() {
    return page.width;
  }

  addEventListener() {}
  dispatchEvent() {}
  once() {}

  querySelector() {
    return this;
  }

  getContext() {
    // Source Sans of 12 pixels
    return { measureText: (text) => ({ width: 5.2 * text.length + 0.8 * text.replace(/\D/g, "").length }) };
  }

  querySelectorAll() {
    return [];
  }

  get outerHTML() {
    if (this.tag === "select")
      this.children.forEach((option, k) => {
        option.selected = k === this.value;
      });
    const written = { ...WRITTEN, ...(this.type === "range" || this.tag === "option" ? { value: "value" } : {}) },
      named = Object.keys(written).filter((key) => key in this && this[key] !== ""),
      all = { ...Object.fromEntries(named.map((key) => [written[key], this[key]])), ...this.attributes },
      text = Object.entries(all).map(([name, value]) => ` ${name}="${escaped(value)}"`),
      flags = FLAGS.filter((flag) => this[flag]).map((flag) => ` ${flag}=""`),
      inside = this.children.map((child) => child.outerHTML ?? escaped(child)).join("");
    return `<${this.tag}${text.join("")}${flags.join("")}>${this.tag === "input" ? "" : `${inside}</${this.tag}>`}`;
  }
}

// What is to be done later, and the figures that follow the width of the page.
const page = { width: 0, later: new Map(), asked: 0, sized: [] };
const wait = (action) => {
  page.later.set(++page.asked, action);
  return page.asked;
};
const forget = (number) => page.later.delete(number);
// Whether anything was left to be done; it is done.
const turn = () => {
  const actions = [...page.later.values()];
  page.later.clear();
  for (const action of actions) action(0);
  return actions.length > 0;
};

const nothing = () => {};
const listens = { addEventListener: nothing, removeEventListener: nothing };
const AXIS = { d2p: () => 0, p2d: () => 0, _offset: 0, _length: 0 };
const Plotly = {
  async react(box, data, layout) {
    Object.assign(box, { data, layout, _fullLayout: new Proxy({}, { get: () => AXIS }) });
  },
  animate: async () => {},
};

Object.assign(globalThis, {
  ...listens,
  Plotly,
  window: globalThis,
  innerHeight: 900,
  location: { hash: "", href: "http://book.invalid/" },
  matchMedia: (query) => ({ matches: /reduce/.test(query), ...listens }),
  document: {
    ...listens,
    createElement: (tag) => new Element(tag),
    createElementNS: (_, tag) => new Element(tag),
    querySelectorAll: () => [],
    currentScript: { src: "http://book.invalid/" },
  },
  setTimeout: wait,
  clearTimeout: forget,
  requestAnimationFrame: wait,
  structuredClone: (value) => JSON.parse(JSON.stringify(value)),
  performance: { now: () => 0 },
  URL: class {},
  CustomEvent: class {},
  IntersectionObserver: class {},
  AbortController: class {
    signal = { ...listens, aborted: false };
    abort() {}
  },
  ResizeObserver: class {
    constructor(changed) {
      page.sized.push(changed);
    }
    observe() {}
    disconnect() {}
  },
  MessageChannel: class {
    port1 = {};
    port2 = { postMessage: () => wait(() => this.port1.onmessage({})) };
  },
});

// Puts a live figure into an empty page of a width; `module` is what its code exports.
function mount(module, state, width) {
  const model = { get: (name) => state[name], on: nothing, off: nothing, send: nothing },
    el = new Element("div");
  Object.assign(page, { width, sized: [] });
  module.render({ model, el });
  [page.root] = el.children;
}

function resize(width) {
  page.width = width;
  for (const changed of page.sized) changed();
}

// What stands above the picture of the mounted figure and below it, how high it is, and its state.
function told() {
  const { children, dataset } = page.root,
    shown = children.filter(({ className }) => !["mha-live-title", "mha-said"].includes(className)),
    at = shown.findIndex(({ className }) => className === "mha-live-picture"),
    html = (parts) => parts.map((part) => part.outerHTML).join("");
  return {
    above: html(shown.slice(0, at)),
    below: html(shown.slice(at + 1)),
    height: Math.round(shown[at].children[0].layout?.height),
    state: dataset.state,
  };
}

// How high a still figure is on a phone (figures.js).
const phone = (figure) => mhaPhoneHeight({ querySelector: () => ({ textContent: JSON.stringify(figure) }) });
