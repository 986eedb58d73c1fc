"""Execute every notebook of the book's contents, two or more at once: ``python book/_ext/execute.py
FOLDER``.

Their outputs go to a fresh cache in FOLDER, from which Sphinx, which would execute one notebook
after the other, takes them when the variable BOOK_CACHE names it (see bookext.py).
"""

import multiprocessing
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import edition
import nbformat
import yaml
import zmq
from jupyter_cache import get_cache
from jupyter_cache.cache.main import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from traitlets.config import Config

ROOT = Path(__file__).parents[2]
# Without keys of its own a kernel that listens on ports warns that others on this machine could
# listen.
KEYS = {"transport_encryption": "auto" if zmq.has("curve") else "disabled"}
COLORS = re.compile(r"\x1b\[[\d;]*m")
ADVICE = """
A page fails only where a cell raises. To look into it: `make edit`, open the page, run its cells up to this one.
If nothing of the page was changed here, the environment may be at fault: remove .venv, and build again."""


def notebooks():
    """The notebooks of _toc.yml, the largest first: what takes long begins early."""
    found = [path for page in edition.pages(ROOT) if (path := ROOT / f"{page.name}.ipynb").exists()]
    return sorted(found, key=lambda path: -path.stat().st_size)


def execute(path):
    """One notebook in a kernel of its own: its path, what jupyter-cache stores of it, and what
    failed, in words."""
    notebook, folder = nbformat.read(path, nbformat.NO_CONVERT), str(path.parent)
    timeout = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["execute"]["timeout"]
    # a port may be taken by another program while the kernel begins
    with tempfile.TemporaryDirectory() as sockets:
        listen = {"transport": "ipc", "ip": f"{sockets}/kernel"} if os.name == "posix" else KEYS
        try:
            config = Config({"KernelManager": listen})
            result = single_nb_execution(
                notebook, cwd=folder, timeout=timeout, allow_errors=False, config=config
            )
        except Exception as error:  # the kernel died, or did not begin
            return path, None, failed_cell(notebook, error)
    bundle = CacheBundleIn(notebook, str(path), data={"execution_seconds": result.time})
    return path, bundle, result.err and failed_cell(notebook, result.err)


def failed_cell(notebook, error):
    """The cell that an error stopped at, and the error's own lines."""
    reached, said = "no cell was run", f"{type(error).__name__}: {error}"
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                return f"cell {cell.id}\n" + COLORS.sub("", "\n".join(output.traceback))
        if cell.get("execution_count"):
            reached = f"cell {cell.id}, or the next one"
    return f"{reached}\n{said}"


def main(folder):
    """Execute all, a line for each; say what failed, and by the exit status that something did."""
    shutil.rmtree(folder, ignore_errors=True)
    cache, failures = get_cache(folder), {}
    with multiprocessing.Pool() as pool:
        for path, bundle, failure in pool.imap_unordered(execute, notebooks()):
            name = path.relative_to(ROOT).with_suffix("").as_posix()
            if failure:
                failures[name] = failure
            else:
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
            took = " FAILED" if failure else f"{bundle.data['execution_seconds']:5.0f} s"
            print(f"   {name:60}{took}", flush=True)
    for name, failure in failures.items():
        print(f"\n{name}, {failure}", file=sys.stderr)
    if failures:
        print(ADVICE, file=sys.stderr)
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
