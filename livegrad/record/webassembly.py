"""A program as a module of WebAssembly, by the wheel ``ziglang``: the same clang on every system,
so the same bytes."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from livegrad.record import _commands
from livegrad.record.program import Program
from livegrad.record.trace import Untraceable

# No library, no name of a function or a file, and no fused multiplication: nothing that differs
# between machines.
FLAGS = (
    "-target",
    "wasm32-freestanding",
    "-O2",
    "-msimd128",
    "-ffp-contract=off",
    "-nostdlib",
    "-fno-unroll-loops",
    "-fno-vectorize",
    "-fno-slp-vectorize",  # pages carry the bytes
    "-Wl,--no-entry",
    "-Wl,--strip-all",
    "-std=c++17",
    "-fno-exceptions",
    "-fno-rtti",
    "-DLANES=2",
)
SECONDS = 60.0
"""How long the compiler may take: the first time on a machine it has more to do."""


class Refused(RuntimeError):
    """There is no module, for the reason that the compiler gives."""


def assembled(text: str, warnings: Sequence[str] = ()) -> bytes:
    """The module of a program in C++; ``warnings`` are flags of the compiler.

    Raises Refused where there is no ``ziglang``, or it does not compile the text: that calls a
    function which only the system's library of mathematics has, say.
    """
    if not find_spec("ziglang"):
        raise Refused("there is no ziglang; pip install 'livegrad[fast]' brings it")
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, output = Path(folder, "program.cc"), Path(folder, "program.wasm")
        source.write_text(text, "utf-8")
        caches = {f"ZIG_{kind}_CACHE_DIR": folder for kind in ("GLOBAL", "LOCAL")}
        command = [
            sys.executable,
            "-m",
            "ziglang",
            "c++",
            *FLAGS,
            *warnings,
            f"-I{Path(__file__).parent}",
            str(source),
            "-o",
            str(output),
        ]
        try:
            ended = _commands.run(command, SECONDS, os.environ | caches)
        except (_commands.Failed, _commands.Late) as error:
            raise Refused(str(error)) from error
        if ended.code or not output.is_file():
            raise Refused(ended.errors)
        return output.read_bytes()


def module(program: Program) -> bytes | None:
    """The module of a program; None where there is no compiler for it, or the program has no
    compiled form."""
    try:
        return assembled(program.text())
    except (Refused, Untraceable):
        return None
