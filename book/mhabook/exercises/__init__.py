"""What a reader answers: the fields below an exercise, their questions, and what compares the answers;
and the guesses of "Predict"."""

from mhabook.exercises.guess import Guesses, guesses
from mhabook.exercises.questions import QUESTIONS, Question, Variable
from mhabook.exercises.widget import Exercise, exercise

__all__ = ["QUESTIONS", "Exercise", "Guesses", "Question", "Variable", "exercise", "guesses"]
