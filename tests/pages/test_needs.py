"""What needs what: read from the proofs, and a circle or a missing proof ends the build."""

import json
import re
import sys
from dataclasses import replace

import pytest

import mhabook
from mhabook.pages.numbers import NUMBERS
from scripts import load

needs = load("book/_ext/needs.py")
STATED = "````{{prf:{kind}}} A title\n:label: {label}\n\n**[{mark}]** A claim, by {{prf:ref}}`thm-9`.\n````\n\n"
PROOF = "````{{admonition}} {title}\n:class: dropdown\n\nBy {references}.\n````\n\n"


def stated(label, kind="lemma", mark="ours"):
    return STATED.format(label=label, kind=kind, mark=mark)


def proof(*labels, title="Proof"):
    return PROOF.format(title=title, references=", ".join(f"{{prf:ref}}`{one}`" for one in labels))


@pytest.fixture
def read(tmp_path, monkeypatch):
    """What is read of a page of its own: its text, and the marks of its statements."""
    monkeypatch.setattr(sys.modules["mhabook.ledger"], "BOOK", tmp_path)

    def of_page(text, marks, definitions=()):
        cell = {"cell_type": "markdown", "source": [text]}
        (tmp_path / "page.ipynb").write_text(json.dumps({"cells": [cell]}), "utf-8")
        one = mhabook.ledger["lemma-1-blocks"]
        rows = [replace(one, id=id, mark=mark, chapter="page") for id, mark in marks.items()]
        return needs.read(rows, [*marks, *definitions])

    return of_page


def test_a_proof_belongs_to_the_statement_above_it_and_one_of_several_to_all_of_their_kind(read):
    text = (
        stated("a")
        + proof()
        + stated("d", "definition", "recalled")
        + stated("b")
        + proof("a", "d", "no-statement")
        + stated("c1", "corollary")
        + stated("r", mark="recalled")
        + stated("c2", "corollary")
        + proof("b", title="Proof of the two corollaries")
    )
    marks = dict.fromkeys(["a", "b", "c1", "c2"], "ours") | {"r": "recalled"}
    found = read(text, marks, definitions=["d"])
    assert found == {"a": set(), "d": set(), "b": {"a", "d"}, "c1": {"b"}, "r": set(), "c2": {"b"}}
    assert needs.beneath(found, "c2") == {"a", "b", "d"}


def test_a_statement_without_a_proof_and_proofs_in_a_circle_are_refused_by_name(read):
    ours = {"a": "ours", "b": "ours"}
    with pytest.raises(ValueError, match="found none of b"):
        read(stated("a") + proof() + stated("b"), ours)
    with pytest.raises(ValueError, match="found none of a"):
        read(stated("a") + stated("b") + proof(title="Proof of the best constant"), ours)
    with pytest.raises(ValueError, match="a circle: (a needs b needs a|b needs a needs b)"):
        read(stated("a") + proof("b") + stated("b") + proof("a"), ours)


def test_every_statement_of_the_book_has_its_place_and_the_training_theorem_its_chain():
    found = needs.read(mhabook.ledger, NUMBERS)
    assert set(found) == set(NUMBERS)
    assert {"lemma-regret", "cor-1-quasi-convexity", "prop-1-hessian"} <= needs.beneath(
        found, "thm-1-training"
    )


def test_below_the_arcs_each_part_reaches_from_its_first_statement_to_its_last():
    numbers = {"a": "Lemma 8.1", "b": "Lemma 9.1", "c": "Theorem 11.2", "d": "Lemma 12.1"}
    places = {
        "a": "multihead/08.html",
        "b": "preconditioning/09.html",
        "c": "preconditioning/11.html",
        "d": "kernels/12.html",
    }
    drawn = needs.drawing({"a": set(), "b": {"a"}, "c": {"b"}, "d": set()}, numbers, places)
    dots = [int(x) for x in re.findall(r'cx="(\d+)"', drawn)]
    lines = re.findall(r'class="part" x="(\d+)".*?>([\w ]+)<tspan>.*? H(\d+)"', drawn)
    ends = [(dots[0], dots[0]), (dots[1], dots[2]), (dots[3], dots[3])]
    assert [(int(x) + 2, int(end) - 2) for x, _, end in lines] == ends
    assert [name for _, name, _ in lines] == ["Part I", "Part II", "Part III"]
