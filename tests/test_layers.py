"""Imports inside mhalib point down the list of layers, and every file stays small enough to read."""

import ast
import io
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "mhalib"
LAYERS = ["_address", "_array", "whitening", "attention", "losses", "models", "data", "optim", "training"]
LAYERS += ["networks", "landscape", "surface", "theory", "sweeps", "reproduction", "_still", "_render", "plots"]
LAYERS += ["exploring", "live"]
# These know nothing of attention: what they may import of ours, besides their own folder.
APART = {"optim": {"_array", "whitening"}, "data": {"_array", "whitening"}, "plots": {"_array", "_render"}}
APART |= {"exploring": {"_render"}, "_still": set(), "_render": {"_still"}}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")
FOLDERS = ["mhalib", "tests", "benchmarks", ".ci", "book/_ext", "book/results"]
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def of_each(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda p: p.relative_to(ROOT).as_posix())


def tree(path):
    return ast.parse(path.read_text("utf-8"))


def layer(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path):
    """The dotted names that a file imports."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = absolute(node, path)
            found |= {f"{module}.{alias.name}" for alias in node.names}
    return found


def absolute(node, path):
    """`from ..x import y` names mhalib.x."""
    if not node.level:
        return node.module
    package = ["mhalib", *path.relative_to(PACKAGE).parent.parts]
    above = package[: len(package) - node.level + 1]
    return ".".join([*above, node.module] if node.module else above)


def layers_imported(path):
    """The layers of mhalib that a file of it imports; "" is mhalib as a whole."""
    ours = [name.split(".") for name in imported(path) if name.split(".")[0] == "mhalib"]
    return {parts[1] if len(parts) > 1 else "" for parts in ours}


def docstrings(path):
    """The strings that document a file, a class or a function."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    firsts = [node.body[0] for node in ast.walk(tree(path)) if isinstance(node, documented) and node.body]
    return [n for n in firsts if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)]


def code_lines(path):
    """The numbers of the lines that hold code: no comments, no docstrings, no blanks."""
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    silent |= {tokenize.ENCODING, tokenize.ENDMARKER}
    tokens = tokenize.tokenize(io.BytesIO(path.read_bytes()).readline)
    spoken = {i for t in tokens if t.type not in silent for i in range(t.start[0], t.end[0] + 1)}
    return spoken - {i for n in docstrings(path) for i in range(n.lineno, n.end_lineno + 1)}


def body_lengths(path):
    """Name and line → lines of code in the body, for every function."""
    kinds, spoken = (ast.FunctionDef, ast.AsyncFunctionDef), code_lines(path)
    functions = [node for node in ast.walk(tree(path)) if isinstance(node, kinds)]
    return {f"{f.name}, line {f.lineno}": len(spoken & set(range(f.body[0].lineno, f.end_lineno + 1)))
            for f in functions}


@of_each(MODULES)
def test_every_module_has_its_layer(path):
    assert layer(path) in LAYERS, f"say in LAYERS where {layer(path)} stands"


@of_each(MODULES)
def test_imports_point_down(path):
    upward = {name for name in layers_imported(path) if name not in LAYERS[: LAYERS.index(layer(path)) + 1]}
    assert not upward


@of_each([path for path in MODULES if layer(path) in APART])
def test_layers_apart_know_nothing_of_attention(path):
    assert layers_imported(path) <= APART[layer(path)] | {layer(path)}


# The formulas take either library. A network of several layers is torch's own: its modules, autograd and optimizers.
KNOW_TORCH = {PACKAGE / "_array.py", PACKAGE / "models" / "transformer.py", PACKAGE / "networks" / "steps.py",
              PACKAGE / "models" / "network.py"}


@of_each([path for path in [*MODULES, PACKAGE / "__init__.py"] if path not in KNOW_TORCH])
def test_only_arrays_and_networks_know_torch(path):
    named = {node.id for node in ast.walk(tree(path)) if isinstance(node, ast.Name)}
    looked_up = {node.value for node in ast.walk(tree(path)) if isinstance(node, ast.Constant)}
    words = imported(path) | named | {value for value in looked_up if isinstance(value, str)}
    assert not {word for word in words if word.split(".")[0] == "torch"}


RESULTS = sorted((ROOT / "book" / "results").glob("*.py"))
TOOLS = {path.stem for folder in FOLDERS[1:] for path in (ROOT / folder).rglob("*.py")} | {"benchmarks", "tests"}


@of_each(RESULTS)
def test_a_script_of_results_stands_on_mhalib_alone(path):
    """Its command runs the file by itself: no other script, no test and no tool of the book is beside it."""
    assert not {name.split(".")[0] for name in imported(path)} & TOOLS


@of_each(MODULES)
def test_mhalib_knows_none_who_use_it(path):
    assert not {name.split(".")[0] for name in imported(path)} & TOOLS


def test_oracles_import_nothing_of_ours():
    names = imported(ROOT / "tests" / "oracles.py")
    assert not {name for name in names if name.split(".")[0] in {"mhalib", "strategies"}}


@of_each(SOURCES)
def test_functions_are_short(path):
    assert not {name: length for name, length in body_lengths(path).items() if length > 40}


@of_each(SOURCES)
def test_files_are_short(path):
    assert len(code_lines(path)) <= 300
