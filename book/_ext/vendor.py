"""Fetch the third-party files that the book serves itself, or with --check verify them.

Fetching needs npm and the installed wheels; a clone needs neither, as files and manifest are committed.
"""

import argparse
import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path

VENDOR = Path(__file__).parents[1] / "_static" / "vendor"
KEPT = {"manifest.json", "paths.js", "licenses/requirejs.txt"}  # written here, not fetched
SOURCE_MAP = re.compile(rb"^//# sourceMappingURL=.*\n?", re.MULTILINE)


@dataclass(frozen=True)
class Package:
    """One package of npm or PyPI, and where its files go: {our file, or folder/: pattern of its files}."""

    name: str
    version: str
    license: str
    registry: str
    files: dict


PACKAGES = [
    Package(
        "mathjax",
        "3.2.2",
        "Apache-2.0",
        "npm",
        {
            "mathjax/": "package/es5/tex-mml-chtml.js",
            "mathjax/output/chtml/fonts/woff-v2/": "package/es5/output/chtml/fonts/woff-v2/*.woff",
            # MathJax loads these when a formula first uses them.
            **{
                f"mathjax/input/tex/extensions/{name}.js": f"package/es5/input/tex/extensions/{name}.js"
                for name in ("boldsymbol", "braket", "cancel", "color")
            },
            "licenses/mathjax.txt": "package/LICENSE",
        },
    ),
    Package("requirejs", "2.3.8", "MIT", "npm", {"require.js": "package/require.js"}),
    Package(
        "@jupyter-widgets/html-manager",
        "1.0.15",
        "BSD-3-Clause; its icon fonts OFL-1.1",
        "npm",
        {
            "html-manager/embed-amd.js": "package/dist/embed-amd.js",
            "html-manager/": "package/dist/*.woff2",
            "licenses/html-manager-bundled.txt": "package/dist/embed.js.LICENSE.txt",
        },
    ),
    Package(
        "@fortawesome/fontawesome-free",  # the icon fonts inside html-manager are this package's
        "5.15.4",
        "OFL-1.1",
        "npm",
        {"licenses/fontawesome.txt": "package/LICENSE.txt"},
    ),
    Package("ipywidgets", "8.1.8", "BSD-3-Clause", "PyPI", {"licenses/jupyter-widgets.txt": "*/LICENSE"}),
    Package(
        "anywidget",
        "0.11.0",
        "MIT",
        "PyPI",
        {"anywidget.js": "anywidget/nbextension/index.js", "licenses/anywidget.txt": "*/LICENSE"},
    ),
]


def npm_files(package):
    """Read every file of the package's npm tarball: {name: read}."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = f"{package.name}@{package.version}"
        command = ["npm", "pack", "--pack-destination", folder, wanted]
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError as error:
            raise SystemExit("fetching needs npm, which is not on PATH") from error
        except subprocess.CalledProcessError as error:
            said = [line for line in error.stderr.splitlines() if line.startswith(("npm error", "npm ERR!"))]
            raise SystemExit(f"npm could not fetch {wanted}: {' '.join(said[:3]) or error}") from error
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as tar:
            return {entry.name: tar.extractfile(entry).read() for entry in tar if entry.isfile()}


def wheel_files(package):
    """Read every file of the installed wheel, which must be of the wanted version."""
    wheel = metadata.distribution(package.name)
    if wheel.version != package.version:
        raise SystemExit(f"{package.name} {package.version} is wanted, {wheel.version} is installed")
    return {str(path): path.locate().read_bytes() for path in wheel.files if path.locate().is_file()}


def chosen(package, contents):
    """Pick the wanted files: {our path: content}; a pattern that finds nothing is an error."""
    picked = {}
    for to, pattern in package.files.items():
        names = [name for name in contents if fnmatchcase(name, pattern)]
        if not names:
            raise SystemExit(f"{package.name} {package.version} has no file {pattern}")
        picked |= {to + Path(name).name if to.endswith("/") else to: contents[name] for name in names}
    return picked


def fetch(package):
    """Write the package's files and return its entry of the manifest."""
    print(f"{package.name} {package.version} from {package.registry}", flush=True)
    contents = chosen(package, npm_files(package) if package.registry == "npm" else wheel_files(package))
    for to, content in contents.items():
        path = VENDOR / to
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(SOURCE_MAP.sub(b"", content) if to.endswith(".js") else content)
    return {
        "name": package.name,
        "version": package.version,
        "license": package.license,
        "source": f"{package.registry} package {package.name} {package.version}",
        "files": {to: sha256(VENDOR / to) for to in sorted(contents)},
    }


def sha256(path):
    """Hash one file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def faults(vendor=VENDOR):
    """List every way in which the files differ from the manifest; an empty list is a clean bill."""
    manifest = json.loads((vendor / "manifest.json").read_text())
    listed = {name: digest for package in manifest for name, digest in package["files"].items()}
    present = {path.relative_to(vendor).as_posix() for path in vendor.rglob("*") if path.is_file()}
    missing = [f"{name}: listed, but not there" for name in sorted((listed.keys() | KEPT) - present)]
    unlisted = [f"{name}: there, but not listed" for name in sorted(present - listed.keys() - KEPT)]
    changed = [f"{name}: not the file of the manifest" for name in sorted(listed.keys() & present)
               if sha256(vendor / name) != listed[name]]  # fmt: skip
    return missing + unlisted + changed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="verify the files, fetch nothing")
    if not parser.parse_args().check:
        manifest = [fetch(package) for package in PACKAGES]
        (VENDOR / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    found = faults()
    print("\n".join(found) or f"{VENDOR.name}: every file is the one of the manifest")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
