import { encoded, layers } from "livegrad/live/address.js";

// The guesses of one reader as a text: what a link to a class's page carries after its #, and what a file holds.

const MARK = "guesses=";
const END = "%7D"; // the brace that closes a sheet

// A sheet is {reader, at, guesses}: who it is only to itself, when it was handed in (ISO 8601), name → guess.
export const packed = (sheet) => MARK + encoded(JSON.stringify(sheet));

// What follows each mark in a text, whatever stands before and after it: a link in a sentence, several on a line. A mail
// program may have put the link into one of its own, or written its characters out.
export function sheetsIn(text) {
  const [, ...following] = (layers(text).find((each) => each.includes(MARK)) ?? "").split(MARK);
  return following.map((rest) => rest.match(/^\{.*\}|^[^\s<>"&]*/)[0]);
}

// The lines of a text, numbered from 1. A link that was broken between lines is one again.
export function linesOf(text) {
  const lines = [];
  for (const [k, line] of text.split("\n").entries()) {
    const [before] = lines.slice(-1);
    const isRest =
      before?.text.includes(MARK) && !before.text.endsWith(END) && /^[\w.%~-]*%[\w.%~-]*$/.test(line.trim());
    if (isRest) before.text += line.trim();
    else if (line.trim()) lines.push({ number: k + 1, text: line.trim() });
  }
  return lines;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

// Reads one of them. Throws an Error whose message says what is wrong.
export function unpacked(text) {
  const sheet = layers(text)
    .map((each) => parsed(each.slice(0, each.lastIndexOf("}") + 1)))
    .find(Boolean);
  if (!sheet) throw new Error("is cut off: copy the whole link, or hand in the file");
  const strings = (values) => values.every((value) => typeof value === "string" && value.length <= 200);
  if (!sheet.guesses || !strings([sheet.reader, sheet.at ?? "", ...Object.values(sheet.guesses)]))
    throw new Error("holds something else than guesses");
  return sheet;
}
