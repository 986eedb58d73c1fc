"""``Progress``: the line that says how far a sweep is."""

import sys
import time


class Progress:
    """A line on the terminal or in the notebook, redrawn in place; nothing where stderr goes elsewhere."""

    def __init__(self, total, ready, wanted):
        stream = sys.stderr
        self.shown = wanted and (stream.isatty() or type(stream).__module__.startswith("ipykernel"))
        self.total, self.ready, self.new = total, ready, 0
        self.began = self.drawn = time.monotonic()

    def __enter__(self):
        self._draw()
        return self

    def __exit__(self, *raised):
        self._draw(end="\n")

    def add(self):
        """One run more is done."""
        self.new += 1
        if time.monotonic() - self.drawn > 0.1:
            self._draw()

    def __str__(self):
        cached = f", {self.ready} of them from the cache" if self.ready else ""
        line = f"{self.ready + self.new} of {self.total} runs{cached}"
        left = self.total - self.ready - self.new
        if left and self.new:
            line += f", about {left * (time.monotonic() - self.began) / self.new:.0f} s to go"
        return line

    def _draw(self, end=""):
        if self.shown:
            self.drawn = time.monotonic()
            print(f"\r{str(self):70}", end=end, file=sys.stderr, flush=True)
