"""The exercises of the book that check themselves: label of the exercise → its questions."""

from mhabook.exercises.questions.guarantees import GUARANTEES
from mhabook.exercises.questions.kernels import KERNELS
from mhabook.exercises.questions.laboratory import LABORATORY
from mhabook.exercises.questions.multihead import MULTIHEAD
from mhabook.exercises.questions.plans import PLANS
from mhabook.exercises.questions.preconditioning import PRECONDITIONING
from mhabook.exercises.questions.question import Letter, Question
from mhabook.exercises.questions.sheets import SHEETS
from mhabook.exercises.questions.start import START
from mhabook.exercises.questions.training import TRAINING

CHAPTERS = MULTIHEAD | GUARANTEES | TRAINING | PRECONDITIONING | PLANS | KERNELS | LABORATORY
QUESTIONS = CHAPTERS | START | SHEETS

__all__ = ["QUESTIONS", "Letter", "Question"]
