import { element } from "livegrad/live/element.js";

// Curves stay in sight while controls move. On a desk all panels stand beside the controls. Where there is no room for
// that, one row of them stands above the controls, a menu says which, and the page scrolls below it; on a high phone the
// first two panels, until the reader chooses one.

const DESK = 880, // from this width on two panels in a row have room beside the controls
  TITLE = 24, // pixels above a panel, for its title
  REST = 330, // pixels that two panels leave at least, for the bar of the page, the menu, the sentence, and a control
  ALL = "all";

// The rows of panels as plotly has laid them out: {panel: the first, top, from, to: pixels, titles}. A title stands above
// the names of its panel.
function rowsOf({ _fullLayout: layout }) {
  const rows = [];
  for (let k = 0; layout?.[axis(k)]; k++) {
    const { text, yshift } = layout.annotations[k],
      top = Math.round(layout[axis(k)]._offset),
      from = Math.max(0, top - TITLE - yshift),
      row = rows.find((one) => one.top === top);
    if (row) {
      row.titles.push(text);
      row.from = Math.min(row.from, from);
    } else rows.push({ panel: k, top, from, titles: [text] });
  }
  return withPair(rows.map((row, k) => ({ ...row, to: rows[k + 1]?.from ?? layout.height })));
}

function withPair(rows) {
  const [one, two] = rows,
    isHigh = two && two.to - one.from + REST <= document.documentElement.clientHeight;
  if (!isHigh || one.titles.length > 1) return rows;
  return [{ ...one, panel: -1, to: two.to, titles: [...one.titles, ...two.titles] }, ...rows];
}

const axis = (k) => `yaxis${k ? k + 1 : ""}`;

export class Sight {
  constructor({ root, picture, box, summary }) {
    const id = `mha-panels-${Math.random().toString(36).slice(2)}`;
    this.select = element("select", { id });
    this.select.addEventListener("change", () => {
      this.chosen = this.select.value;
      this.look();
    });
    const label = element("label", { htmlFor: id, textContent: "panel in sight" });
    const chooser = element("div", { className: "mha-control mha-chooser" }, label, this.select);
    Object.assign(this, {
      root,
      picture,
      box,
      said: "",
      chosen: "-1",
      resizing: new ResizeObserver(() => this.look()),
    });
    this.stage = element("div", { className: "mha-stage" }, chooser, picture, summary);
    this.resizing.observe(root);
    root.addEventListener("mha-drawn", () => this.look());
  }

  // The menu has a line for each row, and stays on the panel that was chosen where that stands in another row now.
  offer(rows) {
    const said = JSON.stringify(rows.map(({ titles }) => titles));
    if (said === this.said) return;
    const { chosen } = this,
      option = (value, textContent) => element("option", { value, textContent });
    this.said = said;
    this.select.replaceChildren(
      ...rows.map(({ panel, titles }) => option(panel, titles.join(", "))),
      option(ALL, "all, above the controls"),
    );
    this.select.value = chosen === ALL ? ALL : (rows.findLast(({ panel }) => panel <= Number(chosen)) ?? rows[0]).panel;
  }

  look() {
    const { root, stage, picture, box, select } = this,
      desk = root.clientWidth >= DESK,
      rows = rowsOf(box);
    if (desk) root.dataset.sight = "desk"; // before anything is drawn, too
    if (!rows.length) return;
    this.offer(rows);
    const row = desk ? undefined : rows.find(({ panel }) => String(panel) === select.value);
    if (!desk) root.dataset.sight = row ? "row" : ALL;
    picture.style.height = row ? `${row.to - row.from}px` : "";
    box.style.marginTop = row ? `${-row.from}px` : "";
    root.style.setProperty("--mha-taken", row ? `${stage.offsetHeight}px` : "0px");
  }

  close() {
    this.resizing.disconnect();
  }
}
