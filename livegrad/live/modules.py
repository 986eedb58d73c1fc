"""ES modules linked into one text: what a widget sends to a page that has no server to ask for
files.

Bundlers (esbuild, rollup) need Node or a binary where the wheel is built. The book is installed by
``pip install git+…`` in Colab, where neither is, and what a bundler makes is not committed. So
modules keep to the little that this file reads: named imports (``a as b``, too) and named exports,
and a default export that ends an entry.
"""

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
_DEFAULT = re.compile(r"^export default ", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*//.*\n", re.MULTILINE)
_OTHER = re.compile(r"^\s*(?:import|export)\b|\bimport\s*[(.]", re.MULTILINE)
PROGRAM = Path("program.js")
FORM = 'import { name } from "./file.js"; export function, const or class; and export default at the end'


@cache
def link(entry: Path, program: str | None = None) -> str:
    """The function ``linked`` as JavaScript: it runs a module and all that it imports, and gives
    what it exports.

    Each file has a scope of its own, so that two may use one private name. The function needs
    nothing outside of it: its text is also the text of a Web Worker. A path begins with a dot,
    beside the file, or with the name of a Python package. A file of bytes, ``x.wasm``, exports
    ``hex``; ``livegrad:program`` is the module whose text is given.

    Raises ValueError for a form that is not read, a name that is not exported, modules that import
    each other; with file and line.
    """
    order = {}
    _add(Path(entry).resolve(), order, (), program)
    return "\n".join(
        [
            'function linked() {\n"use strict";',
            *(text for _, _, text in order.values()),
            f"return $m{len(order) - 1};\n}}",
        ]
    )


def widget_module(entry: Path, program: str | None = None) -> str:
    """The module of a widget whose ``render`` is in the default export of ``entry``; raises as
    ``link``."""
    return link(entry, program) + "\nexport default linked().default;\n"


def _add(file, order, parents, program):
    """Put a file behind all that it imports: path → (its place, the names that it exports, its
    text)."""
    if file in order:
        return
    source, given = program if file == PROGRAM else _source(file), []

    def refused(match, what):
        line = source.count("\n", 0, match.end()) + 1
        raise ValueError(f"{file}, line {line}: {what}")

    for match in _IMPORT.finditer(source):
        there = _found(match[2], file)
        if there in (*parents, file):
            refused(
                match, f"expected no circle of modules, got {match[2]}, which imports this file"
            )
        if not (there.is_file() or (there == PROGRAM and program is not None)):
            refused(match, f"expected a file, got {match[2]}")
        _add(there, order, (*parents, file), program)
        place, exported, _ = order[there]
        names = [name.split(" as ") for name in map(str.strip, match[1].split(",")) if name]
        for name, *_ in names:
            if name not in exported:
                refused(match, f"expected a name that {match[2]} exports, got {name}")
        given.append(f"const {{ {', '.join(map(': '.join, names))} }} = $m{place};")
    names = _EXPORT.findall(source)
    # An import leaves its line breaks behind, so that the line numbers of errors stay right.
    body = _EXPORT.sub("", _IMPORT.sub(lambda match: "\n" * match[0].count("\n"), source))
    body, ends = _DEFAULT.subn("const $default = ", body)
    if wrong := _OTHER.search(body):
        # By the end of the match, which may begin with the blank lines before.
        line = body.count("\n", 0, wrong.end()) + 1
        raise ValueError(f"{file}, line {line}: expected {FORM}, got {wrong[0].strip()}")
    result = ", ".join([*names, *["default: $default"] * ends])
    # a page need not carry what only readers of the file read
    text = _COMMENT.sub("", body).strip()
    order[file] = (
        len(order),
        names,
        "\n".join(
            [
                f"const $m{len(order)} = (() => {{ // {file.name}",
                *given,
                text,
                f"return {{ {result} }};\n}})();",
            ]
        ),
    )


def _source(file):
    if file.suffix == ".js":
        return file.read_text("utf-8")
    # compressed, a page carries fewer bytes than of base64
    return f'export const hex = "{file.read_bytes().hex()}";\n'


def _found(name, beside):
    """The file that an import names."""
    if name == "livegrad:program":
        return PROGRAM
    if name.startswith("."):
        return (beside.parent / name).resolve()
    package, _, rest = name.partition("/")
    return (Path(str(files(package))) / rest).resolve()
