"""Words that a cell has computed, for the prose of its page."""

from IPython import get_ipython
from IPython.display import display

KEPT = "application/papermill.record/"
"""Under this kind of output the book finds them, and a notebook shows nothing."""


def say(**words: str) -> None:
    """Keep words under names: ``mhabook.say(weight=f"{x:.1f}")``, and the text says them by
    ``{glue:text}`weight```.

    A number in prose comes from the cell that computes it, rounded there as far as the text claims
    it.

    Raises TypeError for what is no text: how a number is rounded is for the page to say.
    """
    for name, text in words.items():
        if not isinstance(text, str):
            raise TypeError(
                f'{name}: expected a text such as f"{{x:.2f}}", got {type(text).__name__}'
            )
        # As a literal, which is read again: "2,597" alone would be read as a pair of numbers, and
        # "0.90" as 0.9.
        kept = {f"{KEPT}text/plain": repr(text)}
        if get_ipython():  # a script has no prose, and would print them
            display(kept, raw=True, metadata={"scrapbook": {"name": name, "mime_prefix": KEPT}})
