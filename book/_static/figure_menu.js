// A figure leaves the page: a quiet menu on each, live or still, saves it as SVG or as PNG for a slide, copies a link to it
// with its settings or what embeds it in another page, shows it on the whole screen, and shows the code behind it.
(() => {
  const WIDE = 1920; // pixels of a PNG
  const ROOT = new URL(document.documentElement.dataset.content_root ?? "./", window.location.href);
  const STEM =
    window.location.pathname
      .split("/")
      .pop()
      .replace(/\.html$/, "") || "index";
  // The address of a page on disk leads nowhere else, and names the folders of its reader.
  const ON_DISK = window.location.protocol === "file:",
    NO_ADDRESS = "This page was opened from a disk, so there is no link to it, and nothing to embed.";
  const FULL = document.documentElement.requestFullscreen ? "Full screen" : null; // a phone's Safari has none

  const make = (tag, properties, ...children) => {
    const node = Object.assign(document.createElement(tag), properties);
    node.dataset.added = ""; // livegrad/live/saved.js
    node.append(...children);
    return node;
  };
  // What stands below an embedded figure: where it is from, and under which license.
  const credit = () => `<p><a href="${quoted(here(""))}">${quoted(document.title)}</a>, CC BY 4.0</p>`;
  const quoted = (text) => text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
  const here = (hash) => window.location.href.split("#")[0] + hash;

  // The folded code of a figure's own cell, and of one below it that only prepares it (bookext.py).
  function codesOf(root) {
    const cell = root.closest(".cell"),
      below = cell?.nextElementSibling;
    return [cell, below?.matches(".tag_hide-cell") ? below : null].flatMap((one) => [
      ...(one?.querySelectorAll(":scope > details.hide") ?? []),
    ]);
  }

  // Of each kind of figure: its name, what draws it as an image, a link to it, what embeds it, a page of it alone.
  const KINDS = {
    live: (root) => {
      const box = root.querySelector(".js-plotly-plot"),
        link = root.mhaLink(),
        name = link.slice(1).split("?")[0],
        title = root.querySelector(".mha-live-title").textContent,
        said = settings(root);
      const alone = new URL(`figures/${name}.html#?${link.split("?")[1]}`, ROOT).href;
      return {
        name,
        image: (format) => drawn(box, title, format, said),
        link: here(link),
        embed:
          `<iframe src="${quoted(alone)}" title="${quoted(title)}" width="760" height="560" ` +
          'sandbox="allow-scripts" style="border: 0; max-width: 100%"></iframe>' +
          credit(),
        alone,
      };
    },
    still: (root) => {
      const box = root.querySelector(".js-plotly-plot"),
        title = root.querySelector("figcaption")?.textContent ?? "",
        name = `${STEM}-${root.id.replace("figure-", "")}`;
      return {
        name,
        image: (format) => drawn(box, title, format),
        link: here(`#${root.id}`),
        embed: `<img src="${new URL(`figures/${name}.svg`, ROOT).href}" alt="${quoted(root.getAttribute("aria-label"))}" width="760">${credit()}`,
      };
    },
    idea: (root) => {
      const { href, download } = root.querySelector("figcaption a");
      return { name: download.replace(/\.svg$/, ""), image: (format) => (format === "svg" ? href : painted(href)) };
    },
  };

  // What the controls of a live figure are set to, in words.
  function settings(root) {
    return Array.from(root.querySelectorAll(".mha-control"), (one) => {
      const input = one.querySelector("input, select"),
        shown = one.querySelector(".mha-value") ?? input.selectedOptions?.[0];
      return `${one.querySelector("label").textContent}: ${shown?.textContent ?? (input.checked ? "on" : "off")}`;
    });
  }

  // Words in lines of so many letters; none of them is broken.
  function inLines(words, letters) {
    const lines = [];
    for (const word of words) {
      const longer = `${lines.at(-1)} · ${word}`;
      if (lines.length && longer.length <= letters) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines;
  }

  // As it stands on the page, dark words on white, above it its title and, of a live figure, its settings.
  function drawn(box, title, format, said = []) {
    const { width, height, margin } = box._fullLayout,
      layout = { ...box.layout, paper_bgcolor: "white", font: { ...box.layout.font, color: "#222" } };
    const lines = inLines(said, width / 7),
      room = (title ? 34 : 0) + 18 * lines.length,
      place = { xref: "paper", x: 0.5, yref: "paper", y: 1, yanchor: "top", yshift: margin.t + room - 30 };
    const below = { ...place, text: lines.map(quoted).join("<br>"), showarrow: false, font: { size: 12 } };
    layout.annotations = [...(layout.annotations ?? []), ...(box.mhaEnds ?? []), ...(lines.length ? [below] : [])];
    Object.assign(layout, { title: { text: title, x: 0.5, y: 1, yanchor: "top", pad: { t: 10 }, font: { size: 15 } } });
    layout.margin = { ...layout.margin, t: margin.t + room };
    const scale = format === "png" ? Math.ceil(WIDE / width) : 1;
    return window.Plotly.toImage({ data: box.data, layout }, { format, width, height: height + room, scale });
  }

  // An SVG as a PNG.
  async function painted(href) {
    const text = await (await fetch(href)).text(),
      [, across, down] = text.match(/viewBox="\S+ \S+ (\S+) (\S+)"/);
    const high = Math.round((WIDE * down) / across);
    const sized = text.replace("<svg ", `<svg width="${WIDE}" height="${high}" `);
    const image = new Image(WIDE, high);
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(sized)}`;
    await image.decode();
    const canvas = make("canvas", { width: WIDE, height: high });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/png");
  }

  async function save(told, format) {
    make("a", { href: await told.image(format), download: `${told.name}.${format}` }).click();
    return `${told.name}.${format} is saved.`;
  }

  // What cannot be copied stands there, selected.
  async function copy(said, text, what) {
    try {
      await navigator.clipboard.writeText(text);
      return `${what} is copied.`;
    } catch {
      const field = make("input", { readOnly: true, value: text, ariaLabel: what });
      said.replaceChildren("Copy this: ", field);
      field.select();
      return undefined;
    }
  }

  const ITEMS = {
    "Save as SVG": (told) => save(told, "svg"),
    "Save as PNG": (told) => save(told, "png"),
    "Copy link": (told, said) => copy(said, told.link, "The link"),
    "Copy embed code": (told, said) => copy(said, told.embed, "The embed code"),
    "Open alone": (told) => void window.open(told.alone, "_blank", "noopener"),
    "Show code": (told, said, root) => {
      const codes = codesOf(root);
      for (const code of codes) Object.assign(code, { hidden: false, open: true });
      said.closest("details").open = false;
      codes[0].querySelector("summary").focus();
    },
    "Full screen": async (told, said, root) => {
      await root.requestFullscreen(); // a refusal is said in the menu, so it closes after this
      said.closest("details").open = false;
    },
  };
  function offered({ link, embed, alone }, root) {
    const absent = {
      "Copy link": ON_DISK || !link,
      "Copy embed code": ON_DISK || !embed,
      "Open alone": !alone,
      "Show code": codesOf(root).every(({ open }) => open),
      "Full screen": !FULL,
    };
    return Object.keys(ITEMS).filter((item) => !absent[item]);
  }

  // On the whole screen a figure is as high as there is room, and its letters grow with it.
  const LETTERS = 1.8, // times as large, at most
    NORMAL = 700; // pixels, the width of a figure on a page

  function roomFor(box, root) {
    const below = Math.max(...Array.from(root.children, (part) => part.getBoundingClientRect().bottom)),
      edge = parseFloat(getComputedStyle(root).paddingBottom);
    return Math.floor(window.innerHeight - below - root.scrollTop - edge + box.offsetHeight);
  }

  // What of a layout has a size. A legend's place is a share of the height of the panels; on top of one it stays.
  function sizes(box) {
    const { annotations, font, margin, ...rest } = box._fullLayout,
      legends = Object.keys(box.layout).filter((key) => rest[key] && /^legend\d*$/.test(key)),
      powers = Object.entries(box.layout).filter(([, part]) => part?.tickfont);
    return {
      ticks: Object.fromEntries(powers.map(([name, axis]) => [`${name}.tickfont.size`, axis.tickfont.size])),
      height: rest.height,
      font: { size: font.size },
      margin: { l: margin.l, r: margin.r, t: margin.t, b: margin.b },
      annotations: box.layout.annotations?.map((one, k) => ({ ...one, font: { size: annotations[k].font.size } })),
      ...Object.fromEntries(legends.map((name) => [name, { ...box.layout[name], y: rest[name].y }])),
    };
  }

  function enlarged({ height: was, ticks, font, margin, annotations, ...legends }, high, height, times) {
    const share = (times * high) / (height - times * (was - high)),
      moved = ({ y, ...legend }) => ({ ...legend, y: y > 1 ? 1 + (y - 1) * share : y < 0 ? y * share : y });
    return {
      height,
      ticks: Object.fromEntries(Object.entries(ticks).map(([name, size]) => [name, size * times])),
      font: { size: font.size * times },
      margin: Object.fromEntries(Object.entries(margin).map(([side, part]) => [side, part * times])),
      annotations: annotations?.map(({ yshift = 0, font, ...one }) => ({
        ...one,
        yshift: yshift * times,
        font: { size: font.size * times },
      })),
      ...Object.fromEntries(Object.entries(legends).map(([name, legend]) => [name, moved(legend)])),
    };
  }

  const before = new WeakMap(); // layout that was enlarged → its sizes before
  async function resize(box, { ticks, ...parts }) {
    box.style.height = `${parts.height}px`;
    await window.Plotly.relayout(box, { ...parts, ...ticks });
    // A still figure is as wide as its box again; a live one sees to that itself.
    if (box.closest(".mha-figure")) delete box.layout.width;
    await window.Plotly.Plots.resize(box);
  }

  async function fitScreen(root) {
    const box = root.querySelector(".js-plotly-plot"),
      layout = box?.layout,
      was = before.get(layout);
    if (!layout) return;
    if (document.fullscreenElement !== root) {
      before.delete(layout);
      if (was) await resize(box, was);
      return;
    }
    const height = roomFor(box, root),
      times = Math.max(1, Math.min(LETTERS, height / box.offsetHeight, box.clientWidth / NORMAL));
    if (was || height < 0.75 * box.offsetHeight) return; // a tall one stays, and scrolls
    before.set(layout, sizes(box));
    await resize(box, enlarged(before.get(layout), box._fullLayout._size.h, height, times));
    // The rings of points that can be dragged follow when a control says that it was moved.
    if (root.querySelector(".mha-handle")) root.querySelector("input").dispatchEvent(new Event("input"));
  }

  function add(root, kind) {
    const said = make("p", { role: "status" });
    const list = make("div", {}),
      menu = make("details", { className: "mha-menu" }, make("summary", {}, "Share"), list);
    // What is offered is decided before the menu opens: the event that says that it is open comes later.
    menu.firstChild.addEventListener("click", () => {
      if (menu.open) return;
      said.textContent = ON_DISK ? NO_ADDRESS : "";
      const press = (item) => async () => {
        try {
          const words = await ITEMS[item](KINDS[kind](root), said, root);
          if (words !== undefined) said.textContent = words;
        } catch ({ message }) {
          said.textContent = `This did not work: ${message}.`;
        }
      };
      const items = offered(KINDS[kind](root), root).map((item) => {
        const button = make("button", { type: "button", textContent: item });
        button.addEventListener("click", press(item));
        return button;
      });
      list.replaceChildren(...items, said);
    });
    menu.addEventListener("keydown", ({ key }) => {
      if (key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.firstChild.focus();
    });
    root.prepend(menu);
    for (const code of codesOf(root)) keep(code, menu);
  }

  // Code that a menu shows stands nowhere else while it is folded.
  function keep(code, menu) {
    code.hidden = !code.open;
    code.dataset.changed = "hidden"; // livegrad/live/saved.js
    code.addEventListener("toggle", () => {
      const isLeft = !code.open && code.contains(document.activeElement);
      code.hidden = !code.open;
      if (isLeft) menu.firstChild.focus();
    });
  }

  // The theme shows the whole page on the screen, too. A live figure that has become wider begins anew.
  for (const change of ["fullscreenchange", "mha-drawn"])
    document.addEventListener(change, ({ target }) => target.matches?.(".mha-live, .mha-figure") && fitScreen(target));

  // A click elsewhere closes them.
  document.addEventListener("click", ({ target }) => {
    for (const menu of document.querySelectorAll(".mha-menu[open]")) if (!menu.contains(target)) menu.open = false;
  });
  const addLive = (root) => root.mhaLink && !root.querySelector(":scope > .mha-menu") && add(root, "live");
  document.addEventListener("mha-drawn", ({ target }) => addLive(target));
  // figures.js says of each still figure that it is drawn.
  document.addEventListener("mha-still", ({ target }) => add(target, "still"));
  document.addEventListener("DOMContentLoaded", () => {
    for (const root of document.querySelectorAll(".mha-idea")) add(root, "idea");
    for (const root of document.querySelectorAll(".mha-live")) addLive(root); // one that was drawn before
  });
})();
