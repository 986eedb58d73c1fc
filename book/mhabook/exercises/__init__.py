"""Exercises that check themselves: the fields below an exercise, their questions, and what compares
the answers."""

from mhabook.exercises.questions import QUESTIONS, Question, Variable
from mhabook.exercises.widget import Exercise, exercise

__all__ = ["QUESTIONS", "Exercise", "Question", "Variable", "exercise"]
