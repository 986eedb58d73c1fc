r"""A text with formulas in TeX, and a condition in plain characters, brought to one spelling that
can be compared.

``spelled(r"Let $0<\varepsilon\le\frac12s_1$")`` is ``Let 0<ε≤(1/2)s_1``, and that of ``0 < ε ≤
½s₁`` is the same but for its spaces.
"""

import re
import unicodedata

# A word of TeX, and what the ledger writes for it.
TABLE = """alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ
    nu ν xi ξ pi π rho ρ sigma σ varsigma ς tau τ phi φ varphi φ chi χ psi ψ omega ω ell ℓ
    Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω
    le ≤ ge ≥ ne ≠ neq ≠ sim ~ in ∈ succ ≻ to → mapsto ↦ langle ⟨ rangle ⟩ sqrt √ sum Σ cdot · dots … ldots …
    nabla ∇ infty ∞ top T log log ln ln min min max max det det tr tr"""
WORDS = dict(zip(TABLE.split()[::2], TABLE.split()[1::2], strict=True))
NOTHING = [
    "operatorname",
    "mathbb",
    "mathcal",
    "mathrm",
    "text",
    "bigl",
    "bigr",
    "Bigl",
    "Bigr",
    "left",
    "right",
    "quad",
    "qquad",
    "textstyle",
]
ACCENTS = {"hat": "\u0302", "tilde": "\u0303", "bar": "\u0304"}
ARGUMENT = r"\s*(\{(?:[^{}]|\{[^{}]*\})*\}|\\[A-Za-z]+|[^\s{}\\])"
LOWERED, RAISED = "₀₁₂₃₄₅₆₇₈₉", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵀ"
DIGITS = str.maketrans(LOWERED + RAISED, "01234567890123456789T")
FRACTIONS = {"½": "(1/2)", "¼": "(1/4)", "¾": "(3/4)", "⅛": "(1/8)"}


def spelled(text):
    """The text in one spelling: formulas without TeX and without spaces, indices and powers as
    ``_`` and ``^``."""
    between = re.split(r"\$\$?", text)
    parts = [_formula(part) if number % 2 else part for number, part in enumerate(between)]
    return _characters("".join(parts))


def says(text, condition):
    """Whether a text states a condition: the same characters, as a whole, with other spaces at
    most."""
    wanted = [re.escape(sign) for sign in re.sub(r"\s", "", spelled(condition))]
    return bool(
        re.search(r"(?<![\w^/+·-])" + r"\s*".join(wanted) + r"(?![\w^/+·-])", spelled(text))
    )


def _formula(tex):
    tex = re.sub(r"\\begin\{\w+\}|\\end\{\w+\}|\\[,;! \\]|&", " ", tex)
    for _ in range(2):  # there are fractions in fractions
        tex = re.sub(r"\\[td]?frac" + ARGUMENT + ARGUMENT, r"(\1/\2)", tex)
    for accent, mark in ACCENTS.items():
        tex = re.sub(rf"\\{accent}(?![A-Za-z])" + ARGUMENT, rf"{{\1}}{mark}", tex)
    tex = re.sub(r"\\([A-Za-z]+)", _word, tex).replace(r"\|", "‖")
    tex = re.sub(r"√\s*\{([^{}]{2,})\}", r"√(\1)", tex)
    return re.sub(r"[{}\s]", "", tex).replace("'", "′").replace("^*", "*")


def _word(found):
    return "" if found[1] in NOTHING else WORDS.get(found[1], found[0])


def _characters(text):
    for sign, digits in FRACTIONS.items():
        text = text.replace(sign, digits)
    text = re.sub(f"([{LOWERED}]+)", r"_\1", text)
    text = re.sub(f"([{RAISED}]+)", r"^\1", text).translate(DIGITS)
    return unicodedata.normalize("NFC", re.sub(r"[{}]", "", text).replace("−", "-"))
