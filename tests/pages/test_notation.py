"""The notation page: every letter of an exercise and of a numbered statement stands in the table of
its part."""

import re
from pathlib import Path

import pytest

import notebooks

PAGE = (Path(__file__).parents[2] / "book" / "notation.md").read_text("utf-8")
GENERAL, *NAMED = re.split(r"(?m)^\((notation-[\w-]+)\)=$", PAGE)
SECTIONS = dict(zip(NAMED[::2], NAMED[1::2], strict=True))
PARTS = {
    "start": "notation-start",
    "multihead": "notation-part-1",
    "preconditioning": "notation-part-2",
    "kernels": "notation-part-3",
}
PLACES = [path for path in notebooks.paths() if path.parent.name in PARTS]
KINDS = {
    "exercise",
    *(f"prf:{kind}" for kind in ("theorem", "lemma", "proposition", "definition", "corollary")),
}
# Signs and words of TeX that are no letters with a meaning.
WORDS = """le ge lt gt ne neq approx sim propto in to infty pm cdot times circ sum prod int bigcup mid top langle
    rangle lVert rVert lvert rvert Vert vert partial nabla frac dfrac tfrac sqrt left right big Big bigl bigr Bigl Bigr
    quad qquad dots ldots cdots mapsto exp log ln sin cos tanh max min text operatorname mathrm mathbf mathbb mathcal
    begin end bar hat tilde dot ddot textstyle displaystyle rightarrow leftarrow wedge"""
SIGNS = set(WORDS.split())
FONTS = r"\\(?:tilde|hat|bar|mathcal)\s*(?:\{\s*\\?[A-Za-z]+|\\[A-Za-z]+|[A-Za-z])"


def letters(text):
    """The letters in the formulas of a text, each with what stands over it: x, \\alpha, bar x."""
    found = set()
    for formula in re.findall(r"\$\$?(.+?)\$\$?", text, re.DOTALL):
        plain = re.sub(r"\\begin\{array\}\{\w+\}", " ", formula)
        plain = re.sub(
            r"\\(?:text|operatorname|mathrm|mathbb|begin|end)\s*(?:\{[^}]*\}|[A-Z])", " ", plain
        )
        marked = {re.sub(r"[\s{}\\]+", " ", one).strip() for one in re.findall(FONTS, plain)}
        single = re.findall(r"\\[A-Za-z]+|[A-Za-z]", re.sub(FONTS, " ", plain))
        found |= marked | {one for one in single if one.lstrip("\\") not in SIGNS}
    return found


def shown(path):
    """The exercises and the numbered statements of a page, by their label."""
    found = notebooks.directives(notebooks.read(path))
    return {notebooks.option(body, "label"): body for name, _, body in found if name in KINDS}


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path.stem)
def test_every_letter_stands_in_the_table_of_its_part(path):
    known = letters(GENERAL) | letters(SECTIONS[PARTS[path.parent.name]])
    missing = {label: sorted(letters(text) - known) for label, text in shown(path).items()}
    assert not {label: found for label, found in missing.items() if found}


def test_letters_are_told_from_signs_and_from_what_stands_over_them():
    text = r"a $\bar x\le\frac12\|S_h\|$ b $$\hat{\Sigma}^{-1}+\text{rest}$$"
    assert letters(text) == {"bar x", "S", "h", "hat Sigma"}
