"""What needs what: read from the proofs, and a circle or a missing proof ends the build."""

import pytest

from scripts import load

needs = load("book/_ext/needs.py")
STATED = "````{{prf:{kind}}} A title\n:label: {label}\n\n**[{mark}]** A claim, by {{prf:ref}}`thm-9`.\n````\n\n"
PROOF = "````{{admonition}} {title}\n:class: dropdown\n\nBy {references}.\n````\n\n"


def stated(label, kind="lemma", mark="ours"):
    return STATED.format(label=label, kind=kind, mark=mark)


def proof(*labels, title="Proof"):
    return PROOF.format(title=title, references=", ".join(f"{{prf:ref}}`{one}`" for one in labels))


def test_a_proof_belongs_to_the_statement_above_it_and_one_of_several_to_all_of_their_kind():
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
    found = needs.read([text])
    assert found == {"a": set(), "d": set(), "b": {"a", "d"}, "c1": {"b"}, "r": set(), "c2": {"b"}}
    assert needs.beneath(found, "c2") == {"a", "b", "d"}


def test_a_statement_without_a_proof_and_proofs_in_a_circle_are_refused_by_name():
    with pytest.raises(ValueError, match="found none of b"):
        needs.read([stated("a") + proof(), stated("b")])
    with pytest.raises(ValueError, match="a circle: (a needs b needs a|b needs a needs b)"):
        needs.read([stated("a") + proof("b") + stated("b") + proof("a")])


def test_every_statement_of_the_book_has_its_place_and_the_training_theorem_its_chain():
    from mhabook.pages.numbers import NUMBERS

    found = needs.of_the_book()
    assert set(found) == set(NUMBERS)
    assert {"lemma-regret", "cor-1-quasi-convexity", "prop-1-hessian"} <= needs.beneath(
        found, "thm-1-training"
    )
