"""The exercises of the book that check themselves: label of the exercise → its questions."""

from mhalib.live.questions.kernels import KERNELS
from mhalib.live.questions.multihead import MULTIHEAD
from mhalib.live.questions.preconditioning import PRECONDITIONING
from mhalib.live.questions.question import Letter, Question
from mhalib.live.questions.sheets import SHEETS
from mhalib.live.questions.training import TRAINING

QUESTIONS = MULTIHEAD | TRAINING | PRECONDITIONING | KERNELS | SHEETS

__all__ = ["QUESTIONS", "Letter", "Question"]
