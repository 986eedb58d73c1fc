"""Recorded formulas compiled for this processor: found or compiled once, kept in the user's cache, checked, then used.

``mha.train`` takes a compiled program instead of numpy where there is one: wherever it is in the cache already, and
from the moment on when the runs of this process would take numpy a second together, which is about what the compiler
takes. The compiler is ``c++``, ``g++`` or ``clang++``, or the wheel ``ziglang``, which ``pip install 'mhalib[fast]'``
brings. Where there is none, or anything else is in the way, numpy does the work; ``status()`` says which and why.

A library lies in the cache under the hash of all it is made of, among it the processor: a home may be shared by
several machines. Its name has the hash of its bytes, too, so that no damaged or half-written one is ever loaded. Every
process compares it with numpy before its first use: a few milliseconds, which also a marker of an earlier comparison
would hardly spare, and which hold for this numpy and this memory. The environment variable MHALIB_COMPILED=0 switches
it off.
"""

import atexit
import ctypes
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from mhalib.compiled import Program
from mhalib.sizes import Place

FLAGS = ("-O3", "-g0", "-ffp-contract=fast", "-std=c++17", "-fno-exceptions", "-fno-rtti", "-shared", "-fPIC")
PAYS = 1.0
"""Seconds of numpy from which on compiling pays."""
TOLERANCE = 1e-12
CHECKED = (9, 3, 5, 2, 4, 6), (4, 6, 2, 5, 3, 1)
"""Two values for each size of a program, at which it is compared with numpy; none is one that it was recorded with."""
SUFFIX = ".dll" if os.name == "nt" else ".so"
RUNTIME = Path(__file__).parent / "live" / "runtime.h"


class Formulas(NamedTuple):
    """What is to be compiled: the arguments of ``mhalib.compiled.Program``, and a name.

    ``places`` says where an array lies that is part of a longer one, and ``function`` takes numpy's arrays, too.
    """

    name: str
    function: Callable[[dict[str, Any]], Mapping[str, Mapping[str, Any]]]
    shapes: Mapping[str, str]
    sample: str
    places: Mapping[str, Place]

    @property
    def sizes(self) -> list[str]:
        """The names of the sizes, in their order."""
        return list(dict.fromkeys(size for shape in self.shapes.values() for size in shape.split()))

    def text(self) -> str:
        """The program in C++."""
        return Program(*self[1:]).text()


class Unusable(RuntimeError):
    """Why there is no compiled program."""


class Library:
    """A compiled program, loaded. Its sizes and pointers are static: ``alone`` is held around every call."""

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.functions: ctypes.CDLL = ctypes.CDLL(str(path))
        self.functions.layout.restype = ctypes.c_double
        self.lanes: int = self.functions.lanes()
        self.alone: Lock = Lock()

    def bytes(self, formulas: Formulas, sizes: Mapping[str, int]) -> int:
        """The memory that it needs at some sizes."""
        with self.alone:
            return int(self.functions.layout(None, _c_sizes(formulas, sizes)))


class Arena:
    """The memory of a program at some sizes: its arrays by name, and its functions."""

    def __init__(self, library: Library, formulas: Formulas, sizes: Mapping[str, int]) -> None:
        self._functions, self._alone = library.functions, library.alone
        self._memory = np.zeros(library.bytes(formulas, sizes) // 8 + 8)
        address = self._memory.ctypes.data
        self._at = -address % 64
        self._arguments = ctypes.c_void_p(address + self._at), _c_sizes(formulas, sizes)

    def array(self, name: str) -> np.ndarray:
        """The array of this name, flat, where the program reads or writes it."""
        place, length = (getattr(self._functions, f"{what}_{name}") for what in ("place", "length"))
        place.restype = length.restype = ctypes.c_long
        with self._alone:
            self._functions.layout(*self._arguments)
            begin = (self._at + place()) // 8
            return self._memory[begin:begin + length()]

    def load(self, **arrays: np.ndarray) -> None:
        """Write arrays of samples."""
        for name, a in arrays.items():
            self.array(name)[:] = a.ravel()
        with self._alone:
            self._functions.loaded(*self._arguments)

    def entry(self, name: str) -> Callable[[], float]:
        """A function of the program, which gives its first result and writes all."""
        function, arguments, alone = getattr(self._functions, name), self._arguments, self._alone
        function.restype = ctypes.c_double

        def call():
            with alone:
                return function(*arguments)

        return call


def _c_sizes(formulas, sizes):
    return (ctypes.c_double * len(sizes))(*(sizes[name] for name in formulas.sizes))


def status() -> str:
    """Whether ``mha.train`` runs compiled programs, by which compiler, and else why not; a line for each program.

    Such as ``MultiHeadAttention: compiled by g++ 12.2.0, 8 samples at once: /home/me/.cache/mhalib/1f0c….so``, or
    ``MultiHeadAttention: numpy: no compiler found; pip install 'mhalib[fast]' brings one``.
    """
    if not switched_on():
        return "numpy: MHALIB_COMPILED=0"
    said = _version(_compiler())
    return "\n".join(
        f"{name}: numpy: {found}" if isinstance(found, str) else
        f"{name}: compiled by {said}, {found.lanes} samples at once: {found.path}"
        for name, found in _found.items()) or f"nothing was trained yet; {said}"


def switched_on() -> bool:
    """Whether the environment leaves compiled programs on."""
    return os.environ.get("MHALIB_COMPILED") != "0"


NO_COMPILER = "no compiler found; pip install 'mhalib[fast]' brings one"
LATER = f"not compiled yet: the runs so far would take it less than {PAYS:g} s together"
_found: dict[str, Library | str] = {}
_seconds = 0.0


def library(formulas: Formulas, seconds: float) -> Library | None:
    """The compiled program, or None: numpy.

    Parameters
    ----------
    formulas : what it computes
    seconds : what numpy would take for the run at hand; those of a process are added up, and above ``PAYS`` it compiles
    """
    global _seconds
    _seconds += seconds
    if not switched_on():
        return None
    if formulas.name not in _found or (_found[formulas.name] == LATER and _seconds >= PAYS):
        try:
            _found[formulas.name] = _checked(Library(_built(formulas)), formulas)
        except (OSError, RuntimeError) as error:  # of the system, too: no home, a folder that runs no programs
            _found[formulas.name] = str(error)
    found = _found[formulas.name]
    return found if isinstance(found, Library) else None


def _checked(library, formulas):
    """The library, if it agrees with numpy; else Unusable."""
    rng = np.random.default_rng(0)
    for values in CHECKED:
        sizes = dict(zip(formulas.sizes, values, strict=False))
        arena = Arena(library, formulas, sizes)
        arrays = {name: rng.standard_normal([sizes[size] for size in shape.split()])
                  for name, shape in formulas.shapes.items()}
        arrays["y"] = np.sign(arrays["y"])  # labels of a classifier, and good enough as targets
        arena.load(**_joined(formulas, arrays))
        for name, results in formulas.function(arrays).items():
            arena.entry(name)()
            for buffer, want in _joined(formulas, results).items():
                got = arena.array(buffer)
                if not abs(got - want).max() <= TOLERANCE * abs(want).max():
                    raise Unusable(f"the compiled program gives another {buffer} than numpy at the sizes {sizes}")
    return library


def _joined(formulas, arrays):
    """The buffers of arrays, flat: of those that are parts of one, one after the other."""
    buffers: dict[str, list[np.ndarray]] = {}
    for name, a in arrays.items():
        buffer = formulas.places[name].buffer if name in formulas.places else name
        buffers.setdefault(buffer, []).append(np.ravel(a))
    return {name: np.concatenate(parts) for name, parts in buffers.items()}


def _built(formulas):
    """The library's file: from the cache, or compiled now."""
    compiler = _compiler()
    if compiler is None:
        raise Unusable(NO_COMPILER)
    key = _digest("\n".join([formulas.name, *FLAGS, *compiler, _processor(), _sources()]).encode())
    folder = _folder()
    for path in folder.glob(f"{key}-*{SUFFIX}"):
        if path.name == f"{key}-{_digest(path.read_bytes())}{SUFFIX}":
            return path
    if _seconds < PAYS:
        raise Unusable(LATER)
    found = _compiled(formulas.text(), *compiler[1:-1])
    return _kept(folder, f"{key}-{_digest(found)}{SUFFIX}", found)


def _compiled(text, *command):
    """The bytes of a library."""
    native = "-march=native" if platform.machine().lower() in ("x86_64", "amd64") else "-mcpu=native"
    with TemporaryDirectory() as folder:
        source, built = Path(folder, "program.cc"), Path(folder, f"program{SUFFIX}")
        source.write_text(text, "utf-8")
        caches = {f"ZIG_{kind}_CACHE_DIR": str(Path(folder, kind)) for kind in ("GLOBAL", "LOCAL")}
        run = subprocess.run([*command, *FLAGS, native, f"-I{RUNTIME.parent}", str(source), "-o", str(built)],
                             env=os.environ | caches, capture_output=True, text=True, check=False)
        if run.returncode or not built.exists():
            raise Unusable(f"{' '.join(command)} does not compile it: {run.stderr.strip()[:500]}")
        return built.read_bytes()


def _kept(folder, name, library):
    """The file of a new library, in the cache; in a folder of this process where that cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}"  # another process may write it, too: the name is given at the end
        part.write_bytes(library)
        return part.replace(folder / name)
    except OSError:
        own = Path(mkdtemp(prefix="mhalib-"))
        atexit.register(shutil.rmtree, own, ignore_errors=True)
        (own / name).write_bytes(library)
        return own / name


def _folder():
    """The user's cache folder of mhalib."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mhalib"
    variable, usual = ("LOCALAPPDATA", "AppData/Local") if os.name == "nt" else ("XDG_CACHE_HOME", ".cache")
    return Path(os.environ.get(variable) or Path.home() / usual, "mhalib")


def _digest(data):
    return sha256(data).hexdigest()[:24]


@cache
def _sources():
    """The hash of what a program is printed by: it need not be recorded to be found."""
    root = Path(__file__).parent
    files = [*sorted(root.glob("*.py")), *sorted(root.glob("models/*.py")), RUNTIME]
    return _digest(b"".join(path.read_bytes() for path in files))


@cache
def _compiler():
    """A compiler's name, its command, and its version or what stands for it; None if there is none."""
    # The g++ of Windows puts vectors of 32 bytes where they may not be (its bug 54412).
    for name in ("clang++",) if os.name == "nt" else ("c++", "g++", "clang++"):
        path = shutil.which(name)
        if path and not _is_stub(path):
            file = os.stat(path)
            return name, path, f"{os.path.realpath(path)} {file.st_size} {file.st_mtime_ns}"
    if find_spec("ziglang"):
        from importlib.metadata import version  # takes as long to import as the rest of this file

        # As C's compiler: that of C++ compiles a library first, which takes a minute.
        return "ziglang", sys.executable, "-m", "ziglang", "cc", "-x", "c++", version("ziglang")
    return None


def _version(compiler):
    """A compiler's name and version, for people."""
    if compiler is None:
        return NO_COMPILER
    if compiler[0] == "ziglang":
        return f"ziglang {compiler[-1]}"
    said = subprocess.run([compiler[1], "--version"], capture_output=True, text=True, check=False).stdout
    return said.partition("\n")[0] or compiler[0]


def _is_stub(path):
    """Whether this is the command of macOS that only asks to install the tools."""
    return (sys.platform == "darwin" and path.startswith("/usr/bin/")
            and subprocess.run(["xcode-select", "-p"], capture_output=True, check=False).returncode != 0)


@cache
def _processor():
    """What a processor can do, as far as the system says it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            said = [line for line in takewhile(str.strip, lines) if line.split("\t")[0] in (
                "vendor_id", "model name", "flags", "Features", "CPU implementer", "CPU part")]
    except OSError:
        said = [platform.processor()]
    return "".join([platform.system(), platform.machine(), sys.byteorder, *said])
