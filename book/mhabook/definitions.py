"""The numbered definitions of the book. There is nothing to check in them, so they stand beside the
ledger."""

from typing import NamedTuple

from livegrad.console import printed
from mhabook.c01_model import selection
from mhabook.c03_first_step import max_margin
from mhabook.c04_convergence import groups
from mhabook.c06_planted import statements as planted
from mhabook.c07_generalization import statements as generalization
from mhabook.c09_tilting import statements as tilting
from mhabook.c10_structure import factorization
from mhabook.c12_two_kernels import statements as two_kernels
from mhabook.ledger import number_in_paper


@printed
class Definition(NamedTuple):
    """A numbered definition: its label in the chapter, its title, its mark and its source."""

    id: str
    title: str
    mark: str
    chapter: str
    source: str = ""

    @property
    def number(self) -> str:
        """The number that its paper gives it; empty if there is none."""
        return number_in_paper(self.source)


DEFINITIONS = (
    Definition(
        "def-mixture", "Tokenized mixture", "recalled", selection.CHAPTER, "Deora et al. 2023"
    ),
    Definition(
        "def-head", "Softmax attention head", "recalled", selection.CHAPTER, "Deora et al. 2023"
    ),
    Definition(
        "def-model",
        "Multi-head attention classifier",
        "recalled",
        selection.CHAPTER,
        "Deora et al. 2023",
    ),
    Definition(
        "def-ntk",
        "Tangent features and their margin",
        "recalled",
        max_margin.CHAPTER,
        "Deora et al. 2023",
    ),
    Definition(
        "def-good-init",
        "Good initialization",
        "recalled",
        max_margin.FURTHER,
        "Deora et al. 2023, Definition 1",
    ),
    Definition(
        "def-neighborhood", "Constants of a neighborhood", "ours", groups.FURTHER, "this book"
    ),
    Definition("def-planted", "Planted head", "recalled", planted.CHAPTER, "Deora et al. 2023"),
    Definition(
        "def-alignment",
        "Alignment",
        "paper",
        planted.CHAPTER,
        "Deora et al. 2023, caption of Figure 4",
    ),
    Definition("def-leave-one-out", "Leaving one out", "ours", generalization.CHAPTER, "this book"),
    Definition(
        "def-regression-layer",
        "The layer",
        "ours",
        tilting.CHAPTER,
        "this book, after Goel et al. 2026",
    ),
    Definition(
        "def-preconditioned",
        "Preconditioned descent (SA1)",
        "ours",
        factorization.FURTHER,
        "this book",
    ),
    Definition(
        "def-structure-aware",
        "Structure-aware descent (SA2)",
        "ours",
        factorization.FURTHER,
        "this book",
    ),
    Definition("def-spectral-start", "Spectral start", "ours", factorization.FURTHER, "this book"),
    Definition(
        "def-kernel-layer",
        "The layer",
        "ours",
        two_kernels.CHAPTER,
        "this book, after Song et al. 2024",
    ),
)
