"""Sets the repository's address, which pyproject.toml holds, everywhere: `make address
URL=https://github.com/…`."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def web_address(repository):
    """Where the pages stand, as the book has it; of the package only this file is needed."""
    spec = spec_from_file_location("address", ROOT / "book/mhabook/_address.py")
    spec.loader.exec_module(module := module_from_spec(spec))
    return module.web_address(repository).encode()


url = "".join(sys.argv[1:])
new = re.fullmatch(
    r"https://github\.com/([A-Za-z0-9][A-Za-z0-9-]*/\w[\w.-]*)(?<!\.git)(?<!\.)", url, re.ASCII
)
if not url:
    sys.exit("usage: make address URL=https://github.com/NAME/REPOSITORY")
if not new:
    sys.exit(
        "nothing was changed: the address must look like https://github.com/NAME/REPOSITORY, "
        f"with no ending slash, no .git and nothing after it; got {url!r}"
    )
if not shutil.which("git"):
    sys.exit("nothing was changed: git is not installed, and finds the files that hold the address")
old = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]
here = re.compile(
    rf"(github(?:\.com)?/){re.escape(old.removeprefix('https://github.com/'))}(?![\w-])".encode()
)
kinds = ["*.cff", "*.ipynb", "*.md", "*.toml", "*.yml"]
search = ["git", "grep", "-zlI", "--no-index", "--exclude-standard", "github", "--", *kinds]
for name in subprocess.check_output(search, cwd=ROOT, text=True).split("\0")[:-1]:
    text = (ROOT / name).read_bytes()  # bytes, so that line endings stay as they are
    text = text.replace(web_address(old), web_address(url))
    (ROOT / name).write_bytes(here.sub(rb"\g<1>" + new[1].encode(), text))
print(f"== the address is now {url}")
