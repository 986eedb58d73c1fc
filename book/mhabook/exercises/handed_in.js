// The guesses of one reader as a text: what a link to a class's page carries after its #, and what a file holds.

const MARK = "guesses=";

export const packed = (sheet) => MARK + encodeURIComponent(JSON.stringify(sheet));

// Reads a link, or the text of a file. Throws an Error whose message says what is wrong.
export function unpacked(text) {
  const at = text.indexOf(MARK);
  if (at < 0) throw new Error("is no link and no file of guesses");
  let sheet;
  try {
    sheet = JSON.parse(decodeURIComponent(text.slice(at + MARK.length).trim()));
  } catch {
    throw new Error("is cut off: copy the whole link, or hand in the file");
  }
  const strings = (values) => values.every((value) => typeof value === "string" && value.length <= 200);
  if (!sheet?.guesses || !strings([sheet.reader, ...Object.values(sheet.guesses)]))
    throw new Error("holds something else than guesses");
  return sheet;
}
