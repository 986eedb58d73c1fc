"""The guesses of "Predict": each has its field below the list it stands in, and comes back where it is answered."""

import re

import notebooks
from scripts import load

guesses = load("book/_ext/guesses.py")
GROUPS = guesses.groups()


def uses(directive):
    """Name of a group → (page, cell, numbers) of each place that has the directive, in the order of the cells."""
    found = {}
    for path in notebooks.paths():
        for place, cell in enumerate(notebooks.read(path)["cells"]):
            for words in re.findall(rf"```{{{directive}}} ([^\n]+)\n```", notebooks.source(cell)):
                name, *numbers = words.split()
                found.setdefault(name, []).append((path.stem, place, cell["id"], numbers))
    return found


def test_every_section_predict_has_the_fields_of_its_group():
    asked = uses("guesses")
    asking = {path.stem for path in notebooks.paths() if "\n## Predict" in f"\n{notebooks.text(notebooks.read(path))}"}
    assert set(asked) == set(GROUPS) and {places[0][0] for places in asked.values()} == asking
    assert all(len(places) == 1 and places[0][2] == "predict" for places in asked.values())


def test_every_guess_comes_back_once_behind_its_field():
    answered = uses("guessed")
    for name, [(page, place, _, _)] in uses("guesses").items():
        assert all(there == page and behind > place for there, behind, _, _ in answered[name])
        assert sorted(number for *_, numbers in answered[name] for number in numbers) == sorted(GROUPS[name]), name


def test_guesses_are_numbered_as_their_list_is():
    for name, page in guesses.pages().items():
        cells = notebooks.read(guesses.ROOT / f"{page}.ipynb")["cells"]
        text = next(notebooks.source(cell) for cell in cells if cell["id"] == "predict")
        listed = re.findall(r"(?m)^(\d)\. ", text)
        assert list(dict.fromkeys(re.match(r"\d", number)[0] for number in GROUPS[name])) == listed, name


def test_a_guess_says_what_is_asked_and_has_two_choices_or_more_or_none():
    for guess in (guess for group in GROUPS.values() for guess in group.values()):
        assert {"ask"} <= set(guess) <= {"ask", "choices"}
        assert len(set(guess.get("choices", "ab"))) >= 2
