"""Execute every notebook of the book's contents, two or more at once: ``python book/_ext/execute.py FOLDER``.

Their outputs go to a fresh cache in FOLDER, from which Sphinx, which would execute one notebook after the other, takes
them when the variable BOOK_CACHE names it (see bookext.py).
"""

import logging
import shutil
import sys
from pathlib import Path

import edition
import yaml
from jupyter_cache import get_cache
from jupyter_cache.executors import load_executor

ROOT = Path(__file__).parents[2]


def notebooks():
    """The notebooks of _toc.yml, the largest first: what takes long begins early."""
    found = [path for page in edition.pages(ROOT) if (path := ROOT / f"{page.name}.ipynb").exists()]
    return sorted(found, key=lambda path: -path.stat().st_size)


def main(folder):
    """Execute all; print the traceback of the first cell that failed in each, and say so by the exit status."""
    timeout = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["execute"]["timeout"]
    shutil.rmtree(folder, ignore_errors=True)
    cache = get_cache(folder)
    for path in notebooks():
        cache.add_nb_to_project(str(path))
    executor = load_executor("local-parallel", cache, logging.getLogger(__name__))
    done = executor.run_and_cache(timeout=timeout, allow_errors=False)
    for record in cache.list_project_records():
        if record.traceback:
            print(f"{record.uri}\n{record.traceback}", file=sys.stderr)
    failed = [*done.excepted, *done.errored]
    print(f"executed {len(done.succeeded)} notebooks" + "".join(f"\nFAILED: {uri}" for uri in failed), flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
