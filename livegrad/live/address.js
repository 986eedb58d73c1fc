// What the end of an address says, after its #, and what is written there. Addresses come by way of others: a mail program
// writes their characters out, once or twice, a page writes & as &amp;, a network appends a setting of its own, and a
// sentence or a bracket ends behind them.

// encodeURIComponent leaves five characters that may end an address in running text.
export const encoded = (text) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

// What is no escape, or is cut off, stays as it is.
export const decoded = (text) =>
  text.replace(/%[0-7][\da-f]|(?:%[89a-f][\da-f])+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });

// A text as it stands, without the escapes of one program, without those of two, …
const DEPTH = 4;
export function layers(text) {
  const found = [text];
  while (found.length <= DEPTH && decoded(found.at(-1)) !== found.at(-1)) found.push(decoded(found.at(-1)));
  return found;
}

export const written = (pairs) => pairs.map((pair) => pair.map(String).map(encoded).join("=")).join("&");

const SEPARATOR = /[?&](?:amp;|#0*38;|#x0*26;)*/i;
const pairOf = (part) => part.split(/=(.*)/s, 2).map((text) => decoded(text.replaceAll("+", " ")));
const withoutItsEnd = (text) => text.replace(/[^\p{L}\p{N}]+$/u, "");

// [key, text, value] of each part; a part without "=" has no text. Null of what is not understood.
function read(part, offered) {
  const [key, text] = pairOf(part);
  for (const [one, other] of [[key, text], text === undefined ? [withoutItsEnd(key)] : [key, withoutItsEnd(text)]]) {
    const value = offered(one, other);
    if (value !== undefined) return [one, other, value];
  }
  return null;
}

// A part that is not understood has been escaped as a whole: it is read again without these escapes. If that does not
// help, it stands for itself.
function parts(text, offered, depth = DEPTH) {
  return text
    .split(SEPARATOR)
    .filter(Boolean)
    .flatMap((part) => {
      const found = read(part, offered);
      if (found) return [found];
      const more = depth && decoded(part) !== part ? parts(decoded(part), offered, depth - 1) : [];
      return more.some(([, , value]) => value !== undefined) ? more : [pairOf(part)];
    });
}

// {place, values, left} of an address: the name before its settings ("" if there is none), key → value, and of what is
// not understood [[key, text], …]. `offered(key, text)` gives the value that a setting means, or undefined; of the name,
// which has no text, any other value. Keys may be called as whatever objects inherit: this is a Map.
export function settingsOf(address, offered) {
  const found = parts(address.replace(/^#+/, "").split(":~:")[0], offered),
    [place] = found[0]?.[1] === undefined ? (found.shift() ?? [""]) : [""];
  const isSet = ([, text, value]) => text !== undefined && value !== undefined;
  return {
    place,
    values: new Map(found.filter(isSet).map(([key, , value]) => [key, value])),
    left: found.filter((part) => !isSet(part)),
  };
}

// Of the values that something offers, the one that is written so.
export const valueOf = (values, text) =>
  values.find(
    (value) => String(value) === text || (typeof value === "number" && text.trim() && Number(text) === value),
  );

const short = (text) => `“${text.length > 20 ? `${text.slice(0, 20)}…` : text}”`;
const listed = (words) => [words.slice(0, -1).join(", "), words.at(-1)].filter(Boolean).join(" and ");
const NAMED = 3;

// A sentence on what of a link is not set, or "". `labels` (a Map) are of what can be set, `owner` is what has it.
export function leftOut({ values, left }, labels, owner) {
  if (!left.length) return "";
  const foreign = [...new Set(left.map(([key]) => key).filter((key) => !labels.has(key)))],
    names = foreign.slice(0, NAMED).map(short),
    more = foreign.length - names.length;
  const said = left
    .filter(([key]) => labels.has(key))
    .map(([key, text = ""]) => `${labels.get(key)} to ${short(text)}, which is not offered`);
  if (names.length) said.unshift(`${listed(more ? [...names, `${more} more`] : names)}, which ${owner} does not have`);
  return `The link sets ${said.join(", and ")}. ${values.size ? "The rest" : "Nothing"} is set.`;
}

// The element of the page that an address names, also where more stands behind its name; or null.
export function placeOf(hash) {
  for (const text of layers(hash.replace(/^#/, "")))
    for (const name of [text, text.split(SEPARATOR)[0], withoutItsEnd(text.split(SEPARATOR)[0])]) {
      const found = document.getElementById(name);
      if (found) return found;
    }
  return null;
}

// Follows the address of the page whenever it changes; `read(hash)` gives what it says to whoever asks, or null. When a
// reader goes on from there, `leave()` takes it out: the page no longer shows it, and a browser does not say that a link
// was followed to where it is already.
export function followed(read, follow) {
  const told = () => read(window.location.hash);
  function look() {
    const found = told();
    if (found) follow(found);
    return Boolean(found);
  }
  window.addEventListener("hashchange", look);
  return {
    look,
    leave: () => told() && moveTo(window.location.href.split("#")[0]),
    close: () => window.removeEventListener("hashchange", look),
  };
}

// A frame may forbid it: the address stays.
export function moveTo(address) {
  try {
    history.replaceState(null, "", address);
  } catch {
    // nothing is lost but the address
  }
}
