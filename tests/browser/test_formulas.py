"""Every formula of the runnable notebooks is one that MathJax, the book's own copy of it, can set."""

import re

import notebooks
from visits import BUILD, NO_BUILD, missing

FORMULA = re.compile(r"(?s)\$\$(.+?)\$\$|\$([^$]+)\$")
UNSET = """(all) => all.filter((tex) => {
  try {
    return /merror|mathcolor="red"/.test(MathJax.tex2mml(tex)); // a name that it does not know it writes in red
  } catch {
    return true;
  }
})"""


def formulas():
    """The TeX between dollars in all notebooks, each once."""
    if not (folder := BUILD.parent / "notebooks").exists():
        missing(NO_BUILD)
    texts = [re.sub(r"(?m)^(?:> ?)+", "", re.sub(r"`[^`\n]*`", "", notebooks.text(notebooks.read(path))))
             for path in notebooks.paths(folder)]
    return sorted({display or inline for text in texts for display, inline in FORMULA.findall(text)})


def test_every_formula_of_the_notebooks_can_be_set(open_page):
    visit = open_page("book/start/softmax.html")
    all_of_them = formulas()
    assert len(all_of_them) > 2000
    wrong = [r"\frac{1}", r"\nosuchcommand x"]
    assert visit.page.evaluate(UNSET, all_of_them + wrong) == wrong
