"""``stored``: the tables that come with the book, in ``book/results/``, wherever a notebook runs."""

from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from mhabook._address import repository
from mhabook.studies.files import unpack
from mhabook.studies.table import Table

FOLDER = Path("book", "results")


def stored(name):
    """The ``Table`` ``book/results/<name>`` that a page of the book shows.

    It is read from the clone that the notebook lies in, or that mhalib was imported from. A notebook that was opened
    elsewhere, in Colab for example, has no clone: then the file is read from the book's repository, and a line says so.

    Raises
    ------
    FileNotFoundError
        if the file is in none of these places; the message names the folders and the address.
    ValueError
        if the file is damaged.

    Examples
    --------
    >>> table = mhabook.stored("heads.npz")
    >>> "H" in table.columns
    True
    """
    here = Path.cwd()
    folders = [parent / FOLDER for parent in (here, *here.parents, *Path(__file__).resolve().parents[3:4])]
    for folder in folders:
        if (folder / name).exists():
            return Table.load(folder / name)
    address = f"{repository()}/raw/main/{(FOLDER / name).as_posix()}"
    try:
        with urlopen(address, timeout=60) as answer:
            data = answer.read()
    except (URLError, OSError, ValueError) as error:
        raise FileNotFoundError(f"name: {name} is not in {FOLDER.as_posix()} of this folder or one above it, and "
                                f"{address} cannot be read ({error})") from error
    print(f"read from {address}")
    return Table(*unpack(data))
