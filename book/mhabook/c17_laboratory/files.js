// The reader's own CSV or NPZ file, read in the page: by the rules of mhalib/data/files.py, in a size that a page can
// train on. Every refusal says what to do. Between its pieces reading rests, that the page may do other things.

export const LARGEST_FILE = 4e6;
export const MOST_NUMBERS = 120000;
export const MOST_LINES = 60000;
export const MOST_TOKENS = 64;
export const MOST_COLUMNS = 1000;
export const MOST_QUERIES = 3000; // of a regression: a step takes their square
const PIECE = 10000; // numbers that are read at a time
// A text is read once, however long: none of its digits could belong to two parts.
export const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const FORMATS = "The formats are described below the figure, and “sample files” saves one of each.";

export async function readFile(file) {
  const { name, size } = file,
    ending = name.toLowerCase().split(".").pop();
  if (!["csv", "npz"].includes(ending)) throw new Error(`a file that ends in .csv or .npz is expected. ${FORMATS}`);
  if (!size) throw new Error(`it is empty. ${FORMATS}`);
  if (size > LARGEST_FILE)
    throw new Error(
      `it has ${Math.ceil(size / 1e6)} MB, and a page can train on 4 MB at most. Keep fewer samples, or load it in Python.`,
    );
  const bytes = new Uint8Array(await file.arrayBuffer());
  const arrays = ending === "csv" ? await csvArrays(textOf(bytes), rest) : await npzArrays(bytes, inflated);
  await rest();
  const own = ownOf(arrays);
  await rest();
  return { ...own, file: name, sum: checksum(bytes) };
}

export const rest = () => new Promise((go) => setTimeout(go));

function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error("it is not text in UTF-8. Save it as CSV in UTF-8.");
  }
}

// The CRC-32 of Python's zlib.crc32, in hexadecimal digits.
export function checksum(bytes) {
  let sum = -1;
  for (const byte of bytes) sum = REMAINDERS[(sum ^ byte) & 255] ^ (sum >>> 8);
  return (~sum >>> 0).toString(16);
}

const REMAINDERS = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1));
  return sum;
});

// --- CSV: a line of names, then numbers: [sample,] x1, …, xd and y, or y1, …, yp --------------------------------------

export async function csvArrays(text, rest) {
  const rows = rowsOf(text);
  const [, first] = rows.shift();
  const names = first.split(",").map((name) => name.trim());
  if (names.length === 1 && /[;\t]/.test(names[0]))
    throw new Error("its columns are not separated by commas. Save it with commas, and with points in the numbers.");
  const { samples, xs, ys, single } = columnsOf(names);
  if (!rows.length) throw new Error("it has a line of names and no numbers. Add a line for each token.");
  if (rows.length * (xs.length + (single ? 0 : ys.length)) > MOST_NUMBERS) throw tooLarge();
  const [X, y, begins, seen] = [[], [], [], new Set()];
  const piece = Math.floor(PIECE / names.length);
  let last = null;
  for (const [k, [line, row]] of rows.entries()) {
    if (k % piece === 0) await rest();
    const cells = cellsOf(row, line, names);
    if (samples >= 0 && cells[samples] !== last) {
      last = newSample(cells[samples], line, seen);
      begins.push(k);
    }
    for (const at of xs) X.push(numberOf(cells[at], line, names[at]));
    for (const at of ys) y.push(numberOf(cells[at], line, names[at]));
  }
  const shape = (columns) => [rows.length, columns.length];
  const arrays = { X: { shape: shape(xs), data: X }, y: { shape: shape(ys), data: y } };
  return samples < 0 ? arrays : bySample(arrays, begins, single);
}

function cellsOf(row, line, names) {
  const cells = row.split(",").map((cell) => cell.trim());
  if (cells.length === names.length) return cells;
  const points = cells.length > names.length ? ", and write decimals with a point" : "";
  throw new Error(
    `line ${line} has ${cells.length} entries, and there are ${names.length} columns. Make all lines equally long${points}.`,
  );
}

function numberOf(cell, line, name) {
  const value = NUMBER.test(cell) ? Number(cell) : NaN;
  if (Number.isFinite(value)) return value;
  throw new Error(
    `“${cell.slice(0, 20)}” in line ${line}, column ${name}, is no finite number. Correct it, or leave the sample out.`,
  );
}

function newSample(name, line, seen) {
  if (seen.has(name))
    throw new Error(
      `sample “${name.slice(0, 20)}” comes up again in line ${line}. Put the lines of a sample together.`,
    );
  seen.add(name);
  return name;
}

// Lines that are not empty, each with its number: [[1, "x1,y"], …].
function rowsOf(text) {
  const count = lineEnds(text); // to split off a million lines would stop the page for a second
  if (count > MOST_LINES)
    throw new Error(
      `it has ${count} lines, and a page reads ${MOST_LINES} at most. Keep fewer samples, or load it in Python.`,
    );
  const rows = text
    .replace(/^\ufeff/, "")
    .split(/\r\n|\n|\r/)
    .map((row, k) => [k + 1, row])
    .filter(([, row]) => row.trim());
  if (!rows.length) throw new Error(`it is empty. ${FORMATS}`);
  return rows;
}

function lineEnds(text) {
  let count = 0;
  for (let k = 0; k < text.length; k++) {
    const code = text.charCodeAt(k);
    count += code === 10 ? text.charCodeAt(k - 1) !== 13 : code === 13;
  }
  return count;
}

const NAMES = "Name the columns x1, x2, … and y (or y1, y2, …), for sequences with a column sample before them.";

function columnsOf(names) {
  const first = `its first line is “${names.slice(0, 20).join(",").slice(0, 60)}”`;
  if (names.length > MOST_COLUMNS)
    throw new Error(
      `its first line has ${names.length} entries, and a page reads ${MOST_COLUMNS} columns at most. Give the first line to the names of the columns, and every token a line of its own.`,
    );
  if (names.some((name) => /["']/.test(name)))
    throw new Error(
      `${first}, and has quotation marks. Save it without them: in R, write.csv(…, quote = FALSE, row.names = FALSE).`,
    );
  if (names.every((name) => NUMBER.test(name)))
    throw new Error(`${first}, and holds numbers. Write a line above it: ${NAMES} ${FORMATS}`);
  const at = new Map(names.map((name, k) => [name, k])),
    twice = names.find((name, k) => at.get(name) !== k);
  if (twice !== undefined)
    throw new Error(`the column “${twice.slice(0, 20)}” is there twice. Give every column a name of its own.`);
  const run = (letter) => {
    const found = [];
    while (at.has(`${letter}${found.length + 1}`)) found.push(at.get(`${letter}${found.length + 1}`));
    return found;
  };
  const samples = at.get("sample") ?? -1,
    xs = run("x"),
    single = at.has("y"),
    ys = single ? [at.get("y")] : run("y");
  if (!xs.length || !ys.length || xs.length + ys.length + (samples >= 0) !== names.length)
    throw new Error(`${first}. ${NAMES} ${FORMATS}`);
  return { samples, xs, ys, single };
}

// Lines to (samples, tokens, …); a column y is a label, the same in all lines of a sample.
function bySample({ X, y }, begins, single) {
  const tokens = (begins[1] ?? y.shape[0]) - begins[0],
    n = begins.length;
  const lines = begins.map((at, k) => (begins[k + 1] ?? y.shape[0]) - at),
    odd = lines.findIndex((count) => count !== tokens);
  if (odd >= 0)
    throw new Error(
      `the first sample has ${tokens} lines, and sample number ${odd + 1} has ${lines[odd]}. Give all samples equally many tokens.`,
    );
  const shaped = { shape: [n, tokens, X.shape[1]], data: X.data };
  if (!single) return { X: shaped, y: { shape: [n, tokens, y.shape[1]], data: y.data } };
  const labels = begins.map((at) => y.data[at]);
  const torn = y.data.findIndex((label, k) => label !== labels[Math.floor(k / tokens)]);
  if (torn >= 0)
    throw new Error(
      `sample number ${Math.floor(torn / tokens) + 1} has two labels y. Give all of its lines the same, or name targets of tokens y1, y2, …`,
    );
  return { X: shaped, y: { shape: [n], data: labels } };
}

// --- NPZ: arrays X and y, as numpy.savez and savez_compressed write them ------------------------------------------------

const TYPES = {
  "<f8": Float64Array,
  "<f4": Float32Array,
  "|i1": Int8Array,
  "|u1": Uint8Array,
  "<i2": Int16Array,
  "<u2": Uint16Array,
  "<i4": Int32Array,
  "<u4": Uint32Array,
  "<i8": BigInt64Array,
  "<u8": BigUint64Array,
};

export async function npzArrays(bytes, inflate) {
  const entries = new Map(zipEntries(bytes).map((entry) => [entry.name.replace(/\.npy$/, ""), entry]));
  const stored = { X: entries.has("X") ? "X" : "x", y: "y" },
    found = {};
  for (const [name, own] of Object.entries(stored)) {
    if (!entries.has(own)) throw new Error(`it has no array ${name}. Save both: numpy.savez("file.npz", X=X, y=y).`);
    found[name] = npyArray(await unpacked(bytes, entries.get(own), inflate), own);
  }
  return found;
}

const TORN = 'it is not a whole NPZ file. Save it again: numpy.savez("file.npz", X=X, y=y).';

function zipEntries(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    entries = [];
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw new Error(TORN);
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== 0x02014b50) throw new Error(TORN);
    const [method, packed, size, start] = [
      view.getUint16(at + 10, true),
      ...[20, 24, 42].map((k) => view.getUint32(at + k, true)),
    ];
    const [named, extra, comment] = [28, 30, 32].map((k) => view.getUint16(at + k, true));
    entries.push({
      name: String.fromCharCode(...bytes.subarray(at + 46, at + 46 + named)),
      method,
      packed,
      size,
      start,
    });
    at += 46 + named + extra + comment;
  }
  return entries;
}

async function unpacked(bytes, { method, packed, size, start }, inflate) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (size > 8 * MOST_NUMBERS + 4096) throw tooLarge();
  if (start + 30 > bytes.length || view.getUint32(start, true) !== 0x04034b50) throw new Error(TORN);
  const from = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
  if (from + packed > bytes.length || ![0, 8].includes(method)) throw new Error(TORN);
  const content = bytes.slice(from, from + packed);
  const plain = method === 8 ? await inflate(content, size) : content;
  if (plain.length !== size) throw new Error(TORN);
  return plain;
}

// Never more than `size` bytes, whatever the file says of itself.
async function inflated(content, size) {
  const reader = new Blob([content]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const plain = new Uint8Array(size);
  try {
    for (let at = 0; ;) {
      const { done, value } = await reader.read();
      if (done) return plain.subarray(0, at);
      plain.set(value, at);
      at += value.length;
    }
  } catch {
    throw new Error(TORN);
  }
}

const tooLarge = () =>
  new Error(
    `it holds more than ${MOST_NUMBERS} numbers, too many for a page. Keep fewer samples, or load it in Python.`,
  );

function npyArray(bytes, name) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length < 12 || view.getUint32(0) !== 0x934e554d) throw new Error(TORN);
  const [from, length] = view.getUint8(6) === 1 ? [10, view.getUint16(8, true)] : [12, view.getUint32(8, true)];
  const header = String.fromCharCode(...bytes.subarray(from, Math.min(from + length, bytes.length)).subarray(0, 10000));
  const [descr, fortran, sizes] = [
    /'descr': *'([^']*)'/,
    /'fortran_order': *(True|False)/,
    /'shape': *\(([\d, ]*)\)/,
  ].map((pattern) => header.match(pattern)?.[1]);
  if (!fortran || sizes === undefined) throw new Error(TORN);
  if (descr?.startsWith(">")) throw new Error(`${name} is big-endian (${descr}). Save it with X.astype(float).`);
  if (!Object.hasOwn(TYPES, descr ?? ""))
    throw new Error(
      `${name} is of type ${descr ?? "unknown"}. Save numbers: floats of 32 or 64 bits, or integers, as by X.astype(float).`,
    );
  const shape = sizes
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)
    .map(Number);
  const count = shape.reduce((product, size) => product * size, 1),
    content = bytes.slice(from + length);
  if (count > MOST_NUMBERS) throw tooLarge();
  if (content.length !== count * TYPES[descr].BYTES_PER_ELEMENT) throw new Error(TORN);
  const data = Array.from(new TYPES[descr](content.buffer), Number);
  return { shape, data: fortran === "True" ? rowByRow(data, shape) : data };
}

// From Fortran's order, in which the first index runs fastest.
function rowByRow(data, shape) {
  return data.map((_, at) => {
    let rest = at,
      from = 0;
    const index = shape.map(() => 0);
    for (let k = shape.length - 1; k >= 0; k--) [index[k], rest] = [rest % shape[k], Math.floor(rest / shape[k])];
    for (let k = shape.length - 1; k >= 0; k--) from = from * shape[k] + index[k];
    return data[from];
  });
}

// --- from arrays to what the engine trains on -----------------------------------------------------------------------------

const shapeText = ({ shape }) => `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;

export function ownOf({ X, y }) {
  for (const [name, array] of Object.entries({ X, y })) {
    if (!array.data.length)
      throw new Error(`${name} is empty, of shape ${shapeText(array)}. Give at least one sample.`);
    if (!array.data.every(Number.isFinite))
      throw new Error(`${name} has entries that are not finite. Remove or replace NaN and infinity.`);
  }
  if (X.data.length + y.data.length > MOST_NUMBERS) throw tooLarge();
  const [n, second] = X.shape,
    kind = { "3,1": "heads", "3,3": "layer", "2,1": "regression", "2,2": "regression" }[
      [X.shape.length, y.shape.length]
    ];
  if (!kind || y.shape[0] !== n || (kind === "layer" && y.shape[1] !== second))
    throw new Error(
      `X is of shape ${shapeText(X)} and y of ${shapeText(y)}. Expected are X (n, T, d) with labels y (n,), X (n, d) with targets y (n, p), or X (N, n, D) with targets y (N, n, m).`,
    );
  if (kind === "heads" && !y.data.every((label) => label === 1 || label === -1))
    throw new Error("its labels y are not all −1 or +1. Write −1 for one class and 1 for the other.");
  if (Math.max(...X.shape.slice(1)) > MOST_TOKENS)
    throw new Error(
      `X is of shape ${shapeText(X)}: a page trains on at most ${MOST_TOKENS} tokens and ${MOST_TOKENS} dimensions. Take fewer, or load it in Python.`,
    );
  if (kind === "regression" && n > MOST_QUERIES)
    throw new Error(
      `it has ${n} tokens that all attend to each other, and a page trains on ${MOST_QUERIES} of them at most. Keep fewer, or load it in Python.`,
    );
  const targets = kind === "heads" ? 1 : (y.shape.slice(1).at(-1) ?? 1);
  if (kind === "regression" && targets > second)
    throw new Error(
      `it has ${targets} targets for tokens of ${second} dimensions. The laboratory takes at most as many targets as dimensions; load it in Python for more.`,
    );
  return { kind, shape: X.shape, targets, X: X.data, y: y.data, words: inWords(kind, X.shape, targets) };
}

const counted = (targets) => `${targets} ${targets === 1 ? "target" : "targets"}`;

function inWords(kind, [n, second, third], targets) {
  if (kind === "heads") return `${n} labeled samples of ${second} tokens in ${third} dimensions`;
  if (kind === "layer") return `${n} samples of ${second} tokens in ${third} dimensions with ${counted(targets)} each`;
  return `${n} tokens in ${second} dimensions with ${counted(targets)}`;
}

// --- sample files: a few lines of each format -----------------------------------------------------------------------------

const wave = (k) => (Math.sin(1 + 2.3 * k) * 1.5).toFixed(3);
const written = (names, rows) => [names, ...rows].map((row) => row.join(",")).join("\n") + "\n";
const named = (letter, count) => Array.from({ length: count }, (_, k) => `${letter}${k + 1}`);

// The first of four tokens carries the label in its first coordinate.
const sampleHeads = () =>
  written(
    ["sample", ...named("x", 3), "y"],
    Array.from({ length: 48 }, (_, k) => {
      const i = Math.floor(k / 4),
        y = i % 2 ? 1 : -1;
      return [i + 1, k % 4 ? wave(3 * k) : y, wave(3 * k + 1), wave(3 * k + 2), y];
    }),
  );
const sampleRegression = () =>
  written(
    [...named("x", 3), ...named("y", 2)],
    Array.from({ length: 30 }, (_, k) => {
      const [a, b, c] = [0, 1, 2].map((j) => Number(wave(3 * k + j)));
      return [a, b, c, (0.4 * a - 0.2 * b).toFixed(4), (0.3 * c).toFixed(4)];
    }),
  );
const sampleLayer = () =>
  written(
    ["sample", ...named("x", 8), "y1"],
    Array.from({ length: 12 }, (_, k) => [
      Math.floor(k / 3) + 1,
      ...Array.from({ length: 8 }, (_, j) => wave(8 * k + j)),
      wave(100 + 7 * k),
    ]),
  );

export const SAMPLES = {
  heads: ["labeled sequences", "labeled-sequences.csv", sampleHeads],
  regression: ["regression", "regression.csv", sampleRegression],
  layer: ["sequences with targets", "sequences-with-targets.csv", sampleLayer],
};
