"""Files that a reader may drop on the laboratory: good ones, and bad ones with a word of what is
wrong."""

import io
import zipfile

import numpy as np

RNG = np.random.default_rng(0)
X, LABELS = RNG.standard_normal((4, 3, 2)), np.array([1.0, -1.0, 1.0, -1.0])
TARGETS = RNG.standard_normal((4, 3, 2))
LINES = [f"{i},{i + t / 7},{t - 0.5},{1 if i % 2 else -1}\n" for i in range(3) for t in range(2)]
HEADS = "sample,x1,x2,y\n" + "".join(LINES)


def npz(save=np.savez, **arrays):
    """The bytes of an NPZ file."""
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def zipped(**files):
    """The bytes of a zip file of other things."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for name, content in files.items():
            out.writestr(name, content)
    return file.getvalue()


GOOD = {
    "heads.csv": HEADS.encode(),
    "bom-and-crlf.csv": b"\xef\xbb\xbf" + HEADS.replace("\n", "\r\n").encode(),
    "spaces.csv": HEADS.replace(",", " , ").encode() + b"\n\n",
    "regression.csv": b"x1,x2,y1,y2\n1,2,3,4\n.5,-1e-3,+2.,0\n7,8,9,1E2\n",
    "one-target.csv": b"y,x2,x1\n1,2,3\n4,5,6\n",
    "layer.csv": b"sample,x1,x2,y1\na,1,2,3\na,2,3,4\nb,3,4,5\nb,5,5,6\n",
    "heads.npz": npz(X=X, y=LABELS),
    "single.npz": npz(X=X.astype("f4"), y=LABELS.astype("i1")),
    "fortran.npz": npz(X=np.asfortranarray(X), y=LABELS.astype("i8"), extra=X),
    "both.npz": npz(X=X, y=LABELS, x=X + 1),
    "either.npz": npz(x=X + 1, X=X, y=LABELS),
    "regression.npz": npz(x=X[:, 0], y=LABELS),
    "layer.npz": npz(X=X, y=TARGETS),
    "integers.npz": npz(X=np.arange(24, dtype="u2").reshape(4, 3, 2), y=np.asfortranarray(TARGETS)),
}
# Every refusal says what to do.
ADVICE = r"\b(Save|Name|Make|Correct|Give|Put|Write|Remove|Keep|Take|Add|is expected|Expected are|saves one)\b"
# Name → the bytes, and a word of the page's refusal.
BAD = {
    "empty.csv": (b"", "empty"),
    "blank.csv": (b"\n \n", "empty"),
    "header-only.csv": (b"x1,x2,y1\n", "no numbers"),
    "noise.csv": (bytes(range(128, 256)) * 9, "UTF-8"),
    "ragged.csv": (b"x1,x2,y1\n1,2,3\n1,2\n", "line 3 has 2 entries"),
    "semicolons.csv": (b"x1;x2;y1\n1;2;3\n", "not separated by commas"),
    "text.csv": (b"x1,y1\n1,two\n", "line 2, column y1"),
    "nan.csv": (b"x1,y1\n1,nan\n", "no finite number"),
    "infinite.csv": (b"x1,y1\n1,1e999\n", "no finite number"),
    "quoted.csv": (b'"x1","y1"\n1,2\n', "quotation marks"),
    "names.csv": (b"a,b,c\n1,2,3\n", "Name the columns"),
    "no-target.csv": (b"x1,x2\n1,2\n", "Name the columns"),
    "no-names.csv": (b"1,-1,0.5,-1\n2,-1,1.5,1\n", "holds numbers"),
    "one-line.csv": (b"1,2\n", "holds numbers"),
    "comma.csv": (b"x1,y1\n0,5,1\n", "decimals with a point"),
    "hexadecimal.csv": (b"x1,y1\n0x10,1\n", "no finite number"),
    "underscore.csv": (b"x1,y1\n1_0,1\n", "no finite number"),
    "twice.csv": (b"x1,x1,y1\n1,2,3\n", "there twice"),
    "labels.csv": (HEADS.replace(",-1\n", ",0\n").encode(), "−1 or +1"),
    "two-labels.csv": (HEADS.replace(",-1\n", ",1\n", 1).encode(), "two labels"),
    "short-sample.csv": (
        HEADS.encode() + b"9,1,1,1\n",
        "the first sample has 2 lines, and sample number 4 has 1",
    ),
    "torn-sample.csv": (HEADS.encode() + LINES[0].encode(), "comes up again"),
    "noise.npz": (bytes(range(256)) * 4, "not a whole NPZ"),
    "empty.npz": (b"", "empty"),
    "truncated.npz": (npz(X=X, y=LABELS)[:-40], "not a whole NPZ"),
    "no-X.npz": (npz(Z=X, y=LABELS), "no array X"),
    "no-y.npz": (npz(X=X), "no array y"),
    "objects.npz": (npz(X=np.array([[[{}]]], object), y=LABELS), "|O"),
    "complex.npz": (npz(X=X + 1j, y=LABELS), "<c16"),
    "words.npz": (npz(X=X.astype("U5"), y=LABELS), "U5"),
    "half.npz": (npz(X=X.astype("f2"), y=LABELS), "<f2"),
    "big-endian.npz": (npz(X=X.astype(">f8"), y=LABELS), "big-endian"),
    "nan.npz": (npz(X=X * np.nan, y=LABELS), "not finite"),
    "labels.npz": (npz(X=X, y=LABELS * 2), "−1 or +1"),
    "shapes.npz": (npz(X=X, y=LABELS[:2]), "Expected are X (n, T, d)"),
    "flat.npz": (npz(X=X.ravel(), y=LABELS), "(24,)"),
    "no-sample.npz": (npz(X=X[:0], y=LABELS[:0]), "empty"),
    "number.npz": (npz(X=X, y=np.float64(1)), "y of ()"),
    "other.npz": (zipped(**{"X.npy": "no array", "y.npy": "none"}), "not a whole NPZ"),
    "no-shape.npz": (npz(X=X, y=LABELS).replace(b"'shape'", b"'shade'"), "not a whole NPZ"),
    "words-for-shape.npz": (
        npz(X=X, y=LABELS).replace(b"(4, 3, 2)", b"(a, b, c)"),
        "not a whole NPZ",
    ),
    "picture.png": (b"\x89PNG", "ends in .csv or .npz"),
}
# As large as a page opens them, and larger.
ROWS = enumerate(RNG.standard_normal((13_000, 8)).tolist())
LARGEST = (
    "sample,x1,x2,x3,x4,x5,x6,x7,x8,y\n"
    + "".join(f"{k // 10},{','.join(map(repr, row))},{1 - k // 10 % 2 * 2}\n" for k, row in ROWS)
).encode()
OVERSIZED = {
    "huge.csv": (b"x1,y1\n" + b"1,2\n" * 1_100_000, "4 MB"),
    "long.csv": (b"x1,y1\n" + b"1,2\n" * 990_000, "60000 at most"),
    "wide.npz": (npz(X=np.zeros((2, 3, 70)), y=LABELS[:2]), "70"),
    "many.npz": (npz(np.savez_compressed, X=np.zeros((60000, 3)), y=np.zeros(60000)), "too many"),
    "deflated.npz": (npz(np.savez_compressed, X=X, y=LABELS)[:180], "not a whole NPZ"),
}
