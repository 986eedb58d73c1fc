"""Compiles the kernel of the live figures: `make kernel`, or with `--check` only compares it with the committed one.

The compiler is the pinned wheel `ziglang`, the same clang on every system: the same source gives the same bytes.
"""

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


def require_pinned_compiler() -> None:
    """Raises: RuntimeError, when ziglang is not the one of requirements.txt, as another may give other bytes."""
    pinned = re.search(r"^ziglang==(\S+)$", (ROOT / "requirements.txt").read_text("utf-8"), re.MULTILINE)[1]
    try:
        installed = metadata.version("ziglang")
    except metadata.PackageNotFoundError:
        installed = "none"
    if installed != pinned:
        raise RuntimeError(f"kernel.c is compiled by ziglang {pinned} (requirements.txt), installed is {installed}")


def compiled(source: Path = SOURCE) -> bytes:
    """The WebAssembly module of a C file.

    Raises: RuntimeError, with what the compiler says.
    """
    require_pinned_compiler()
    with TemporaryDirectory() as folder:
        output = Path(folder) / "kernel.wasm"
        caches = {f"ZIG_{kind}_CACHE_DIR": str(Path(folder) / kind) for kind in ("GLOBAL", "LOCAL")}
        command = [sys.executable, "-m", "ziglang", "cc", *FLAGS, str(source), "-o", str(output)]
        run = subprocess.run(command, env=os.environ | caches, capture_output=True, text=True, check=False)
        if run.returncode:
            raise RuntimeError(f"{source.name} does not compile:\n{run.stderr}")
        return output.read_bytes()


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: .ci/kernel.py [--check]", file=sys.stderr)
        return 2
    try:
        module = compiled()
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 2
    if not arguments:
        BUILT.write_bytes(module)
    elif not BUILT.is_file() or BUILT.read_bytes() != module:
        print("kernel.wasm is not what kernel.c compiles to: run `make kernel` and commit both", file=sys.stderr)
        return 1
    print(f"   {BUILT.relative_to(ROOT)}, {len(module)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
