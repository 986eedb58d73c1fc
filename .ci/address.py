"""Sets the repository's address everywhere it is written: `make address URL=https://github.com/NAME/REPOSITORY`.

The address stands in pyproject.toml, `[project.urls] Repository`; every other place must agree with it. Only
the characters of the address are replaced, so every file keeps its layout, and a second run changes nothing.
"""

import re
import sys
import tomllib
from pathlib import Path

WRITTEN_IN = {".cff", ".ipynb", ".md", ".toml", ".yml"}
NOT_OURS = {"_build", "build", "dist", "vendor"}
ADDRESS = re.compile(r"https://github\.com/(?P<slug>[A-Za-z0-9][A-Za-z0-9-]*/\w[\w.-]*)", re.ASCII)


def slug(address: str) -> str:
    """The NAME/REPOSITORY of an address.

    Raises: ValueError, when it is not the plain https address of a repository on GitHub, as Colab needs it.
    """
    match = ADDRESS.fullmatch(address)
    if match is None or address.endswith((".git", ".")):
        raise ValueError(
            f"the address must look like https://github.com/NAME/REPOSITORY, "
            f"with no ending slash, no .git and nothing after it; got {address!r}"
        )
    return match["slug"]


def current(root: Path) -> str:
    """The address that pyproject.toml holds."""
    return tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]


def files(root: Path) -> list[Path]:
    """The files that may hold the address: sources, not what a build or a tool left."""

    def is_ours(path: Path) -> bool:
        folders = path.relative_to(root).parts[:-1]
        return not any(part.startswith(".") or part in NOT_OURS for part in folders)

    return sorted(p for p in root.rglob("*") if p.suffix in WRITTEN_IN and p.is_file() and is_ours(p))


def replace(text: str, old: str, new: str) -> tuple[str, int]:
    """Text with NAME/REPOSITORY replaced in addresses of GitHub and of Colab (…/github/NAME/REPOSITORY)."""
    return re.subn(rf"(github(?:\.com)?/){re.escape(old)}(?![\w-])", rf"\g<1>{new}", text)


def rewrite(root: Path, address: str) -> dict[Path, int]:
    """Sets the address in every file; returns how often it stands in each."""
    old, new, counts = slug(current(root)), slug(address), {}
    for path in files(root):
        # Bytes, so that line endings stay as they are.
        text, count = replace(path.read_bytes().decode("utf-8"), old, new)
        if count:
            path.write_bytes(text.encode("utf-8"))
            counts[path] = count
    return counts


def main(arguments: list[str]) -> int:
    root = Path(__file__).resolve().parent.parent
    if len(arguments) != 1 or not arguments[0]:
        print("usage: make address URL=https://github.com/NAME/REPOSITORY", file=sys.stderr)
        return 2
    try:
        counts = rewrite(root, arguments[0])
    except ValueError as error:
        print(f"nothing was changed: {error}", file=sys.stderr)
        return 2
    for path, count in counts.items():
        print(f"   {path.relative_to(root)} ({count})")
    print(f"== the address is now {current(root)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
