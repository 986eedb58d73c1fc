"""The command line of a script of ``book/results``: where its tables go, and that none is replaced unasked."""

import argparse
import re
from pathlib import Path


def tables(docstring):
    """The names of the tables that a script writes, as its docstring gives them."""
    return sorted(set(re.findall(r"\w+\.npz", docstring)))


def outputs(script, docstring, argv=None):
    """Name of each table, without .npz → the file to write it to: ``outputs(__file__, __doc__)`` begins a script.

    The docstring names the command and the tables, and is shown by ``--help``. The tables lie beside the script, unless
    ``--out`` names another folder, or a file for the only one. The command ends here, before anything is computed, for
    ``--help``, for an argument that is not known, and where a table would be replaced without ``--overwrite``.
    """
    script, names = Path(script), tables(docstring)
    parser = argparse.ArgumentParser(prog=f"python book/results/{script.name}", description=docstring,
                                     epilog=f"Tables: {', '.join(names)}.", allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, metavar="PLACE", default=script.parent,
                        help="folder to write to (that of the script), or a file for the only table")
    add_overwrite(parser)
    chosen = parser.parse_args(argv)
    place = chosen.out.expanduser()
    files = {name: place / name for name in names}
    if place.suffix == ".npz" and len(names) == 1:
        files = {names[0]: place}
    elif place.suffix == ".npz" or place.is_file():
        parser.error(f"--out: expected a folder{' or a new .npz file' * (len(names) == 1)} for {', '.join(names)}, "
                     f"got the file {place}")
    refuse_overwriting(parser, files.values(), chosen.overwrite)
    return {name.removesuffix(".npz"): file for name, file in files.items()}


def add_overwrite(parser):
    """Give a parser the option without which ``refuse_overwriting`` ends the command."""
    parser.add_argument("--overwrite", action="store_true", help="replace tables that are there")


def refuse_overwriting(parser, files, overwrite):
    """End with a message if one of the files is there, and nobody asked to replace it."""
    if not overwrite and (there := [str(file) for file in files if file.exists()]):
        named = ", ".join(there[:3]) + (f" and {len(there) - 3} more" if len(there) > 3 else "")
        elsewhere = ", or write elsewhere with --out" if "--out" in parser.format_usage() else ""
        parser.error(f"nothing was computed, since {named} would be replaced: add --overwrite{elsewhere}")
