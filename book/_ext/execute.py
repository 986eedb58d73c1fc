"""Execute every notebook of the book's contents, two or more at once: how ``make book`` begins.

Their outputs go to a fresh cache in a folder, from which Sphinx, which would execute one notebook
after the other, takes them when the variable BOOK_CACHE names it (see bookext.py).
"""

import os
import pickle
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing, suppress
from pathlib import Path
from queue import SimpleQueue
from subprocess import PIPE

import edition
import nbformat
import yaml
import zmq
from ending import Unbuilt, end
from jupyter_cache import get_cache
from jupyter_cache.cache.main import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from psutil import Popen
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
    failed, in words. Nothing is stored of a kernel that died, or did not begin."""
    notebook, folder = nbformat.read(path, nbformat.NO_CONVERT), str(path.parent)
    timeout = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["execute"]["timeout"]
    # A port may be taken by another program while the kernel begins; and what a reader's own
    # IPython runs at its start is no part of the book.
    with tempfile.TemporaryDirectory() as place:
        os.environ["IPYTHONDIR"] = place
        listen = {"transport": "ipc", "ip": f"{place}/kernel"} if os.name == "posix" else KEYS
        try:
            config = Config({"KernelManager": listen})
            result = single_nb_execution(
                notebook, cwd=folder, timeout=timeout, allow_errors=False, config=config
            )
        except Exception as error:
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


class Worker:
    """A process that executes notebooks, in a session of its own, where no Ctrl-C reaches it."""

    def __init__(self):
        command = [sys.executable, __file__]
        self.process = Popen(command, stdin=PIPE, stdout=PIPE, start_new_session=True)

    def execute(self, path):
        """What ``execute`` returns there.

        Raises Unbuilt where the process ended.
        """
        try:
            pickle.dump(path, self.process.stdin)
            self.process.stdin.flush()
            return pickle.load(self.process.stdout)
        except (BrokenPipeError, EOFError) as error:
            name = path.relative_to(ROOT)
            raise Unbuilt(
                f"the process running {name} was killed, perhaps for lack of memory"
            ) from error


def serve():
    """What a worker does: execute each path that comes, and answer; what is printed is no answer."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with suppress(EOFError):
        while path := pickle.load(sys.stdin.buffer):
            pickle.dump(execute(path), answers)
            answers.flush()


def each(paths):
    """What ``execute`` returns of each path, as it comes; whatever ends this ends the workers."""
    idle, workers = SimpleQueue(), [Worker() for _ in range(min(os.cpu_count(), len(paths)))]
    for worker in workers:
        idle.put(worker)

    def one(path):
        worker = idle.get()
        try:
            return worker.execute(path)
        finally:
            idle.put(worker)

    threads = ThreadPoolExecutor(len(workers))
    try:
        for done in as_completed([threads.submit(one, path) for path in paths]):
            yield done.result()
    finally:
        end([worker.process for worker in workers])
        threads.shutdown(cancel_futures=True)


def main(folder):
    """Execute all, a line for each.

    Raises Unbuilt where some failed, once it has said why; at once where a kernel died.
    """
    shutil.rmtree(folder, ignore_errors=True)
    cache, failures = get_cache(folder), {}
    with closing(each(notebooks())) as done:
        for path, bundle, failure in done:
            name = path.relative_to(ROOT).with_suffix("").as_posix()
            if not bundle:
                where = failure.replace("\n", ": ")
                raise Unbuilt(f"the kernel of {name} died, perhaps for lack of memory ({where})")
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
        raise Unbuilt(f"{', '.join(failures)} failed, as said above")


if __name__ == "__main__":
    serve()
