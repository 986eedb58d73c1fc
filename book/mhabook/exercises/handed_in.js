// The guesses of one reader as a text: what a link to a class's page carries after its #, and what a file holds.

const MARK = "guesses=";
const END = "%7D"; // the brace that closes a sheet

// encodeURIComponent leaves five characters that may end a link in running text.
const escaped = (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;

// A sheet is {reader, at, guesses}: who it is only to itself, when it was handed in (ISO 8601), name → guess.
export const packed = (sheet) => MARK + encodeURIComponent(JSON.stringify(sheet)).replace(/[!'()*]/g, escaped);

// What follows each mark in a text, whatever stands before and after it: a link in a sentence, several on a line.
export function sheetsIn(text) {
  const [, ...following] = text.split(MARK);
  return following.map((rest) => rest.match(/^[^\s<>"]*/)[0]);
}

// Reads one of them. Throws an Error whose message says what is wrong.
export function unpacked(text) {
  const end = text.lastIndexOf(END) + END.length;
  let sheet;
  try {
    sheet = JSON.parse(decodeURIComponent(text.slice(0, end)));
  } catch {
    throw new Error("is cut off: copy the whole link, or hand in the file");
  }
  const strings = (values) => values.every((value) => typeof value === "string" && value.length <= 200);
  if (!sheet?.guesses || !strings([sheet.reader, sheet.at ?? "", ...Object.values(sheet.guesses)]))
    throw new Error("holds something else than guesses");
  return sheet;
}
