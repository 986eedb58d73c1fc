"""Fetch the third-party files that the book and live figures bring along, as the manifest of their
folder lists them, or with --check verify them.

To renew a work, set its version in its manifest, in book/_static/vendor or livegrad/live/vendor, or
add a file and where it stands `from` in the package, and run this. It needs npm and the installed wheels; a clone needs
neither, as the files are committed. What stands `before` a file is a word to the browser: that all
of plotly.js is needed as soon as it has come, so that it is compiled beside the page, and not while
the page waits for it. Of a font the ``letters`` are kept; cutting it needs fonttools 4.68.0.
"""

import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path

VENDOR = Path(__file__).parents[1] / "_static" / "vendor"
FIGURES = Path(__file__).parents[2] / "livegrad" / "live" / "vendor"
KEPT = {"paths.js", "licenses/requirejs.txt"}  # written for the book, not fetched
SOURCE_MAP = re.compile(rb"^//# sourceMappingURL=.*\n?", re.MULTILINE)


def npm_files(name, version):
    """Read every file of the package's npm tarball, whose checksum npm compares: {name:
    content}."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--pack-destination", folder, f"{name}@{version}"]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError as error:
            raise SystemExit("fetching needs npm, which is not on PATH") from error
        except subprocess.CalledProcessError as error:
            said = [
                line
                for line in error.stderr.splitlines()
                if line.startswith(("npm error", "npm ERR!"))
            ]
            raise SystemExit(
                f"npm could not fetch {name}@{version}: {' '.join(said[:3]) or error}"
            ) from error
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as tar:
            return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}


def wheel_files(name, version):
    """Read every file of the installed wheel, which must be of the wanted version."""
    wheel = metadata.distribution(name)
    if wheel.version != version:
        raise SystemExit(f"{name} {version} is wanted, {wheel.version} is installed")
    return {
        str(path): path.locate().read_bytes() for path in wheel.files if path.locate().is_file()
    }


def manifest(folder):
    """The works of a folder, each with its files."""
    return json.loads((folder / "manifest.json").read_text("utf-8"))


def fetch(work, folder):
    """Write the files of a work into a folder, and into its entry what they hash to."""
    name, version = work["name"], work["version"]
    contents = {"npm": npm_files, "PyPI": wheel_files}[work["source"]](name, version)
    for to, file in work["files"].items():
        found = next((inside for inside in contents if fnmatchcase(inside, file["from"])), None)
        if found is None:
            raise SystemExit(f"{name} {version} has no file {file['from']}")
        path, content = folder / to, contents[found]
        if "letters" in file:
            content = cut(content, file["letters"])
        path.parent.mkdir(parents=True, exist_ok=True)
        first = f"{file['before']}\n".encode() if "before" in file else b""
        path.write_bytes(first + (SOURCE_MAP.sub(b"", content) if to.endswith(".js") else content))
        file["sha256"] = sha256(path)


def cut(font, letters):
    """A font with some letters alone, without what only serves small screens."""
    try:
        from fontTools import subset
    except ImportError as error:
        raise SystemExit("cutting a font needs fonttools: pip install fonttools") from error
    options = subset.Options(hinting=False, layout_features=[], drop_tables=["FFTM"])
    whole, small = subset.load_font(io.BytesIO(font), options), io.BytesIO()
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=subset.parse_unicodes(letters))
    cutter.subset(whole)
    subset.save_font(whole, small, options)
    return small.getvalue()


def sha256(path):
    """Hash one file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def faults(folder, kept=()):
    """List every way in which the files differ from the manifest, but for those ``kept``; an empty
    list is a clean bill."""
    listed = {
        name: file["sha256"] for work in manifest(folder) for name, file in work["files"].items()
    } | dict.fromkeys({"manifest.json", *kept})
    present = {
        path.relative_to(folder).as_posix(): sha256(path)
        for path in folder.rglob("*")
        if path.is_file()
    }
    said = [
        (listed.keys() - present, "listed, but not there"),
        (present.keys() - listed, "there, but not listed"),
        (
            {name for name in listed.keys() & present if listed[name] not in (None, present[name])},
            "not the file of the manifest",
        ),
    ]
    return [f"{name}: {fault}" for names, fault in said for name in sorted(names)]


def renew(folder):
    """Fetch all works of a folder, and write their hashes into its manifest."""
    works = manifest(folder)
    for work in works:
        print(f"{work['name']} {work['version']} from {work['source']}", flush=True)
        fetch(work, folder)
    words = re.sub(
        r'\{\s*("from"[^{}]*\S)\s*\}',
        lambda file: f"{{{' '.join(file[1].split())}}}",
        json.dumps(works, indent=2),
    )
    (folder / "manifest.json").write_text(words + "\n")


def main():
    if sys.argv[1:] != ["--check"]:
        renew(VENDOR)
        renew(FIGURES)
    found = faults(VENDOR, KEPT) + faults(FIGURES)
    print("\n".join(found) or "every file is the one of its manifest")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
