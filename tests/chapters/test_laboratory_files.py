"""The reader's own files in the laboratory: what the page and Python read, refuse, and know of each
other's file."""

import json
import re
import zlib

import numpy as np
import pytest
from py_mini_racer import JSEvalException

import mhabook
import mhalib as mha
from checks import assert_refused
from laboratory import SMALL, asked, machine, whole
from malformed import ADVICE, BAD, GOOD
from mhabook.c17_laboratory import code, figure
from mhabook.c17_laboratory.controls import BEGINNINGS, DEFAULTS, resolve
from notebooks import BOOK


def page_reads(name, content):
    """What the page makes of a file: {kind, shape, X, y}, or its refusal as a string."""
    v8 = whole()
    if name.endswith("csv"):
        try:
            text = json.dumps(content.decode("utf-8"))
        except UnicodeDecodeError:
            return "UTF-8"
        arrays = f"csvArrays({text}, () => {{}})"
    else:
        arrays = f"npzArrays(Uint8Array.from({list(content)}), null)"
    v8.eval("var found = null, keep = (own) => { found = own; }; 0")
    v8.eval(f"{arrays}.then(ownOf).then(keep, (error) => keep(error.message)); 0")
    return asked(v8, "found")


@pytest.mark.parametrize("name", GOOD)
def test_page_and_python_read_the_same(name, tmp_path):
    (tmp_path / name).write_bytes(GOOD[name])
    data, found = mha.data.from_file(tmp_path / name), page_reads(name, GOOD[name])
    assert found["shape"] == list(data.X.shape)
    assert found["X"] == data.X.ravel().tolist() and found["y"] == data.y.ravel().tolist()
    assert (
        found["kind"]
        == {"Dataset": "heads", "RegressionDataset": "regression", "SequenceDataset": "layer"}[
            type(data).__name__
        ]
    )


@pytest.mark.parametrize("end", [b"\r\n", b"\r"])
def test_the_lines_of_a_file_may_end_as_on_any_system(end, tmp_path):
    (tmp_path / "ends.csv").write_bytes(GOOD["heads.csv"].replace(b"\n", end))
    found = page_reads("heads.csv", GOOD["heads.csv"])["X"]
    assert page_reads("ends.csv", (tmp_path / "ends.csv").read_bytes())["X"] == found
    assert mha.data.from_file(tmp_path / "ends.csv").X.ravel().tolist() == found


@pytest.mark.parametrize(
    "name", [name for name, (content, _) in BAD.items() if content and not name.endswith("png")]
)
def test_page_and_python_refuse_the_same(name, tmp_path):
    content, words = BAD[name]
    (tmp_path / name).write_bytes(content)
    found = page_reads(name, content)
    assert (
        isinstance(found, str) and words in found and (found == "UTF-8" or re.search(ADVICE, found))
    )
    with pytest.raises((ValueError, TypeError), match="expected"):
        mha.data.from_file(tmp_path / name)


@pytest.mark.parametrize("name", ["empty.csv", "empty.npz", "picture.png"])
def test_python_refuses_what_is_no_such_file(name, tmp_path):
    (tmp_path / name).write_bytes(BAD[name][0])
    assert_refused(lambda: mha.data.from_file(tmp_path / name), ValueError, ["path: expected"])


def test_a_file_may_be_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, content in GOOD.items():
        (tmp_path / name).write_bytes(content)
        assert (
            mha.data.from_file(f"~/{name}").X.tolist()
            == mha.data.from_file(tmp_path / name).X.tolist()
        )


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert_refused(
        lambda: mha.data.from_file(tmp_path / "none.npz"), FileNotFoundError, ["none.npz"]
    )


@pytest.mark.parametrize(
    ("name", "model", "start"),
    [
        ("heads.csv", "heads", "normal"),
        ("regression.csv", "regression", "normal"),
        ("layer.csv", "layer", "normal"),
        ("heads.npz", "heads", "normal"),
        ("one-target.csv", "regression", "normal"),
        ("one-target.csv", "regression", "spectral"),
    ],
)
def test_a_run_on_the_readers_file_is_repeated_by_its_lines(
    name, model, start, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(GOOD[name])
    v8, found = whole(), page_reads(name, GOOD[name])
    values = resolve(
        DEFAULTS | SMALL | {"model": model, "start": start, "data": "own", "lr": 0.001}, model
    )
    v8.eval(f"var mine = {{ ...spec, own: {json.dumps(found)} }}; 0")
    result = json.loads(v8.eval(f"runAll(made, mine, {json.dumps(values)})"))
    lines, names = v8.eval(f"pythonOf(spec, {json.dumps(values)}, {json.dumps(name)})"), {}
    exec(lines, names)
    np.testing.assert_allclose(result["curves"]["loss"], names["path"].loss, rtol=1e-9)
    lab = mhabook.laboratory()
    lab.read(name)
    assert lab.code(**values) == lines


def test_a_rule_that_whitens_is_refused_on_fewer_tokens_than_dimensions():
    own = {
        "kind": "regression",
        "X": [1, 2, 3, 2, 1, 0],
        "y": [1, 1],
        "shape": [2, 3],
        "targets": 1,
    }
    values = resolve(
        DEFAULTS | SMALL | {"model": "regression", "data": "own", "optimizer": "structure_aware"},
        "regression",
    )
    with pytest.raises(
        JSEvalException, match="2 tokens in 3 dimensions their second moment has no inverse"
    ):
        whole().eval(f"runAll(made, {{ ...spec, own: {json.dumps(own)} }}, {json.dumps(values)})")


def test_sample_files_can_be_read(tmp_path):
    for key, kind in (
        ("heads", "Dataset"),
        ("regression", "RegressionDataset"),
        ("layer", "SequenceDataset"),
    ):
        (tmp_path / f"{key}.csv").write_text(whole().eval(f"SAMPLES.{key}[2]()"))
        assert type(mha.data.from_file(tmp_path / f"{key}.csv")).__name__ == kind


@pytest.mark.parametrize(
    "name", ["a{b.csv", "run{1}.csv", "{lines}.csv", "{n}{H}.csv", 'a "b".csv']
)
def test_a_files_name_is_not_filled_in(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_bytes(GOOD["regression.csv"])
    values = resolve(DEFAULTS | SMALL | {"model": "regression", "data": "own"}, "regression")
    lines, names = code.code(values, name), {}
    assert whole().eval(f"pythonOf(spec, {json.dumps(values)}, {json.dumps(name)})") == lines
    exec(lines, names)
    assert len(names["data"].x) == 3


@pytest.mark.parametrize(("count", "stands"), [(3000, True), (3001, False)])
def test_a_page_refuses_a_regression_whose_steps_would_stop_it(count, stands, tmp_path):
    content = b"x1,y1\n" + b"1,2\n" * count
    found = page_reads("long.csv", content)
    assert (
        found["shape"] == [count, 1]
        if stands
        else (f"{count} tokens that all attend" in found and "load it in Python" in found)
    )
    (tmp_path / "long.csv").write_bytes(content)
    assert mha.data.from_file(tmp_path / "long.csv").x.shape == (count, 1)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_page_counts_the_lines_of_a_file_before_it_reads_them(end):
    """Of 60,000 lines the first that is wrong is named; one more, though it be empty, and none is
    read."""
    content = b"x1,y1" + end + b"a,b" + 59_999 * end
    assert "line 2" in page_reads("lines.csv", content)
    assert "it has 60001 lines" in page_reads("lines.csv", content + end)
    for names, row in ((b"x1,x2,x3,y", b"1,1,1,a"), (b"x1,y1,y2", b"1,1,a")):
        assert "more than 120000 numbers" in page_reads(
            "lines.csv", names + end + 40_001 * (row + end)
        )


@pytest.mark.parametrize("columns, rows", [(2, 60_000), (4, 30_000), (65, 1_800), (999, 100)])
def test_a_page_rests_while_it_reads(columns, rows):
    """Between two rests it reads at most ten thousand numbers; in one go, the largest file would
    stop a slow page."""
    v8, names = machine(), ",".join([*(f"x{j + 1}" for j in range(columns - 1)), "y"])
    v8.eval(
        "var count = 0, stops = [];"
        "NUMBER.test = (cell) => { const is = /^\\d/.test(cell); count += is; return is; }"
    )
    text = json.dumps("\n".join([names, *rows * [",".join(columns * ["1"])]]))
    v8.eval(f"csvArrays({text}, () => {{ stops.push(count); }}).then(() => stops.push(count)); 0")
    stops = asked(v8, "stops")
    assert stops[0] == 0 and stops[-1] == columns * rows
    assert max(np.diff(stops)) <= 10_000


def test_the_chapter_names_the_limits_of_a_page():
    limits = (
        "[LARGEST_FILE / 1e6, MOST_LINES, MOST_NUMBERS, MOST_TOKENS, MOST_TOKENS, MOST_QUERIES]"
    )
    words = (
        "{} MB, {:,} lines, {:,} numbers, {} tokens, {} dimensions, and {:,} tokens of a regression"
    )
    assert (
        words.format(*asked(whole(), limits))
        in (BOOK / "laboratory/17_laboratory.ipynb").read_text()
    )


def test_a_first_line_without_an_end_is_refused_at_once(tmp_path):
    """In time that grows with its length: with its square, these would take hours."""
    assert "has 500000 entries" in page_reads(
        "line.csv", ",".join(map(str, range(500_000))).encode()
    )
    many = ",".join(f"x{k}" for k in range(1, 200_001)).encode()
    (tmp_path / "line.csv").write_bytes(many + b"\n1\n")
    assert_refused(
        lambda: mha.data.from_file(tmp_path / "line.csv"), ValueError, ["expected columns x1, x2"]
    )


@pytest.mark.parametrize(
    "cell",
    ["1" * 500_000 + "x", "1" * 250_000 + "." + "1" * 250_000 + "x", "+" + "1" * 500_000 + "e"],
)
def test_a_cell_that_is_nearly_a_number_is_refused_at_once(cell):
    """In time that grows with its length: with its square, each would take an hour."""
    assert "line 2, column x1, is no finite number" in page_reads(
        "digits.csv", f"x1,y1\n{cell},1\n".encode()
    )


@pytest.mark.parametrize(
    "quoted", [b'"x1","x2","y1"\n1,2,3\n', b"'x1','y1'\n1,2\n", b'"","x1","y1"\n"1",1,2\n']
)
def test_quotation_marks_are_named_as_the_fault(quoted, tmp_path):
    (tmp_path / "quoted.csv").write_bytes(quoted)
    assert "Save it without them" in page_reads("quoted.csv", quoted)
    assert_refused(
        lambda: mha.data.from_file(tmp_path / "quoted.csv"), ValueError, ["without quotation marks"]
    )


# --- which of the two has the file
# --------------------------------------------------------------------------------

OPENED = {"file": "mine.csv", "kind": "regression", "sum": "abc"}
IN_THE_BROWSER = ["data: the file 'mine.csv' was opened in the browser", "lab.read(path)"]


@pytest.fixture
def lab():
    """Give a laboratory in whose page a file was opened: the page says so, as it does of every
    move."""
    lab = mhabook.laboratory()
    moved = resolve(DEFAULTS | SMALL | {"model": "regression", "data": "own"}, "regression")
    lab.set_state({"values": moved, "own": OPENED})
    return lab


def test_page_and_python_have_one_checksum():
    for content in (b"", b"x1,y1\n1,2\n", bytes(range(256)) * 3):
        assert asked(whole(), f"checksum({list(content)})") == f"{zlib.crc32(content):x}"


def test_a_file_that_was_opened_in_the_browser_stays(lab):
    assert (lab.values["model"], lab.values["data"]) == (
        "regression",
        "own",
    ) and "data = own" in repr(lab)
    lab.set_state({"values": lab.values | {"lr": 0.2}})
    assert lab.values["data"] == lab.settings(lr=0.1)["data"] == "own"
    lab.values = {"lr": 0.5}
    assert (lab.values["data"], lab.values["lr"]) == ("own", 0.5)


@pytest.mark.parametrize("ask", ["code", "path", "run", "drawn", "figure"])
def test_python_does_not_train_on_what_it_has_not_read(lab, ask, tmp_path):
    assert_refused(getattr(lab, ask), ValueError, IN_THE_BROWSER)
    assert getattr(lab, ask)(data="linear"), "other data are Python's own"
    (tmp_path / "mine.csv").write_bytes(GOOD["regression.csv"])
    lab.read(tmp_path / "mine.csv")
    assert getattr(lab, ask)(**SMALL)


def test_python_does_not_take_another_file_for_the_one_that_is_open(lab, tmp_path):
    (tmp_path / "mine.csv").write_bytes(GOOD["regression.csv"])
    lab.read(tmp_path / "mine.csv")
    lab.set_state({"own": OPENED})
    assert_refused(lab.path, ValueError, IN_THE_BROWSER)
    lab.set_state({"own": OPENED | {"sum": f"{zlib.crc32(GOOD['regression.csv']):x}"}})
    assert len(lab.run()["data"].x) == 3


def test_reading_a_file_sets_what_opening_it_sets(tmp_path):
    lab = mhabook.laboratory()
    lab.values = {"lr": 50.0, "H": 16, "scale": 10.0}
    for name, model in (
        ("regression.csv", "regression"),
        ("one-target.csv", "regression"),
        ("layer.csv", "layer"),
    ):
        (tmp_path / name).write_bytes(GOOD[name])
        before = lab.values
        lab.read(tmp_path / name)
        begin = BEGINNINGS[model] if before["model"] != model else {}
        assert lab.values == resolve(before | begin | {"model": model, "data": "own"}, model)
        assert lab.own == {"file": name, "kind": model, "sum": f"{zlib.crc32(GOOD[name]):x}"}
        lab.values = {"lr": 50.0}


def test_a_file_that_has_changed_is_read_anew(tmp_path):
    lab, path = mhabook.laboratory(), tmp_path / "r.csv"
    path.write_bytes(GOOD["regression.csv"])
    lab.read(path)
    before = lab.path(**SMALL).loss[0]
    path.write_bytes(GOOD["regression.csv"].replace(b"7,8,9", b"1,8,9"))
    lab.read(path)
    assert lab.path(**SMALL).loss[0] != before


def test_the_laboratory_knows_its_page_in_the_book(monkeypatch):
    monkeypatch.setattr(
        "mhabook.c17_laboratory.figure.repository", lambda: "https://github.com/someone/a-book"
    )
    assert (
        figure._description.__wrapped__()["page"]
        == f"https://someone.github.io/a-book/{figure.PAGE}"
    )
    assert (BOOK.parent / figure.PAGE).with_suffix(".ipynb").is_file()
    for nowhere in ("", "https://github.com/OWNER/how-attention-learns"):
        monkeypatch.setattr("mhabook.c17_laboratory.figure.repository", lambda: nowhere)  # noqa: B023
        assert figure._description.__wrapped__()["page"] == ""
