"""Exercises that check themselves: the fields below an exercise, their questions, and what compares the answers."""

from mhabook.exercises.fields import Exercise, exercise
from mhabook.exercises.questions import QUESTIONS, Letter, Question

__all__ = ["QUESTIONS", "Exercise", "Letter", "Question", "exercise"]
