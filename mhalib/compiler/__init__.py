"""Formulas in NumPy become programs: recorded, differentiated, printed, compiled. It knows no attention."""
