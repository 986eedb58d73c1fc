"""Sets who wrote the book, everywhere it is said: `make authors NAMES="Given Family; Given
Family"`."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = (
    r"(?m)^authors = \[.*\]$",
    lambda names: f"authors = [{', '.join(f'{{ name = {quoted(name)} }}' for name in names)}]",
)
# Of each file: where its authors stand, and how they are written there.
PLACES = {
    "_config.yml": (r"(?m)^author: .*$", lambda names: f"author: {', '.join(names)}"),
    "pyproject.toml": PROJECT,
    "mhalib/pyproject.toml": PROJECT,
    "livegrad/pyproject.toml": PROJECT,
    "CITATION.cff": (
        r"(?m)^authors:\n(?:  - .*\n)+",
        lambda names: "authors:\n" + "".join(f"  - name: {quoted(name)}\n" for name in names),
    ),
    ".zenodo.json": (
        r'"creators": \[.*\]',
        lambda names: (
            f'"creators": {json.dumps([{"name": name} for name in names], ensure_ascii=False)}'
        ),
    ),
}


def quoted(name):
    return f'"{name}"'


def main(said):
    names = [name.strip() for name in said.split(";") if name.strip()]
    if not names or any(re.search(r'["\\\n]', name) for name in names):
        sys.exit(
            'usage: make authors NAMES="Given Family; Given Family", names without quotation marks'
        )
    texts = {}
    for file, (place, written) in PLACES.items():
        text = (ROOT / file).read_text("utf-8")
        found = re.search(place, text)
        if not found:
            sys.exit(
                f"nothing was changed: {file} says nowhere who wrote it, as {place} looks for it"
            )
        texts[file] = text[: found.start()] + written(names) + text[found.end() :]
    for file, text in texts.items():
        (ROOT / file).write_text(text, "utf-8")
    print(f"== the authors are now {', '.join(names)}")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
