"""Compiles the kernel of the live figures: `make kernel`, or with `--check` only compares it with the committed one.

The compiler is the pinned wheel `ziglang`, the same clang on every system: the same source gives the same bytes.
"""

import argparse
import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
SOURCE, BUILT = ROOT / "mhalib/live/kernel.c", ROOT / "mhalib/live/kernel.wasm"
# No library, no name of a function or a file, and no fused multiplication: nothing that differs between machines.
FLAGS = ["-target", "wasm32-freestanding", "-O3", "-msimd128", "-ffp-contract=off", "-nostdlib", "-Wall", "-Werror"]
FLAGS += ["-Wl,--no-entry", "-Wl,--strip-all"]


def fail(words: str, status: int = 2) -> None:
    print(words, file=sys.stderr)
    sys.exit(status)


def compiled() -> bytes:
    """The WebAssembly module of the source; ends the program with what the compiler says, or if it is another one."""
    pinned = re.search(r"^ziglang==(\S+)$", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)[1]
    installed = next((found.version for found in metadata.distributions(name="ziglang")), "none")
    if installed != pinned:  # another may give other bytes
        fail(f"kernel.c is compiled by ziglang {pinned} (requirements.txt), installed is {installed}")
    with TemporaryDirectory() as folder:
        output = Path(folder) / "kernel.wasm"
        caches = {f"ZIG_{kind}_CACHE_DIR": str(Path(folder) / kind) for kind in ("GLOBAL", "LOCAL")}
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, str(SOURCE), "-o", str(output)]
        run = subprocess.run(command, env=os.environ | caches, capture_output=True, text=True, check=False)
        if run.returncode:
            fail(f"{SOURCE.name} does not compile:\n{run.stderr}")
        return output.read_bytes()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog=".ci/kernel.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare with the committed one")
    check, module = parser.parse_args().check, compiled()
    if not check:
        BUILT.write_bytes(module)
    elif not BUILT.is_file() or BUILT.read_bytes() != module:
        fail("kernel.wasm is not what kernel.c compiles to: run `make kernel` and commit both", 1)
    print(f"   {BUILT.relative_to(ROOT)}, {len(module)} bytes")
