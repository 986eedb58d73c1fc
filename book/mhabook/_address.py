"""Where the book stands: its repository, and its pages on the web."""

import re
from importlib.metadata import PackageNotFoundError, metadata


def repository() -> str:
    """The address of the book's repository, as the installed package states it; empty if it is not
    installed."""
    try:
        # The core metadata write each address as "label, address".
        addresses = dict(
            entry.split(", ", 1) for entry in metadata("mhabook").get_all("Project-URL") or ()
        )
    except PackageNotFoundError:
        return ""
    return addresses.get("Repository", "").rstrip("/")


def is_placeholder(address: str) -> bool:
    """Whether an address still has the name that ``make address`` fills in, and leads nowhere."""
    return bool(re.match(r"https://(github\.com/)?OWNER\b", address))


def web_address(repository: str) -> str:
    """The address at which GitHub Pages serves the book: NAME.github.io/REPOSITORY/, or that of
    NAME's own site.

    It is empty without a repository.
    """
    if not repository:
        return ""
    owner, name = repository.split("/")[-2:]
    host = f"{owner}.github.io"
    # GitHub ignores case in names; the repository NAME.github.io is served at the root of its host.
    return f"https://{host}/" if name.lower() == host.lower() else f"https://{host}/{name}/"
