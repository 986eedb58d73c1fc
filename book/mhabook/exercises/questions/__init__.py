"""The exercises of the book that check themselves: label of the exercise → its questions."""

from mhalib.live.exercises.questions.guarantees import GUARANTEES
from mhalib.live.exercises.questions.kernels import KERNELS
from mhalib.live.exercises.questions.laboratory import LABORATORY
from mhalib.live.exercises.questions.multihead import MULTIHEAD
from mhalib.live.exercises.questions.plans import PLANS
from mhalib.live.exercises.questions.preconditioning import PRECONDITIONING
from mhalib.live.exercises.questions.question import Letter, Question
from mhalib.live.exercises.questions.sheets import SHEETS
from mhalib.live.exercises.questions.start import START
from mhalib.live.exercises.questions.training import TRAINING

CHAPTERS = MULTIHEAD | GUARANTEES | TRAINING | PRECONDITIONING | PLANS | KERNELS | LABORATORY
QUESTIONS = CHAPTERS | START | SHEETS

__all__ = ["QUESTIONS", "Letter", "Question"]
