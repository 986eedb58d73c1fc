"""Recorded formulas compiled for this processor: found or compiled once, kept in the user's cache,
checked, then used.

``train`` takes a compiled program instead of numpy wherever there is a compiler: environment
and arguments decide, never a clock, nor what the process did before, so the same call gives the
same bits. The first run on a machine compiles, which takes a second or two; ``warm`` does it ahead.
A compilation that takes long says so, and can be interrupted. The compiler is ``c++``, ``g++`` or
``clang++``, or the wheel ``ziglang``, which ``pip install 'livegrad[fast]'`` brings. Where there is
none, or anything else is in the way, numpy does the work; ``status()`` says which and why. The
environment variable LIVEGRAD_COMPILED=0 switches it off.

A library lies in the cache under the hash of all it is made of, among it the processor: a home may
be shared by several machines. Its name has the hash of its bytes, too, so that no damaged or
half-written one is ever loaded, and none is that another user may have written. It is kept after it
ran in a process of its own, which it may crash, and gave numpy's results. Every process compares it
with numpy once more before its first use: that takes a few milliseconds, which a record of an
earlier comparison would barely save, and it holds for this numpy and this memory.
"""

import atexit
import ctypes
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager, suppress
from functools import cache, partial
from hashlib import sha256
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from threading import Lock, Timer
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np

from livegrad.console import printable
from livegrad.pages import book_is_asked
from livegrad.record import _commands, _trial
from livegrad.record._files import open_own, own_folder, whole_file
from livegrad.record.program import Program
from livegrad.record.trace import Untraceable

# Not -ffast-math: it drops x != x, which finds NaN, and the large number that is added and
# subtracted in exp_ to round.
FLAGS = (
    "-O3",
    "-g0",
    "-ffp-contract=fast",
    "-std=c++17",
    "-fno-exceptions",
    "-fno-rtti",
    "-shared",
    "-fPIC",
)
PATIENT = 5.0
"""After so many seconds a compilation says that it is still at it."""
QUESTION = 2.0
"""How long a command may take that only answers a question, such as its version, in seconds."""
TOLERANCE = 1e-12
CHECKED = (9, 3, 5, 2, 4, 6), (4, 6, 2, 5, 3, 1)
"""Two values for each size of a program, at which it is compared with numpy; none is one that it
was recorded with."""
MOST = 256
"""So many libraries stay in the cache; then the one goes that was not used for longest."""
SUFFIX = ".dll" if os.name == "nt" else ".so"
RUNTIME = Path(__file__).parent / "runtime.h"


class Unusable(RuntimeError):
    """Why there is no compiled program."""


class Library:
    """A compiled program, loaded. Its sizes and pointers are static: ``alone`` is held around every
    call.

    ``temporary`` says why it lies in a folder of this process and not in the cache, if it does.
    """

    def __init__(self, file: BinaryIO, temporary: str = "") -> None:
        self.path: Path = Path(file.name)
        self.temporary: str = temporary
        # What was opened and read is loaded, whatever has this name by now. It stays open: the
        # loader would take a later file of the same number for this one.
        opened = f"/proc/self/fd/{os.dup(file.fileno())}"
        self.functions: ctypes.CDLL = ctypes.CDLL(
            opened if os.path.exists(opened) else str(self.path)
        )
        self.functions.layout.restype = ctypes.c_double
        self.lanes: int = self.functions.lanes()
        self.alone: Lock = Lock()

    def bytes(self, program: Program, sizes: Mapping[str, int]) -> int:
        """The memory that it needs at some sizes."""
        with self.alone:
            return int(self.functions.layout(None, _c_sizes(program, sizes)))


class Arena:
    """The memory of a program at some sizes: its arrays by name, and its functions."""

    def __init__(self, library: Library, program: Program, sizes: Mapping[str, int]) -> None:
        self._functions, self._alone = library.functions, library.alone
        _said[program.title] = _line(library)
        # The length is that of a memory that begins at 0, and so at any multiple of 64: 8 doubles
        # more let it begin there.
        self._memory = np.zeros(library.bytes(program, sizes) // 8 + 8)
        address = self._memory.ctypes.data
        self._at = -address % 64
        self._arguments = ctypes.c_void_p(address + self._at), _c_sizes(program, sizes)

    def array(self, name: str) -> np.ndarray:
        """The array of this name, flat, where the program reads or writes it."""
        with self._alone:
            # Places are those of the last layout, which may have been another arena's.
            self._functions.layout(*self._arguments)
            place, length = _trial.place(self._functions, name)
        begin = (self._at + place) // 8
        return self._memory[begin : begin + length]

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


def _c_sizes(program, sizes):
    return (ctypes.c_double * len(sizes))(*(sizes[name] for name in program.sizes))


NO_COMPILER = "no compiler found; pip install 'livegrad[fast]' brings one"
OFF = "LIVEGRAD_COMPILED=0"
_found: dict[str, Library | str] = {}
"""Title of a program → the library, or why there is none."""
_said: dict[str, str] = {}
"""Title of a program, or the name of a class of models → what computed its last run, and why."""
_deciding = Lock()


def status() -> str:
    """What computed the runs of ``train`` so far, a line for each program or class of models: a
    compiled program, and by which compiler; or numpy, and why.

    Such as ``MultiHeadAttention: compiled by g++ 12.2.0, 8 samples at once:
    /home/me/.cache/livegrad/1f0c….so``, or ``MultiHeadAttention: numpy: no compiler found; pip
    install 'livegrad[fast]' brings one``.
    """
    # Copied, because another thread may begin to train.
    lines = [f"{name}: {said}" for name, said in dict(_said).items()]
    if not lines:
        lines = [f"nothing was trained yet; {_version(_compiler()) if switched_on() else OFF}"]
    return printable("\n".join(lines))


def note(name: str, reason: str) -> None:
    """Keep for ``status`` why numpy does the work."""
    _said[name] = f"numpy: {reason}"


def _line(found):
    line = f"compiled by {_version(_compiler())}, {found.lanes} samples at once: {found.path}"
    return f"{line}, for this process alone: {found.temporary}" if found.temporary else line


def switched_on() -> bool:
    """Whether the environment leaves compiled programs on."""
    return os.environ.get("LIVEGRAD_COMPILED") != "0"


def warm(programs: Iterable[Program]) -> str:
    """Compile programs ahead, and return ``status()``."""
    for program in programs:
        try:
            _said[program.title] = _line(library(program))
        except Unusable as error:
            note(program.title, str(error))
    return status()


def library(program: Program) -> Library:
    """The compiled program.

    Raises Unusable that says why there is none: then numpy does the work.
    """
    if not switched_on():
        raise Unusable(OFF)
    with _deciding:  # two libraries of one file would share its static memory
        try:
            title = program.title
        except Untraceable as error:
            raise Unusable(str(error)) from None
        found = _found[title] = _found.get(title) or _made(program)
    if isinstance(found, str):
        raise Unusable(found)
    return found


def refuse(program: Program, reason: str) -> NoReturn:
    """Leave a program to numpy in this process: it was found wrong where it was to be used."""
    with _deciding:
        _found[program.title] = reason
    _said.pop(program.title, None)
    raise Unusable(reason)


def _made(program):
    """The library, or why there is none."""
    try:
        return _usable(program)
    except (Unusable, _commands.Failed) as error:
        return str(error)
    # whatever a compiler, a disk or a damaged file does: numpy can do the work
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _usable(program):
    """The library from the cache, or compiled now; compared with numpy in either case."""
    compiler = _compiler()
    if compiler is None:
        raise Unusable(NO_COMPILER)
    key = _digest(
        "\n".join(
            [program.title, program.digest, *FLAGS, *compiler, _processor(), _printers()]
        ).encode()
    )
    folder, temporary = _cache()
    cases = _cases(program)
    found = _kept(folder, key, temporary)
    if found is None:
        with _told(program.name, compiler[0]):
            found = _compiled_and_kept(program, compiler, folder, key, temporary, cases)
    _require_right(_trial.answers(found.functions, [case.question() for case in cases]), cases)
    return found


@contextmanager
def _told(name, compiler):
    """Say to whoever waits what takes long, and how it can be ended; not on a page of the book, which
    is the same on every machine."""
    words = (
        f"{compiler} compiles {name}, once for this machine; interrupt it, and compiled=False "
        "trains by numpy\n"
    )
    waiting = Timer(PATIENT, lambda: sys.stderr.write(words))
    waiting.daemon = True
    if not book_is_asked():
        waiting.start()
    try:
        yield
    finally:
        waiting.cancel()


# Is it right?


class Case(NamedTuple):
    """What a library is compared at: sizes, what it reads, and what numpy makes of it, both by the
    names of buffers."""

    sizes: dict[str, int]
    arrays: dict[str, np.ndarray]
    wanted: dict[str, dict[str, np.ndarray]]

    def question(self) -> dict[str, Any]:
        """As the trial takes it."""
        return {
            "sizes": list(self.sizes.values()),
            "arrays": {name: a.tolist() for name, a in self.arrays.items()},
            "entries": {entry: list(results) for entry, results in self.wanted.items()},
        }


def _cases(program):
    cases = []
    for arrays in program.examples or _random_examples(program):
        sizes = {
            size: float(length)
            for name, shape in program.shapes.items()
            for size, length in zip(shape.split(), arrays[name].shape, strict=True)
            if not size.isdigit()
        }
        wanted = {
            entry: _joined(program, results, sizes)
            for entry, results in program.formulas(arrays).items()
        }
        cases.append(
            Case(
                {size: sizes[size] for size in program.sizes},
                _joined(program, arrays, sizes),
                wanted,
            )
        )
    return cases


def _random_examples(program):
    rng = np.random.default_rng(0)
    for values in CHECKED:
        sizes = dict(zip(program.sizes, values, strict=False))
        arrays = {name: rng.standard_normal(program.shape(name, sizes)) for name in program.shapes}
        # labels of a classifier, and good enough as targets
        yield arrays | {"y": np.sign(arrays["y"])}


def _require_right(answers, cases):
    """Raise Unusable where an answer is not numpy's."""
    for case, answer in zip(cases, answers, strict=True):
        for entry, wanted in case.wanted.items():
            for name, want in wanted.items():
                got = np.array(answer[entry][name])
                if (
                    got.shape != want.shape
                    # Not by `>`, which would let NaN pass.
                    or not abs(got - want).max() <= TOLERANCE * abs(want).max()
                ):
                    raise Unusable(
                        f"the compiled program gives another {name} than numpy at the sizes "
                        f"{case.sizes}"
                    )


def _require_right_elsewhere(path, cases):
    """Load a library in a process of its own, and compare it with numpy; raise Unusable where
    anything goes wrong."""
    if not sys.executable:
        raise Unusable("no Python is known that could try the compiled program")
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asked, answered = Path(folder, "asked.json"), Path(folder, "answered.json")
        asked.write_text(json.dumps([case.question() for case in cases]), "utf-8")
        # -I and -S: neither the environment nor a package that is installed decides what it runs.
        command = [
            sys.executable,
            "-I",
            "-S",
            _trial.__file__,
            str(path),
            str(asked),
            str(answered),
        ]
        code, _, errors = _commands.run(command)
        if code:
            said = errors.splitlines()[-1:] or ["it says nothing"]
            raise Unusable(f"the compiled program {_ending(code)} when it is tried: {said[0]:.300}")
        _require_right(json.loads(answered.read_text("utf-8")), cases)


def _ending(code):
    return f"is killed by signal {-code}" if code < 0 else f"ends with status {code}"


def _joined(program, arrays, sizes):
    """The buffers of arrays, flat: those that are parts of a longer one in their places."""
    buffers: dict[str, np.ndarray] = {}
    for name, a in arrays.items():
        place = program.places.get(name)
        if place is None:
            buffers[name] = np.ravel(a)
            continue
        whole = buffers.setdefault(place.buffer, np.zeros(place.value(place.length, sizes)))
        whole[place.index(np.shape(a), sizes)] = a
    return buffers


# Compiled, and kept


def _compiled_and_kept(program, compiler, folder, key, temporary, cases):
    """A new library: in the cache; in a folder of this process where that cannot be written."""
    found = _compiled(program.text(), *compiler[1:-1])
    keep = partial(_keep, found, f"{key}-{_digest(found)}{SUFFIX}", cases)
    try:
        keep(folder)
    except OSError as error:  # no room, or nothing can be written there
        folder, temporary = _private(), str(error)
        keep(folder)
    library = _kept(folder, key, temporary)
    if library is None:
        raise Unusable(f"the compiled program cannot be read again in {folder}")
    return library


def _compiled(text, *command):
    """The bytes of a library."""
    # For ARM the option that names a processor is -mcpu; -march names an architecture.
    native = (
        "-march=native" if platform.machine().lower() in ("x86_64", "amd64") else "-mcpu=native"
    )
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        source, built = Path(folder, "program.cc"), Path(folder, f"program{SUFFIX}")
        source.write_text(text, "utf-8")
        caches = {f"ZIG_{kind}_CACHE_DIR": str(Path(folder, kind)) for kind in ("GLOBAL", "LOCAL")}
        code, _, errors = _commands.run(
            [*command, *FLAGS, native, f"-I{RUNTIME.parent}", str(source), "-o", str(built)],
            environment=os.environ | caches,
        )
        if code or not built.is_file():
            said = errors or f"it {_ending(code)} and leaves no library"
            raise Unusable(f"{' '.join(command)} does not compile it: {said:.500}")
        return built.read_bytes()


def _keep(library, name, cases, folder):
    """Write a library, which gets its name when it has been tried."""
    with whole_file(folder / name, 0o600) as file:
        file.write(library)
        file.close()  # Windows loads no file that is open to be written
        _require_right_elsewhere(file.name, cases)
    _forget_oldest(folder)


def _kept(folder, key, temporary):
    """The library of this key in a folder, if it is whole, and nobody else may have written it; or
    None."""
    for path in folder.glob(f"{key}-*{SUFFIX}"):
        with suppress(OSError), open_own(path) as file:
            if path.name == f"{key}-{_digest(file.read())}{SUFFIX}":
                with suppress(OSError):
                    os.utime(path)  # used now
                return Library(file, temporary)
    return None


def _forget_oldest(folder):
    """Keep the cache small: a reader who edits a model compiles one program after the other."""
    with suppress(OSError):
        # `_kept` sets this time at every use, so what was not used for longest comes first.
        paths = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime)
        for path in paths[:-MOST]:
            path.unlink()


def _cache():
    """The folder that keeps libraries, and why it is not the user's cache, if it is not."""
    try:
        return own_folder(_folder()), ""
    except (OSError, RuntimeError) as error:  # no home, no room, or others may write there
        return _private(), str(error)


@cache
def _private():
    """A folder of this process, which nobody else may enter."""
    folder = Path(mkdtemp(prefix="livegrad-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _folder():
    """The user's cache folder of livegrad; a relative one in the environment counts as none, as XDG
    specifies it."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "livegrad"
    variable, usual = (
        ("LOCALAPPDATA", "AppData/Local") if os.name == "nt" else ("XDG_CACHE_HOME", ".cache")
    )
    chosen = os.environ.get(variable, "")
    return Path(chosen if os.path.isabs(chosen) else Path.home() / usual, "livegrad")


def _digest(data):
    return sha256(data).hexdigest()[:24]


@cache
def _printers():
    """The hash of what programs are printed by: they need not be recorded to be found."""
    return _digest(
        b"".join(path.read_bytes() for path in (*sorted(RUNTIME.parent.glob("*.py")), RUNTIME))
    )


# Compiler and processor


@cache
def _compiler():
    """A compiler's name, its command, and its version or what stands for it; None if there is
    none."""
    # The g++ of Windows puts vectors of 32 bytes where they may not be (its bug 54412).
    for name in ("clang++",) if os.name == "nt" else ("c++", "g++", "clang++"):
        path = shutil.which(name)
        if path and os.path.isfile(path) and not _is_stub(path):
            # These stand for the version, which only a process could tell: too slow for every run.
            file = os.stat(path)
            return name, path, f"{os.path.realpath(path)} {file.st_size} {file.st_mtime_ns}"
    if find_spec("ziglang"):
        from importlib.metadata import version  # takes as long to import as the rest of this file

        with suppress(ImportError):  # a folder of that name is no wheel
            # As C's compiler: that of C++ compiles a library first, which takes a minute.
            return "ziglang", sys.executable, "-m", "ziglang", "cc", "-x", "c++", version("ziglang")
    return None


@cache
def _version(compiler):
    """A compiler's name and version, for people."""
    if compiler is None:
        return NO_COMPILER
    if compiler[0] == "ziglang":
        return f"ziglang {compiler[-1]}"
    try:
        said = _commands.run([compiler[1], "--version"], QUESTION).output
    except (_commands.Failed, _commands.Late):
        said = ""
    return said.partition("\n")[0][:100] or f"{compiler[0]} (which does not say its version)"


def _is_stub(path):
    """Whether this is the command of macOS that only asks to install the tools."""
    if sys.platform != "darwin" or not path.startswith("/usr/bin/"):
        return False
    try:
        return _commands.run(["xcode-select", "-p"], QUESTION).code != 0
    except (_commands.Failed, _commands.Late):
        return True


@cache
def _processor():
    """What a processor can do, as far as the system says it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            # The first processor ends at a blank line; a line that varies, such as its MHz, would
            # change the key at every run.
            said = [
                line
                for line in takewhile(str.strip, lines)
                if line.split("\t")[0]
                in ("vendor_id", "model name", "flags", "Features", "CPU implementer", "CPU part")
            ]
    except OSError:
        said = [platform.processor()]
    return "".join([platform.system(), platform.machine(), sys.byteorder, *said])
