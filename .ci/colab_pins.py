"""Renews .ci/colab.txt from the lists that Colab publishes: `make colabpins`, or LIST=... for
another copy of them.

The list is an address or a file, and os-info.txt stands beside it. The packages stay those that
colab.txt names: what Colab ships gets Colab's versions, and what it has not, under its own heading,
gets those of requirements.txt.
"""

import re
import sys
import urllib.request
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
PINS = ROOT / ".ci" / "colab.txt"
LIST = "https://raw.githubusercontent.com/googlecolab/backend-info/main/pip-freeze.txt"
PIN = re.compile(r"(?m)^([\w.-]+)==(\S+)$")
HEADER = re.compile(r"(?ms)^# Source: .*?^# Python: [\d.]+$")
OWN = "\n# What Colab has not"


def read(place: str) -> str:
    """The text at an address or of a file.

    Raises: RuntimeError, when it cannot be read.
    """
    try:
        if not urlsplit(place).scheme:
            return Path(place).read_text("utf-8")
        with urllib.request.urlopen(place, timeout=60) as answer:
            return answer.read().decode("utf-8")
    except (OSError, ValueError, HTTPException) as error:
        raise RuntimeError(f"{place} cannot be read: {error}") from error


def versions(text: str) -> dict[str, str]:
    """Package → version, for every plain pin; names are spelled as pip compares them."""
    return {spelled(name): version for name, version in PIN.findall(text)}


def spelled(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def renewed(pins: str, found: dict[str, str], place: str) -> str:
    """The pins with the versions that were found at a place.

    Raises: RuntimeError, when one of them is not there.
    """
    gone = [name for name, _ in PIN.findall(pins) if spelled(name) not in found]
    if gone:
        raise RuntimeError(
            f"{place} has no version of {', '.join(gone)}: take out of colab.txt what Colab ships "
            "no more, or move what the notebooks still need to its last part"
        )
    return PIN.sub(lambda pin: f"{pin[1]}=={found[spelled(pin[1])]}", pins)


def renew(text: str, place: str, today: str) -> str:
    """The text of colab.txt, renewed from the list at a place; the same text, if no version
    changed.

    Raises: RuntimeError, when a list cannot be read or lacks something; ValueError, when colab.txt
    has lost its shape.
    """
    if not HEADER.search(text) or text.count(OWN) != 1:
        raise ValueError(
            "colab.txt: expected a block from '# Source:' to '# Python:', and a part 'What Colab "
            "has not'"
        )
    beside = place.removesuffix(place.rsplit("/", 1)[-1]) + "os-info.txt"
    machine = read(beside)
    names = re.search(r"(?m)^Ubuntu .+$", machine)
    python = re.search(r"(?m)^Python ((\d+\.\d+)\S*)$", machine)
    if not names or not python:
        raise RuntimeError(f"{beside} names no Ubuntu or no Python")
    shipped, own = text.split(OWN)
    wanted = read(str(ROOT / "requirements.txt"))
    pins = (
        renewed(shipped, versions(read(place)), place)
        + OWN
        + renewed(own, versions(wanted), "requirements.txt")
    )
    if pins == text and f"# Python: {python[2]}\n" in text:
        return text
    source = (
        f"# Source: {place}\n# Read on {today}. System: {names[0].strip()}, {python[0]}\n"
        f"# Python: {python[2]}"
    )
    return HEADER.sub(lambda _: source, pins)


def changes(before: str, after: str) -> list[str]:
    """What changed, a line each."""
    python = re.compile(r"(?m)^# Python: (.+)$")
    old, new = (versions(text) | {"Python": python.search(text)[1]} for text in (before, after))
    return [f"{name} {old[name]} -> {new[name]}" for name in old if old[name] != new[name]]


def main(arguments: list[str], pins: Path = PINS) -> int:
    if len(arguments) > 1:
        print("usage: make colabpins, or make colabpins LIST=ADDRESS-OR-FILE", file=sys.stderr)
        return 2
    before = pins.read_text("utf-8")
    try:
        after = renew(before, *arguments or [LIST], datetime.now(UTC).date().isoformat())
    except (RuntimeError, ValueError) as error:
        print(f"nothing was changed: {error}", file=sys.stderr)
        return 2
    pins.write_text(after, "utf-8")
    print(
        *(f"   {line}" for line in changes(before, after)), sep="\n", end="\n" * (before != after)
    )
    print(f"== {len(versions(after))} packages, {len(changes(before, after))} changes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
