"""Makes the programs of the live figures, or with `--check` only compares them with the committed
ones: `make kernel`.

Their source is formulas, recorded and printed: those of update rules
(livegrad/live/rule_formulas.py), of models (mhalib/live/formulas.py and book/mhabook/live/formulas.py),
and of a figure of one chapter (book/mhabook/*/formulas*.py, beside which program*.js is written). The compiler
is the pinned wheel `ziglang`, the same clang on every system: the same source gives the same bytes.
"""

import argparse
import json
import re
import sys
from importlib import import_module, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book/mhabook"
WARNINGS = ["-Wall", "-Werror"]

sys.path[:0] = [str(ROOT), str(BOOK.parent)]
from livegrad.live import rule_formulas  # noqa: E402
from livegrad.record import webassembly  # noqa: E402
from mhabook.live import formulas as of_the_book  # noqa: E402
from mhalib.live import formulas  # noqa: E402

HEAD = "// Made by `make kernel` from {}.py.\n"


def fail(words: str, status: int = 2) -> None:
    print(words, file=sys.stderr)
    sys.exit(status)


def compiled(text: str) -> bytes:
    """The WebAssembly module of a program; ends the program with what the compiler says, or if it
    is another one."""
    pinned = re.search(
        r"^ziglang==(\S+)$", (ROOT / ".ci/tools.txt").read_text("utf-8"), re.MULTILINE
    )[1]
    installed = next((found.version for found in metadata.distributions(name="ziglang")), "none")
    if installed != pinned:  # another may give other bytes
        fail(f"programs are compiled by ziglang {pinned} (.ci/tools.txt), installed is {installed}")
    try:
        return webassembly.assembled(text, WARNINGS)
    except webassembly.Refused as error:
        return fail(f"the program does not compile:\n{error}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog=".ci/kernel.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare with the committed one")
    check, made = parser.parse_args().check, {}
    for module in (rule_formulas, formulas, of_the_book):
        source = Path(module.__file__)
        head = HEAD.format(source.relative_to(ROOT).with_suffix("").as_posix())
        folder = source.with_name("programs")
        for name, make in getattr(module, "PROGRAMS", {}).items():
            program = make()
            made[folder / f"{name}.wasm"] = compiled(program.text())
            made[folder / f"{name}.js"] = (head + program.javascript()).encode()
        for name, (make, kinds) in getattr(module, "PLAIN", {}).items():
            given = f"export const numbers = {json.dumps(rule_formulas.numbers(kinds))};\n"
            made[folder / f"{name}.js"] = (head + make().javascript() + given).encode()
    for file in sorted({*BOOK.glob("*/formulas*.py")} - {Path(of_the_book.__file__)}):
        name = f"mhabook/{file.parent.name}/{file.stem}"
        text = HEAD.format(name) + import_module(name.replace("/", ".")).program().javascript()
        made[file.with_name(file.stem.replace("formulas", "program") + ".js")] = text.encode()
    for file, content in made.items():
        if not check:
            file.write_bytes(content)
        elif not file.is_file() or file.read_bytes() != content:
            fail(f"{file.name} is not what the formulas say: run `make kernel` and commit it", 1)
        print(f"   {file.relative_to(ROOT)}, {len(content)} bytes")
