"""A drawing as dots: SVG of a built page becomes PNG, with letters of the book's own font, since a
machine need not have any."""

import io
import re
from pathlib import Path

import resvg_py
from PIL import Image

FONTS = Path(__file__).parents[1] / "_static" / "vendor" / "dejavu"
SCALE = 1.5  # dots for a pixel of the page
# Names that a parser of HTML has put in small letters, which XML tells apart.
NAMES = {name.lower(): name for name in ("viewBox", "clipPath", "preserveAspectRatio", "textPath")}
TAGGED = re.compile(rf"(?<=[ </])({'|'.join(NAMES)})(?=[ =>])")


def png(svg: str) -> bytes:
    """An ``<svg>`` on white paper, as large as its viewBox says."""
    proper = TAGGED.sub(lambda name: NAMES[name[0]], svg)
    if "xmlns=" not in proper:
        proper = proper.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" color="#222" ', 1)
    return small(
        resvg_py.svg_to_bytes(
            svg_string=proper,
            background="#ffffff",
            zoom=SCALE,
            skip_system_fonts=True,
            font_files=[str(file) for file in sorted(FONTS.glob("*.ttf"))],
            font_family="DejaVu Sans",
            sans_serif_family="DejaVu Sans",
        )
    )


def small(png: bytes) -> bytes:
    """A picture with 256 colors, a third of its size; no dot's color is far from what it was."""
    picture, file = Image.open(io.BytesIO(png)).convert("RGB"), io.BytesIO()
    picture.quantize(256, Image.Quantize.MAXCOVERAGE).save(file, "png", optimize=True)
    return file.getvalue()
