"""Ratios against what a user would write otherwise; every competitor is checked before it is timed."""
