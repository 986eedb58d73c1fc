"""Ratios against what a user would write otherwise; every competitor is checked before it is timed."""

SIZES = {"slider": (64, 8, 16), "paper": (100, 10, 50)}
"""Name → (n, T, d)."""
