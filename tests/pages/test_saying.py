"""Words that a cell has computed stand in the text as they were said."""

import pytest
from myst_nb.core.variables import format_plain_text

import mhabook
from mhabook import saying


def test_words_are_read_as_they_were_said(monkeypatch):
    kept = []
    monkeypatch.setattr(saying, "display", lambda data, **_: kept.extend(data.values()))
    mhabook.say(most="2,597")
    assert not kept, "a script has no prose"
    monkeypatch.setattr(saying, "get_ipython", lambda: "a notebook")
    words = {"most": "2,597", "share": "0.90", "name": "one of 'two'", "power": "4.3 · 10⁻⁶"}
    mhabook.say(**words)
    assert [format_plain_text(text, "s") for text in kept] == list(words.values())


def test_a_number_is_refused_because_nobody_said_how_to_round_it():
    with pytest.raises(TypeError, match="^most: expected a text such as .*, got int$"):
        mhabook.say(most=2597)
