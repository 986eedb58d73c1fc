"""Models without attention, each a live figure in one file: made to be copied and changed."""
