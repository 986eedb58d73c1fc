"""The numbered definitions of the book. There is nothing to check in them, so they stand beside the ledger."""

from typing import NamedTuple

from mhalib.theory.ledger import number_in_paper


class Definition(NamedTuple):
    """A numbered definition: its label in the chapter, its title, its mark and its source."""

    id: str
    title: str
    mark: str
    chapter: str
    source: str = ""

    @property
    def number(self):
        """The number that its paper gives it; empty if there is none."""
        return number_in_paper(self.source)


ONE, THREE, FOUR = (f"multihead/{name}" for name in (
    "01_a_small_attention_model", "03_what_one_random_step_knows", "04_why_training_cannot_get_lost"))
SIX, SEVEN = "multihead/06_a_planted_head", "multihead/07_does_it_generalize"
NINE, TEN = (f"preconditioning/{name}" for name in (
    "09_attention_is_a_tilted_average", "10_descent_that_knows_the_structure"))
DEFINITIONS = (
    Definition("def-mixture", "Tokenized mixture", "recalled", ONE, "Deora et al. 2023"),
    Definition("def-head", "Softmax attention head", "recalled", ONE, "Deora et al. 2023"),
    Definition("def-model", "Multi-head attention classifier", "recalled", ONE, "Deora et al. 2023"),
    Definition("def-ntk", "Tangent features and their margin", "recalled", THREE, "Deora et al. 2023"),
    Definition("def-good-init", "Good initialization", "recalled", THREE, "Deora et al. 2023, Definition 1"),
    Definition("def-neighborhood", "Constants of a neighborhood", "ours", FOUR, "this book"),
    Definition("def-planted", "Planted head", "recalled", SIX, "Deora et al. 2023"),
    Definition("def-alignment", "Alignment", "paper", SIX, "Deora et al. 2023, caption of Figure 4"),
    Definition("def-leave-one-out", "Leaving one out", "ours", SEVEN, "this book"),
    Definition("def-regression-layer", "The layer", "ours", NINE, "this book, after Goel et al. 2026"),
    Definition("def-preconditioned", "Preconditioned descent (SA1)", "ours", TEN, "this book"),
    Definition("def-spectral-start", "Spectral start", "ours", TEN, "this book"),
    Definition("def-structure-aware", "Structure-aware descent (SA2)", "ours", TEN, "this book"),
    Definition("def-kernel-layer", "The layer", "ours", "kernels/12_two_kernels_one_rank",
               "this book, after Song et al. 2024"),
)
