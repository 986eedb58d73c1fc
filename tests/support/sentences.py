"""The sentences of a page that say what its cells show, and the numbers that a text says."""

import re
from fractions import Fraction

from notebooks import FENCE, closes

SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
SMALL += ["eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
SMALL += ["eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
UNITS = {word: value for value, word in enumerate(SMALL)} | {
    "half": Fraction(1, 2),
    "twice": 2,
    "tenfold": 10,
    "hundredfold": 100,
    "thousandfold": 1000,
}
UNITS |= {word: 10 * value for value, word in enumerate(TENS, 2)}
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "trillion": 10**12}
PARTS = {"third": 3, "quarter": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "tenth": 10}
PARTS |= {
    "twentieth": 20,
    "hundredth": 100,
    "thousandth": 1000,
    "ten-thousandth": 10**4,
    "millionth": 10**6,
}
DIGITS = r"[-−]?(?:\d+(?:,\d{3})*(?:\.\d+)?(?:/\d+)?|\\frac\d\d)"


def _alternatives(words):
    return "|".join(sorted(words, key=len, reverse=True))


NUMBER = re.compile(
    rf"(?i)(?<![-−\w.^_{{])(?P<digits>{DIGITS})(?![\w]|\.\d)"
    rf"|\b(?:(?P<count>{_alternatives(UNITS)}|an?)(?: |-(?!thousand)))?(?P<part>{_alternatives(PARTS)})(?P<many>s)?\b"
    rf"|\b(?:(?P<times>{_alternatives(UNITS)}|an?)[ -])?(?P<scale>{_alternatives(SCALES)})\b"
    rf"|\b(?:(?P<tens>{_alternatives(TENS)})-)?(?P<unit>{_alternatives(UNITS)})\b"
)


def numbers(text):
    """The numbers that a text says, in digits or in words, in their order: "a tenth of 2,000" → 0.1
    and 2000."""
    return [value for found in NUMBER.finditer(text) if (value := _value(found)) is not None]


def _value(found):
    group = {name: text.lower() for name, text in found.groupdict().items() if text}
    if digits := group.get("digits"):
        digits = re.sub(r"\\frac(\d)", r"\1/", digits.replace(",", "").replace("−", "-"))
        return float(Fraction(digits))
    several = group.get("count", group.get("times"))
    times = UNITS.get(several, 1)
    if part := group.get("part"):
        # "the third" is a place, and "a third", "two thirds", "hundredths" are parts
        return float(Fraction(times) / PARTS[part]) if several or "many" in group else None
    if scale := group.get("scale"):
        return float(times * SCALES[scale])
    if group["unit"] in ("zero", "one") and "tens" not in group:
        return None  # "one of them", "right of zero": a place more often than a number
    return float(UNITS.get(group.get("tens"), 0) + UNITS[group["unit"]])


ORDERS = (
    r"never|always|every time|hardly|barely|as \w+ as|than|most|least|exceeds?"
    r"|more|less|fewer|(?:lar|lon|stron|big)ger|greater|(?:narr|l|sl)ower|(?:high|small|fast|short|earli|lat|farth|"
    r"steep|weak|broad|wid|flatt|clos|near)er|better|worse"
    r"|(?:stays?|lies?|remains?|is|are|ends?|just|slightly|far) (?:above|below)"
    r"|(?:in|de)creas(?:e|es|ed)|ris(?:e|es|en)|rose|f[ae]ll(?:s|en)?|grow[sn]?|grew|shr[iau]nks?|drops?"
)
KEYED = re.compile(rf"{NUMBER.pattern}|\b(?P<order>{ORDERS})\b")
"""A number, an order of magnitude, a comparison, a "never": what a test can hold of a sentence."""
BLANK = re.compile(
    r"(?m:^## Sources(?s:.*))"
    r"|(?s:\$\$.*?\$\$|\\begin\{(\w+\*?)\}.*?\\end\{\1\})|\$[^$]+\$"  # formulas
    r"|(?:\{[\w:]+\})?`[^`]*`|\]\([^)]*\)|</?a\b[^>]*>"  # code, what glue prints, references, addresses
    r"|(?m:^\([\w-]+\)=$|^\d+\. |^#+ .*$|^\*Reading time.*$|^\*\*[^*\n]+\.\*\*)"  # names, headings, buttons
    r"|\b[Cc]hapters? \d+(?: (?:to|and) \d+)?|(?:[Tt]he|[Tt]hese|[Oo]ther|[Bb]etween) two\b"
    r"|\bno longer\b|[Mm]ore than one\b"
)
BARE = re.compile(r"\$[-−]?(?:[\d.,]+|\\frac\d\d)\$")
"""A formula that is a number, and is read as one."""
END = re.compile(r"(?<=[.?!:])[*)]*\s+(?=[*\[(]*[A-Z$])|\n\s*\n|\n(?=[-|] ?)")


def prose(markdown):
    """A text of the same length, in which all is blank that says nothing of a cell: statements and
    proofs, exercises, formulas, code, headings, sources."""
    kept, fences = [], []
    for row in markdown.splitlines(keepends=True):
        if fences and closes(row, fences[-1]):
            fences.pop()
        elif opening := FENCE.match(row):
            fences.append(opening["fence"])
        elif not fences:
            kept.append(row)
            continue
        kept.append(_blank(row))
    return BLANK.sub(
        lambda found: found[0] if BARE.fullmatch(found[0]) else _blank(found[0]), "".join(kept)
    )


def _blank(text):
    return re.sub(r"\S", " ", text)


def sentences(markdown):
    """Where each sentence of a text that has a number or an order begins and ends, and where in it
    these stand."""
    text, begin = prose(markdown), 0
    for end in [*(found.end() for found in END.finditer(text)), len(text)]:
        keyed = [found.span() for found in KEYED.finditer(text, begin, end) if _is_keyed(found)]
        if keyed:
            yield (begin, end), keyed
        begin = end


def _is_keyed(found):
    return bool(found["order"]) or _value(found) is not None


def places(quotation, text):
    """Where a text has a quotation, which ends where a word or a number ends: not "2" in "20"."""
    first, last = (r"\b" if sign.isalnum() else "" for sign in (quotation[0], quotation[-1]))
    pattern = f"{first}{re.escape(quotation)}{last}{last and r'(?![.,]?[0-9])'}"
    return [found.span() for found in re.finditer(pattern, text)]


def unquoted(markdown, quotations):
    """The sentences of a text with a number or an order that stands in none of the quotations."""
    text = prose(markdown)
    held = [place for quoted in quotations for place in places(quoted, markdown)]
    return [
        " ".join(text[slice(*span)].split())
        for span, keyed in sentences(markdown)
        if not all(any(a <= begin and end <= b for a, b in held) for begin, end in keyed)
    ]
