// Where in a panel words stand: each beside its line or its point, where it covers least.

const APART = 7, // pixels from the middle of a dot to a word
  BESIDE = 3, // the same from the middle of a line
  ROWS = 5, // away from an end or a point, at most
  STEP = 12, // pixels along a line from one place to the next
  NEAR = 36, // to a word that stays near the end of its line, at most, but for one some rows away, which is led to it
  SWEEPS = 3, // of all words, each with the others where they are
  EDGE = 10; // from the upper or lower end of a panel to the middle of the name of a line that leaves it there

// What a word pays for a pixel of a line that it covers, and for one near it, up to the most of a line; for a mark that it
// covers, or another word; for another order than that of the ends; for a row, and for a pixel, from the end; for a
// pixel from where it was.
const COST = { on: 10, near: 0.5, most: 15, mark: 80, word: 400, order: 60, row: 15, far: 0.25, moved: 0.05 };

// How many pixels of a line lie in a box, [left, top, right, bottom]. Most of its pieces do not come near it.
export function covered(places, [left, top, right, bottom]) {
  let sum = 0;
  for (let k = 1; k < places.length; k++) {
    const before = places[k - 1],
      place = places[k];
    if ((before[0] < left && place[0] < left) || (before[0] > right && place[0] > right)) continue;
    if ((before[1] < top && place[1] < top) || (before[1] > bottom && place[1] > bottom)) continue;
    const part = partIn(before, place, [left, top, right, bottom]);
    if (part) sum += (part[1] - part[0]) * Math.hypot(place[0] - before[0], place[1] - before[1]);
  }
  return sum;
}

// Which part of a piece of a line lies in a box, as the shares of it at which that begins and ends: null where none does.
function partIn([x, y], [toX, toY], [left, top, right, bottom]) {
  let [from, to] = [0, 1];
  for (const [by, low, high] of [
    [toX - x, left - x, right - x],
    [toY - y, top - y, bottom - y],
  ]) {
    if (by === 0 && (low > 0 || high < 0)) return null;
    if (by === 0) continue;
    from = Math.max(from, Math.min(low / by, high / by));
    to = Math.min(to, Math.max(low / by, high / by));
  }
  return from < to ? [from, to] : null;
}

// Where a line that does not end in its panel was in it last: null where it never was.
export function leftAt(places, [wide, high]) {
  for (let k = places.length - 1; k > 0; k--) {
    const [x, y] = places[k - 1],
      [toX, toY] = places[k],
      part = partIn([x, y], [toX, toY], [0, EDGE, wide, high - EDGE]);
    if (!part) continue;
    const left = x + part[1] * (toX - x);
    return { x: left, y: y + part[1] * (toY - y), back: places[0][0] > left };
  }
  return null;
}

// How high a line runs between two places across: null where it is not there.
function heightsOf(places, left, right) {
  let [top, bottom] = [Infinity, -Infinity];
  const at = (height) => {
    if (height < top) top = height;
    if (height > bottom) bottom = height;
  };
  for (let k = 1; k < places.length; k++) {
    const [x, y] = places[k - 1],
      [toX, toY] = places[k],
      from = Math.max(left, Math.min(x, toX)),
      to = Math.min(right, Math.max(x, toX));
    if (!(from <= to)) continue;
    at(x === toX ? y : y + ((toY - y) * (from - x)) / (toX - x));
    at(x === toX ? toY : y + ((toY - y) * (to - x)) / (toX - x));
  }
  return top <= bottom ? [top, bottom] : null;
}

// The corners, left and top, at which a word so wide may stand that belongs to the end of a line: above and below the line
// from the end on backwards, some rows away from it at the end, and behind the end.
function besideLine({ x, y, wide, isNear }, places, tall, width) {
  const found = [],
    most = isNear ? NEAR : width;
  for (const [first, by] of [
    [x - APART - wide, -STEP],
    [x + APART, STEP],
  ])
    for (let left = first; left >= 0 && left + wide <= width && Math.abs(left - first) <= most; left += by) {
      const heights = heightsOf(places, left - 2, left + wide + 2);
      if (!heights && left === first) found.push({ left, top: y - tall / 2, row: 0, price: 0 });
      if (!heights) break;
      for (let row = 0; row < (left === first ? ROWS : 1); row++) {
        const away = BESIDE + 1.3 * row * tall;
        for (const top of [heights[0] - away - tall, heights[1] + away]) {
          const far = Math.hypot(left - first, top + tall / 2 - y);
          if (!row && far > most) continue; // beside a steep line, where other heights are
          found.push({ left, top, row, price: COST.row * row + COST.far * far });
        }
      }
    }
  return found;
}

// The same for a word of a point: around it, and some rows away from it.
function besidePoint({ x, y, wide, reach = 0, isLeft = false }, tall) {
  const found = [];
  for (let row = 0; row < ROWS; row++) {
    const away = Math.max(APART, reach + 3) + row * tall,
      price = COST.row * row,
      [above, below] = [y - tall - away, y + away],
      [left, right] = [x - away - wide, x + away],
      sides = [
        [right, isLeft ? 5 : 0],
        [left, isLeft ? 0 : 1],
      ];
    for (const [at, more] of sides) {
      if (!row) found.push({ left: at, top: y - tall / 2, row, price: more });
      found.push({ left: at, top: above + away / 2, row, price: price + more + 2 });
      found.push({ left: at, top: below - away / 2, row, price: price + more + 4 });
    }
    for (const [k, top] of [above, below].entries())
      found.push({ left: x - wide / 2, top, row, price: price + 4 + 2 * k });
  }
  return found;
}

const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
const boxOf = ({ left, top }, wide, tall, [across, down] = [0, 0]) => [
  left - across,
  top - down,
  left + wide + across,
  top + tall + down,
];

// All places of a word in a panel, each with what it pays there whatever other words do; one at least.
function placesOf(word, { lines, marks, size: [width, high] }, tall) {
  const { trace, wide, isPoint, before, x, y } = word,
    all = isPoint ? besidePoint(word, tall) : besideLine(word, lines.get(trace) ?? [], tall, width),
    inside = all.filter(({ left, top }) => left >= APART && left + wide <= width && top >= 0 && top + tall <= high),
    kept = (at, most) => Math.max(0, Math.min(at, most)),
    last = {
      left: kept(x - APART - wide, width - wide),
      top: kept(y - APART - tall, high - tall),
      row: 0,
      price: 0,
    };
  return (inside.length ? inside : [last]).map((at) => {
    const box = boxOf(at, wide, tall, [2, 1]),
      near = boxOf(at, wide, tall, [2, tall / 2]);
    let price = at.price + (before ? COST.moved * Math.hypot(at.left - before.left, at.top - before.top) : 0);
    for (const [k, places] of lines) {
      const close = covered(places, near);
      if (close) price += COST.on * covered(places, box);
      if (k !== trace) price += Math.min(COST.near * close, COST.most);
    }
    for (const [across, down, reach] of marks)
      if (meet(box, [across - reach, down - reach, across + reach, down + reach])) price += COST.mark;
    return { ...at, price };
  });
}

// The words of a panel with the corners where they stand, `isFar` where that is rows from the end. A panel has `lines`, by
// trace their places in pixels, `marks`, points with how far they reach, and a `size`; a word has the `trace` and the place,
// x and y, of its end or, with `isPoint`, of its point, whether it `isNear` its end, and how `wide` it is; all are so `tall`.
export function settled(words, panel, tall) {
  const choices = words.map((word) => placesOf(word, panel, tall)),
    chosen = words.map(() => null),
    isTurned = (k, j, at, there) => (words[k].y - words[j].y) * (at.top - there.top) < 0,
    between = (k, j, at, there) => {
      const isOver = meet(boxOf(at, words[k].wide, tall, [8, 2]), boxOf(there, words[j].wide, tall)),
        isBeside = at.left < there.left + words[j].wide && there.left < at.left + words[k].wide;
      return isOver ? COST.word : isBeside && isTurned(k, j, at, there) ? COST.order : 0;
    };
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    choices.forEach((all, k) => {
      let least = Infinity;
      chosen[k] ??= all[0]; // what has no size, as where a page is built, pays no number
      for (const at of all) {
        const price = chosen.reduce(
          (sum, there, j) => sum + (there && j !== k ? between(k, j, at, there) : 0),
          at.price,
        );
        if (price < least) [least, chosen[k]] = [price, at];
      }
    });
  return words.map((word, k) => ({ ...word, left: chosen[k].left, top: chosen[k].top, isFar: chosen[k].row > 0 }));
}
