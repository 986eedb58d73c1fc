"""The Python face of a live figure: its controls, its values, the run by mhalib that the browser
must equal."""

import json
import re
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from py_mini_racer import MiniRacer

import livegrad
import mhalib as mha
from engines import LIVE, exposed
from livegrad.live.drawing import places
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control
from livegrad.live.widget import PLOTLY
from livegrad.plots import decades
from mhabook.c01_model import figure as c01
from mhabook.c02_curvature import figure as c02
from mhabook.c08_digits import figure as c08
from optional import nbclient, nbformat, torch

DATA = mha.data.tokenized_mixture(n=6, T=4, d=6, M=2, zeta=0.25, seed=1)
ZERO, STEP = mha.MultiHeadAttention.zeros(1, 4, 6), mha.GradientDescent(1.0)
RANDOM = mha.MultiHeadAttention.random(2, 4, 6, scale=0.7)
FIGURES = {
    "heads": lambda: mha.live.heads(DATA, steps=12),
    "heads without known tokens": lambda: mha.live.heads(
        mha.data.from_arrays(DATA.X, DATA.y), steps=12
    ),
    "finding": lambda: c01.finding(DATA, ZERO, STEP, steps=12),
    "downward": lambda: c02.downward(DATA, RANDOM, STEP, steps=12),
    "curvature": lambda: c02.curvature(DATA, steps=12),
    "many heads": lambda: c08.many_heads(DATA, RANDOM, STEP, steps=12),
}
ROOT = Path(__file__).parents[2]
SCRIPTS = sorted(
    [
        *(ROOT / "livegrad").rglob("*.js"),
        *(ROOT / "mhalib").rglob("*.js"),
        *(ROOT / "book" / "mhabook").rglob("*.js"),
        *(ROOT / "book" / "_static").glob("*.js"),
    ]
)
each = pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)


def test_values_start_at_the_controls_own():
    figure = mha.live.heads(DATA, steps=5)
    assert figure.values == {name: control.value for name, control in figure.controls.items()}
    assert list(figure.controls) == ["H", "lr", "optimizer", "shortcut"]


def test_path_is_that_of_train():
    figure = mha.live.heads(DATA, steps=30)
    figure.values = {"H": 4, "optimizer": "adam"}
    right = mha.train(
        mha.MultiHeadAttention.zeros(4, 4, 6), DATA, mha.Adam(1.0), 30, record=figure.path().steps
    )
    assert (figure.path().loss == right.loss).all()
    assert figure.path(lr=0.1).loss[-1] != right.loss[-1]
    assert figure.values["lr"] == 1.0, "asking for another path moves nothing"


def test_mixture_draws_are_those_of_the_generator():
    own = mha.data.tokenized_mixture(n=5, T=4, d=6, M=2, zeta=0.25, seed=3)
    figure = c01.finding(own, ZERO, STEP, steps=10)
    data = mha.data.tokenized_mixture(n=5, T=4, d=6, M=2, zeta=0.5, sigma=0.75, seed=3)
    path = mha.train(ZERO, data, STEP, 10, test=data.fresh(seed=1), record=figure.path().steps)
    found = figure.path(zeta=0.5, sigma=0.75)
    np.testing.assert_allclose(found.loss, path.loss, rtol=1e-12)
    np.testing.assert_allclose(found.test_loss, path.test_loss, rtol=1e-12)


def test_curvature_bounds_hold_along_its_path():
    path = c02.curvature(DATA, steps=12).path(H=4, lr=3.0)
    assert (path.sharpness <= path.smoothness_bound).all()
    assert (path.negative_curvature <= path.weak_convexity_bound).all()
    assert (path.edge == 2 / 3.0).all()


@pytest.mark.parametrize("values", [{"H": 3}, {"lr": "1"}, {"shortcut": 1}, {"optimizer": "sgd"}])
def test_values_that_no_control_has_are_refused(values):
    figure, (name, value) = mha.live.heads(DATA, steps=5), next(iter(values.items()))
    with pytest.raises(ValueError, match=f"{name}: expected one of .*, got {value!r}"):
        figure.values = values
    with pytest.raises(ValueError, match=name):
        figure.path(**values)


@pytest.mark.parametrize(
    "value, known",
    [
        (0.1 + 0.2, 0.3),
        (np.float64(0.3), 0.3),
        (1, 1.0),
        (1 + 1e-12, 1.0),
        (-5e-17, 0.0),
        (0.3, 0.3),
    ],
)
def test_a_control_takes_the_value_that_is_meant(value, known):
    taken = Control("lr", "step size", (0.0, 0.3, 1.0), 1.0).match(value)
    assert taken == known and type(taken) is float


@pytest.mark.parametrize("value", [True, "0.3", 0.3 + 1e-8, 1e-14, np.nan, None, np.zeros(2), 1j])
def test_a_control_takes_no_other_value(value):
    with pytest.raises(ValueError, match="lr: expected one of 0.0, 0.3, 1.0, got"):
        Control("lr", "step size", (0.0, 0.3, 1.0), 1.0).match(value)


def test_unknown_controls_are_refused():
    with pytest.raises(ValueError, match="heads: no such control; this figure has H, lr"):
        mha.live.heads(DATA, steps=5).path(heads=2)


def test_numbers_from_the_browser_become_the_controls_own():
    figure = mha.live.heads(DATA, steps=5)
    figure.set_state({"values": {"H": 4, "lr": 1, "optimizer": "gd", "shortcut": True}})
    assert repr(figure.values["lr"]) == "1.0"


@pytest.mark.parametrize(
    "bad, words",
    [
        (lambda: mha.live.heads(DATA.X), "data: expected a Dataset, got ndarray"),
        (lambda: c02.curvature("data"), "data: expected a Dataset, got str"),
    ],
)
def test_what_is_no_dataset_is_refused(bad, words):
    with pytest.raises(TypeError, match=words):
        bad()


@pytest.mark.parametrize(
    "bad, words",
    [
        (
            lambda: c01.finding(DATA[[1, 0, 2]], ZERO, STEP),
            "data: expected the samples of a tokenized_mixture as",
        ),
        (
            lambda: c01.finding(mha.data.from_arrays(DATA.X, DATA.y), ZERO, STEP),
            "data: expected the samples of a",
        ),
        (lambda: c01.finding(DATA, ZERO + 1, STEP), "start: expected MultiHeadAttention.zeros"),
        (
            lambda: c01.finding(DATA, ZERO, mha.Adam(0.1)),
            "rule: expected GradientDescent with a number",
        ),
        (
            lambda: c01.finding(DATA, ZERO, mha.GradientDescent(lambda k: 0.1)),
            "rule: expected GradientDescent with a",
        ),
        (lambda: c02.downward(DATA, ZERO, STEP), "start: expected MultiHeadAttention.random"),
        (
            lambda: c02.downward(DATA, RANDOM, STEP, seed=1),
            r"start: expected MultiHeadAttention.random\(.*seed=1\)",
        ),
        (
            lambda: c02.downward(DATA, RANDOM, mha.Adam(0.1)),
            "rule: expected GradientDescent with a number",
        ),
        (
            lambda: c08.many_heads(DATA, ZERO, STEP),
            r"start: expected MultiHeadAttention.random\(.*seed=0\)",
        ),
        (
            lambda: c08.many_heads(DATA, RANDOM, mha.Momentum(0.1)),
            "rule: expected GradientDescent with a number",
        ),
    ],
)
def test_a_chapters_figure_refuses_what_its_sliders_cannot_move(bad, words):
    with pytest.raises(TypeError, match=words):
        bad()


def test_the_figure_of_the_first_chapter_is_the_run_of_its_lines():
    figure = c01.finding(
        DATA, mha.MultiHeadAttention.zeros(3, 4, 6), mha.GradientDescent(0.7), steps=12
    )
    path = mha.train(mha.MultiHeadAttention.zeros(3, 4, 6), DATA, mha.GradientDescent(0.7), 12)
    assert (figure.path().loss == path.loss).all()
    assert (
        0.7 in figure.controls["lr"].values and DATA.truth.sigma in figure.controls["sigma"].values
    )


def test_the_figure_of_the_second_chapter_is_the_run_of_its_lines():
    figure = c02.downward(DATA, RANDOM, mha.GradientDescent(0.7), steps=12)
    path = mha.train(RANDOM, DATA, mha.GradientDescent(0.7), 12)
    assert (figure.path().loss == path.loss[figure.path().steps]).all()
    assert figure.values == {"H": 2, "lr": 0.7, "scale": 0.7}


@pytest.mark.parametrize(
    "bad, words",
    [
        (lambda: mha.live.heads(DATA, steps=0), "steps: expected"),
        (lambda: c01.finding(DATA, ZERO, STEP, steps=2.5), "steps: expected"),
        (lambda: c02.curvature(DATA, scale=0.5), "scale: expected .* one of .*, got 0.5"),
        (lambda: Control("lr", "step size", (1.0, 2.0), 3.0), "lr: expected .* one of .*, got 3.0"),
    ],
)
def test_bad_numbers_are_refused(bad, words):
    with pytest.raises(ValueError, match=words):
        bad()


def test_other_libraries_and_single_precision_become_doubles():
    single = DATA.map(lambda array: torch.as_tensor(array, dtype=torch.float32))
    spec = mha.live.heads(single, steps=5).spec
    assert spec["data"]["X"] == DATA.X.astype(np.float32).astype(np.float64).ravel().tolist()
    assert mha.live.heads(single, steps=5).path()[-1].W.dtype == np.float64


@each
def test_browser_gets_plain_numbers(make):
    spec = make().spec
    assert json.loads(json.dumps(spec, allow_nan=False)) == json.loads(json.dumps(spec))
    named = {"steps", *spec["curves"], *spec["final"]}
    for place in spec["draw"]:
        assert set(place.values()) - {place.get("trace"), place.get("layout"), True} <= named


@each
def test_default_frame_is_drawn_by_mhalib(make):
    figure = make()
    drawn, spec = figure.drawn(), figure.spec
    for place in spec["draw"]:
        for part in {"x", "y", "z"} & set(place):
            assert spec["figure"]["data"][place["trace"]][part] == drawn[place[part]]
    moved, still = figure.figure(lr=3.0).data, figure.figure().data
    assert any(
        one.y != other.y for one, other in zip(moved, still, strict=True) if one.type == "scatter"
    )


@each
def test_still_and_figure_say_what_they_show(make):
    figure = make()
    alt = figure.figure().layout.meta["alt"]
    assert len(alt.split()) > 15
    assert f'data-fallback="{figure.spec["fallback"]}"' in figure.fallback()
    assert alt in unescape(figure.fallback())


@each
def test_sentences_name_what_is_known(make):
    spec = make().spec
    known = {
        "steps",
        *spec["curves"],
        *spec["final"],
        *spec["fixed"],
        *(c["name"] for c in spec["controls"]),
    }
    words = {word.split("}")[0].removeprefix("first_") for word in spec["summary"].split("{")[1:]}
    assert words <= known and {c["name"] for c in spec["controls"]} - {"shortcut"} <= words
    assert "{stopped}" in spec["stopped"]


def test_a_sentence_is_filled_with_names_of_all_alphabets_and_other_braces_stand():
    """To Python η, größe, 步 and x² are words; to a pattern of JavaScript they are none."""
    names = ["lr", "η", "größe", "first_größe", "步", "x²", "λ_1"]
    template = " ".join(f"{{{name}}}" for name in names)
    assert re.findall(r"{(\w+)}", template) == names
    spec = {
        "controls": [{"name": "η", "values": [1], "texts": ["one"]}],
        "summary": f"{template} of {{1, 2}}",
        "stopped": "ends {stopped}",
        "noSlope": "no slope at {steps}",
        "fixed": {"lr": 2, "步": 3, "x²": 4, "λ_1": 5},
    }
    result = {"curves": {"größe": [6, 7]}, "final": {}, "steps": [0, 1], "stopped": None}
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "widget.js"))
    said = v8.eval(f"sentence({json.dumps(spec)}, {{ 'η': 1 }}, {json.dumps(result)})")
    assert said == "2 one 7 6 3 4 5 of {1, 2}"
    for no_slope, words in ((True, "no slope at 1"), (False, "ends 2")):
        ended = json.dumps(result | {"stopped": 2, "noSlope": no_slope})
        assert v8.eval(f"sentence({json.dumps(spec)}, {{ 'η': 1 }}, {ended})") == words


def test_equal_figures_are_equal_text():
    one, other, another = (FIGURES[name]() for name in ("heads", "heads", "curvature"))
    assert one.fallback() == other.fallback() and one.spec["fallback"] != another.spec["fallback"]


FAILURES = {"open": "pathlib.Path.open", "rename": "os.replace"}


@pytest.mark.parametrize("function", FAILURES.values(), ids=FAILURES)
def test_a_figure_that_cannot_be_saved_leaves_the_old_file(function, monkeypatch, tmp_path):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    (file := tmp_path / "figure.html").write_text("an old, good figure")
    figure = mha.live.heads(DATA, steps=5)
    monkeypatch.setattr(function, full)
    with pytest.raises(OSError, match="No space left"):
        figure.save(file)
    monkeypatch.undo()
    assert file.read_text() == "an old, good figure" and list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_written_is_named_as_it_was_given(monkeypatch, tmp_path):
    (file := tmp_path / "figure.html").write_text("an old, good figure")
    figure = mha.live.heads(DATA, steps=5)
    monkeypatch.setattr("os.access", lambda path, _: path != file)
    with pytest.raises(PermissionError, match="that cannot be written: .*figure.html"):
        figure.save(file)
    assert file.read_text() == "an old, good figure"

    def denied(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("os.replace", denied)
    with pytest.raises(PermissionError, match="new.html'$"):
        figure.save(tmp_path / "new.html")


def test_a_figure_that_was_closed_says_so(capsys, monkeypatch):
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)  # a book's figures cannot be closed
    figure = mha.live.heads(DATA, steps=5)
    controls = mha.explore(lambda k: mha.plots.curves([0, 1], {"a": [0, k]}), k=(1, 4))
    figure.close()
    controls.panel.box.close()
    for shown in (figure, controls):
        shown._ipython_display_()
        assert "closed; run the cell that makes" in capsys.readouterr().out


def test_a_disk_that_is_full_in_the_middle_leaves_the_old_file(monkeypatch, tmp_path):
    (file := tmp_path / "figure.html").write_text("an old, good figure")
    figure = mha.live.heads(DATA, steps=5)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    kept = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # else the signal would end this process
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        with pytest.raises(OSError, match="File too large"):
            figure.save(file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, kept)
    assert file.read_text() == "an old, good figure" and list(tmp_path.iterdir()) == [file]


def test_a_saved_figure_replaces_the_old_one_and_keeps_its_rights(tmp_path):
    (file := tmp_path / "figure.html").write_text("an old, good figure")
    file.chmod(0o640)
    (link := tmp_path / "link.html").symlink_to(file)
    mha.live.heads(DATA, steps=5).save(link)
    assert file.read_text("utf-8").startswith("<!doctype html>") and link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640 and set(tmp_path.iterdir()) == {file, link}


@pytest.mark.parametrize(
    "name, kind, said",
    [
        (3, TypeError, "file: expected the name of a file, got int"),
        ("", ValueError, "file: expected the name of a file"),
        ("figure.png", ValueError, "file: expected a name in .html, .* got 'figure.png'"),
        ("figure", ValueError, "file: expected a name in .html, .* got 'figure'"),
        ("/dev/null", ValueError, "file: expected the name of a file, got '/dev/null'"),
        (
            "nowhere/figure.html",
            FileNotFoundError,
            "file: expected a folder that is there, got '.*nowhere'",
        ),
    ],
)
def test_what_no_figure_can_be_saved_as_is_refused(name, kind, said):
    with pytest.raises(kind, match=said):
        mha.live.heads(DATA, steps=5).save(name)


NOTEBOOK = """import numpy as np, mhalib as mha
data = mha.data.tokenized_mixture(n=6, T=4, d=6, M=2, zeta=0.25)
figure = mha.live.figure(mha.MultiHeadAttention.zeros(1, 4, 6), data, mha.GradientDescent(lr=1.0), steps=5)
figure"""


def test_a_notebook_that_shows_a_figure_twice_passes_nbval(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    cells = [nbformat.v4.new_code_cell(code) for code in (NOTEBOOK, "figure", "figure.fallback()")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(
        notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [list(output["data"]) for cell in notebook.cells for output in cell.outputs]
    view = "application/vnd.jupyter.widget-view+json"
    assert [view in kinds for kinds in shown] == [False, True] * 2 + [False], (
        "it shows words, and the widget"
    )
    nbformat.write(notebook, tmp_path / "figure.ipynb")
    run = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "--nbval-current-env",
        "-p",
        "no:cacheprovider",
        "figure.ipynb",
    ]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout + done.stderr


def test_display_is_the_still_and_then_the_widget(monkeypatch):
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)
    shown = []
    monkeypatch.setattr(
        "livegrad.live.widget.display", lambda *what, **options: shown.append((*what, options))
    )
    figure = mha.live.heads(DATA, steps=5)
    figure._ipython_display_()
    (still, _), (bundle, options) = shown
    assert still.data.startswith(figure.fallback()) and bundle["text/html"] == ""
    assert (
        bundle["application/vnd.jupyter.widget-view+json"]["model_id"] == figure.model_id
        and options["raw"]
    )


def test_plotly_is_sent_when_it_is_asked_for(monkeypatch):
    figure, sent = mha.live.heads(DATA, steps=5), []
    monkeypatch.setattr(
        figure, "send", lambda content, buffers=None: sent.append((content, buffers))
    )
    figure._handle_custom_msg({"want": "something else"}, [])
    assert not sent
    figure._handle_custom_msg({"want": "plotly"}, [])
    ((content, (buffer,)),) = sent
    assert content == {"plotly": True} and buffer == PLOTLY.read_bytes()


def test_a_run_that_stops_at_its_start_says_why():
    figure = c02.curvature(DATA, steps=5)._description
    wrong = replace(figure, train=lambda values: livegrad.Path(np.array([]), (), {}, "too large"))
    with pytest.raises(ValueError, match="nothing to draw: too large"):
        wrong.results(wrong.defaults)


def heads_that_show(meta):
    """The description of heads whose second trace has this ``meta``."""
    description = mha.live.heads(DATA, steps=5)._description
    frame = go.Figure(description.frame)
    frame.data[1].meta = meta
    return replace(description, frame=frame)


@pytest.mark.parametrize(
    "meta, words",
    [
        (
            {"x": "steps", "y": "los"},
            r"frame: trace 1 \(training loss\) shows los; what is measured is .*loss",
        ),
        (
            {"y": "loss", "xaxis": {"ticktext": "names"}},
            "frame: xaxis.ticktext shows names; what is measured is .*loss",
        ),
        (
            {"y": "loss", "drag": {"x": "shortcut"}},
            r"trace 1 .* is dragged along shortcut; the sliders are H",
        ),
        (
            None,
            r"frame: trace 1 \(training loss\) has no numbers, and no meta that says what it shows",
        ),
    ],
)
def test_a_trace_that_shows_what_is_not_measured_is_refused(meta, words):
    with pytest.raises(ValueError, match=words):
        heads_that_show(meta)


def test_a_sentence_that_says_what_is_not_measured_is_refused():
    with pytest.raises(ValueError, match="summary: knows nothing of los; it can say .*loss"):
        replace(mha.live.heads(DATA, steps=5)._description, summary="the loss is {los}")


def test_numbers_go_where_the_traces_of_a_frame_say():
    frame = panels("a", "b")
    line(frame, "then", 1, shows="loss", once=True)
    line(frame, "fixed", 1, shows=[1.0, 2.0], over=[0.0, 1.0])
    frame.add_heatmap(
        row=1, col=2, meta={"z": "weights", "xaxis": {"ticktext": "tokens"}, "drag": {"x": "q"}}
    )
    assert places(frame) == (
        {"trace": 0, "x": "steps", "y": "loss", "once": True},
        {"trace": 2, "z": "weights"},
        {"layout": "xaxis2.ticktext", "from": "tokens"},
    )
    assert frame.data[1].y == (1.0, 2.0) and frame.data[1].x == (0.0, 1.0)


def test_no_script_asks_by_has():
    """Firefox has known it since version 121; before that a selector with it throws."""
    assert not [path for path in SCRIPTS if ":has(" in path.read_text("utf-8")]


def layout_at(width, spec):
    """The layout that plotly is handed in a box of a width."""
    v8 = MiniRacer()
    v8.eval(
        """globalThis.ResizeObserver = class { observe() {} };
        globalThis.window = { innerHeight: 900 };
        const pen = { measureText: ({ length }) => ({ width: 6 * length }) };
        globalThis.document = { createElement: () => ({ getContext: () => pen }) };
        globalThis.structuredClone = (one) => JSON.parse(JSON.stringify(one));"""
        + exposed(LIVE / "drawing.js")
    )
    v8.eval(f"""var seen;
        const root = {{ style: {{ setProperty() {{}} }} }}, picture = {{ classList: {{ toggle() {{}} }} }};
        const box = {{ clientWidth: {width}, style: {{}}, parentElement: picture, closest: () => root }};
        const react = (_, data, layout) => {{ seen = layout; }};
        new Drawer({{ react }}, box, {json.dumps(spec)}, () => {{}}, (wrong) => {{ seen = wrong; }}).draw(null); 0""")
    return json.loads(v8.eval("JSON.stringify(seen)"))


@each
def test_on_a_phone_panels_stand_below_each_other_each_under_its_title(make):
    spec = make().spec
    wide, narrow = (layout_at(width, spec) for width in (1000, 390))
    assert wide.pop("dragmode") is False
    both = [wide[name] for name in wide if re.match(r"[xy]axis\d*$", name)]
    assert all(axis.pop("fixedrange") for axis in both)
    # plotly enlarges these by a quarter, to the size of all others
    assert {
        round(axis.pop("tickfont")["size"], 6) for axis in both if "exponentformat" in axis
    } == {9.6}
    said = spec["figure"]["layout"]
    one_row = len({said[name]["domain"][1] for name in said if name.startswith("yaxis")}) == 1
    names = said["margin"]["t"] - wide["margin"]["t"]
    assert wide["height"] == said["height"] - (names if one_row else 0) and wide["width"] == 1000
    tops = {title["y"]: title["yshift"] for title in wide["annotations"]}
    assert tops == {title["y"]: title["yshift"] for title in reversed(wide["annotations"])}, "a row"
    assert wide["margin"]["t"] <= said["margin"]["t"], "names at the ends of lines take no room"
    titles = narrow["annotations"]
    axes = [name[1:] for name in narrow if re.match(r"xaxis\d*$", name)]
    (low, high), panels = np.array([narrow[f"y{name}"]["domain"] for name in axes]).T, len(axes)
    assert all(narrow[f"x{name}"]["domain"] == [0, 1] for name in axes) and len(titles) == panels
    assert [title["y"] for title in titles] == high.tolist()
    assert (
        high[0] == 1
        and abs(low[-1]) < 1e-12
        and (low[:-1] > high[1:]).all()
        and np.ptp(high - low) < 1e-12
    )


def test_names_take_nothing_from_a_row_of_panels_and_leave_no_band_where_they_stand_at_lines():
    made = FIGURES["heads"]()._description
    frame = panels("loss", height=400)
    for name in ("loss", "another loss"):
        line(frame, name, 1, shows="loss")
    spec = replace(made, frame=frame).to_json()
    said, (t, b) = spec["figure"]["layout"], (30, 44)
    assert said["margin"]["t"] > t and said["height"] - said["margin"]["t"] - b == 400 - t - b
    for width in (1000, 390):
        layout = layout_at(width, spec)
        assert layout["margin"]["t"] == t and layout["height"] == 400


def test_a_diverging_run_keeps_what_came_before():
    description = mha.live.heads(DATA, steps=12)._description
    with pytest.warns(RuntimeWarning, match="stopped being finite"):
        path = description.train(description.defaults | {"optimizer": "adam", "lr": 1e308})
    assert path.stopped and 0 < len(path) < 12


# --- axes that end
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axis", "curve", "said"),
    [
        ({"type": "log", "range": [-8, 4]}, [1, 1e-7], ""),
        ({"type": "log", "range": [-8, 4]}, [1, 1e-9], "loss"),
        ({"type": "log", "autorangeoptions": {"clipmin": 1e-12}}, [1, 1e-290], "loss"),
        ({"type": "log"}, [1, 1e-290], ""),
        ({"type": "log", "range": [-8, 4]}, [1, 0], ""),
        ({}, [1, -5], ""),
    ],
)
def test_a_line_that_leaves_its_axis_is_named(axis, curve, said):
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "widget.js"))
    spec = {
        "figure": {
            "data": [{"name": "loss", "yaxis": "y2"}],
            "layout": {"yaxis": {}, "yaxis2": axis},
        },
        "draw": [
            {"trace": 0, "x": "steps", "y": "loss"},
            {"layout": "xaxis.range", "from": "size"},
        ],
    }
    words = v8.eval(f"below({json.dumps(spec)}, {{ curves: {{ loss: {json.dumps(curve)} }} }})")
    assert words == (f" Part of a line lies below the axis: {said}." if said else "")


def test_a_logarithmic_axis_without_a_range_ends_a_trillion_below_the_start():
    made = FIGURES["heads"]()._description
    free = replace(made, frame=made.frame.update_yaxes(range=None, col=1)).figure(made.defaults)
    top = made.path(made.defaults).loss.max()
    assert free.layout.yaxis.autorangeoptions.clipmin == pytest.approx(1e-12 * top)
    assert free.layout.yaxis2.autorangeoptions.clipmin is None, "it has a range"


def test_what_a_logarithmic_axis_does_not_show_widens_no_free_axis():
    made = FIGURES["heads"]()._description
    figure = replace(made, frame=made.frame.update_yaxes(range=None, col=1)).figure(made.defaults)
    whole = made.path(made.defaults).loss.tolist()
    for drawn in figure.data:
        first = "y" if drawn.yaxis == "y" else "y2"
        assert drawn.x[0] == 0 and np.isnan(drawn.y[0]) == (first == "y"), "the other has a range"
        assert drawn.yaxis != "y" or list(drawn.y[1:]) == whole[1:]
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "drawing.js"))
    for kind, bounds, kept in (
        ("log", {}, [None, 2]),
        ("linear", {}, [4, 2]),
        ("log", [0, 1], [4, 2]),
    ):
        layout = {"xaxis2": {"type": kind}, "yaxis2": {"range": bounds} if bounds else {}}
        trace = {"x": [0, 1], "y": [4, 2], "xaxis": "x2", "yaxis": "y2"}
        asked = f"JSON.stringify(placed({json.dumps(trace)}, {json.dumps(layout)}).y)"
        assert json.loads(v8.eval(asked)) == kept


@pytest.mark.parametrize(
    ("drawn", "numbers"),
    [
        ([0.05, 3.0], [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50]),
        ([1e-6, 3e-5], 1),
        ([1e-9, 1.0], 2),
        ([0.3, 0.9], None),
        ([2.0, 2.0], 1),
        ([], None),
    ],
)
def test_python_and_the_page_choose_the_same_numbers_of_a_logarithmic_axis(drawn, numbers):
    figure = go.Figure(go.Scatter(x=drawn, y=[*drawn, 0.0])).update_yaxes(type="log")
    axis = decades(figure).layout.yaxis.to_plotly_json()
    chosen = numbers if isinstance(numbers, list) else None
    assert axis.get("tickvals") == chosen
    assert axis.get("tickformat") == (chosen and "~g")
    assert axis.get("dtick") == (None if chosen else numbers)
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "drawing.js"))
    said = json.loads(
        v8.eval(f"""
        const layout = {{ yaxis: {{ type: "log", nticks: {axis["nticks"]} }} }};
        decades(layout, [{{ y: {json.dumps(drawn)} }}]);
        JSON.stringify(layout.yaxis)""")
    )
    for part in ("tickvals", "tickformat", "dtick"):
        assert said.get(part) == axis.get(part)
    # plotly enlarges powers alone
    assert ("tickfont" in said) == ("dtick" in axis)


def test_far_below_the_end_of_its_axis_a_line_takes_no_room():
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "drawing.js"))
    ended = "ended({}, {{ autorangeoptions: {{ clipmin: 1e-12 }} }})"
    assert json.loads(
        v8.eval(f"JSON.stringify({ended.format('[1, 1e-12, 1e-290, 0, null]')})")
    ) == [1, 1e-12, 1e-13, 0, None]
    assert json.loads(v8.eval("JSON.stringify(ended([1, 1e-290], {}))")) == [1, 1e-290]


# --- where lines end
# --------------------------------------------------------------------------------------------------


def in_v8(expression, script="ends.js"):
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / script))
    return json.loads(v8.eval(f"JSON.stringify({expression})"))


def test_broad_lines_of_the_run_and_those_of_the_run_before_have_ends():
    spec = {
        "draw": [
            {"trace": 0, "x": "steps", "y": "loss", "once": True},
            {"trace": 1, "x": "steps", "y": "loss"},
            {"trace": 2, "x": "loss", "y": "score"},
            {"trace": 3, "x": "steps", "y": "loss"},
            {"trace": 4, "x": "steps", "y": "loss"},
            {"trace": 5, "x": "query", "y": "loss"},
            {"trace": 6, "z": "weights"},
        ],
        "figure": {"data": [{}] * 7},
    }
    broad = {"line": {"width": 3}}
    data = [broad, broad, broad, {"line": {"width": 2}}, broad | {"visible": False}, broad, {}, {}]
    found = in_v8(f"endingOf({json.dumps(spec)}, {json.dumps(data)}, ['loss', 'score'])")
    assert [(one["trace"], one["word"], one["hasNumber"]) for one in found] == [
        (0, "initial", False),
        (1, "", True),
        (2, "", True),
        (7, "before", True),
    ]
    assert [one["trace"] for one in found if one.get("isPath")] == [2]


def named_at_ends(data, draw, **more):
    spec = {"figure": {"data": data}, "draw": draw, "curves": ["loss"]} | more
    return in_v8(f"[...namedAtEnds({json.dumps(spec)})]", "drawing.js")


def test_lines_are_named_where_they_end_if_they_are_few_and_end_apart():
    line = {"mode": "lines", "name": "a", "y": [1, 0]}
    run = [{"trace": 0, "x": "steps", "y": "loss"}]
    point, band = line | {"mode": "markers"}, line | {"fill": "toself"}
    assert named_at_ends([line, line, point, band, line | {"showlegend": False}], run) == [0, 1]
    assert named_at_ends([line, line | {"yaxis": "y2"}], run) == [0], "a panel for itself"
    assert named_at_ends([line] * 6, run) == [], "too many"
    assert named_at_ends([line, line], []) == [], "they end in one place"
    assert named_at_ends([line, line | {"y": [1, 0.5]}], []) == [0, 1]
    once, guess = [{"trace": 0, "once": True, "y": "loss"}], [{"trace": 1, "guess": "mine"}]
    assert named_at_ends([line, line], once, guesses=guess) == [0, 1]


def test_a_point_has_its_number_where_its_height_is_measured():
    dot = {"mode": "markers", "x": [1], "y": [2]}
    data = [dot, dot, dot, dot | {"x": [1, 2, 3]}, dot | {"marker": {"opacity": 0}}]
    data += [{"type": "heatmap", "yaxis": "y2"}, dot | {"yaxis": "y2"}]
    draw = [{"trace": k, "x": "here", "y": "height"} for k in (0, 2, 3, 4, 6)]
    draw += [{"trace": 1, "x": "here"}]
    spec = {"draw": draw, "drag": [{"trace": 2, "x": "q"}], "figure": {"data": data}}
    found = in_v8(f"endingOf({json.dumps(spec)}, {json.dumps(data)}, [])")
    assert [(one["trace"], one["isPoint"]) for one in found] == [(0, True)]


@pytest.mark.parametrize(
    ("places", "end"),
    [
        ([[0, 50], [100, 10]], {"back": False}),
        ([[100, 10], [60, 12], [0, 50]], {"back": True}),
        ([[0, 5], [100, 90]], None),  # below the axis
        ([[0, 5], [100, float("nan")]], None),
        ([[0, 5]], None),
    ],
)
def test_an_end_is_on_the_axes_and_its_line_comes_from_one_side(places, end):
    x, y = places[-1]
    assert in_v8(f"endOf({json.dumps(places)}, [100, 80])") == (end and {"x": x, "y": y} | end)


@pytest.mark.parametrize(
    ("places", "left"),
    [
        ([[0, 50], [20, 40], [40, -40]], [27.5, 10]),  # above
        ([[0, 50], [20, 40], [40, -40], [60, None]], [27.5, 10]),
        ([[0, 50], [20, 40], [60, None]], [20, 40]),  # ends as it is no number
        ([[0, 50], [100, 90]], [50, 70]),  # below
        ([[90, 40], [10, 40], [-30, 40]], [0, 40]),
        ([[0, 90], [100, 90]], None),  # never there
    ],
)
def test_a_line_that_leaves_its_panel_has_its_name_where_it_was_last(places, left):
    found = in_v8(f"leftAt({json.dumps(places).replace('null', 'NaN')}, [100, 80])", "room.js")
    assert found == (left and {"x": left[0], "y": left[1], "back": left[0] < places[0][0]})


WIDE, HIGH, TALL = 230, 180, 10
RISING = [[0, 170], [40, 165], [90, 120], [150, 60], [230, 30]]
FALLING = [[0, 20], [40, 22], [90, 60], [150, 110], [230, 135]]
SPIKES = [[10 * k, 30 if k % 2 else 60] for k in range(24)]


def settled(words, lines, marks=()):
    words = [{"trace": k, "x": lines[k][-1][0], "y": lines[k][-1][1]} | one for k, one in words]
    panel = f"{{ lines: new Map({json.dumps(list(enumerate(lines)))}), "
    panel += f"marks: {json.dumps(list(marks))}, size: [{WIDE}, {HIGH}] }}"
    return in_v8(f"settled({json.dumps(words)}, {panel}, {TALL})", "room.js")


def covers(word, line):
    """Whether a word lies on a line, by points of the line a third of a pixel apart and closer."""
    ends = np.asarray(line, float)
    shares = np.linspace(0, 1, 1000)[:, None]
    points = np.concatenate([a + shares * (b - a) for a, b in zip(ends, ends[1:], strict=False)])
    low, high = [word["left"], word["top"]], [word["left"] + word["wide"], word["top"] + TALL]
    return bool(((points > low) & (points < high)).all(axis=1).any())


@pytest.mark.parametrize(
    ("lines", "wides"),
    [
        ([RISING], [120]),
        ([FALLING], [120]),
        ([RISING, FALLING], [90, 90]),
        (
            [RISING, [[x, y + 14] for x, y in RISING], [[x, y + 28] for x, y in RISING]],
            [80, 80, 80],
        ),
        (
            [FALLING, [[x, y - 4] for x, y in FALLING], [[x, y - 8] for x, y in FALLING]],
            [90, 80, 70],
        ),
        ([SPIKES, RISING], [60, 60]),
        ([[[0, 4], [230, 4]], [[0, 176], [230, 176]]], [100, 100]),  # at the edges of the panel
    ],
)
def test_a_word_covers_no_line_and_no_word_where_there_is_room(lines, wides):
    found = settled([(k, {"wide": wide}) for k, wide in enumerate(wides)], lines)
    assert [covers(word, line) for word in found for line in lines].count(True) == 0
    for k, one in enumerate(found):
        assert one["left"] >= 0 and one["left"] + one["wide"] <= WIDE
        assert one["top"] >= 0 and one["top"] + TALL <= HIGH
        for other in found[:k]:
            apart = abs(one["top"] - other["top"]) >= TALL + 2
            left, right = sorted([one, other], key=lambda word: word["left"])
            assert apart or left["left"] + left["wide"] <= right["left"]


def test_a_word_that_has_room_at_its_end_stands_there():
    [word] = settled([(0, {"wide": 60})], [RISING])
    assert word["left"] + word["wide"] == 230 - 7 and not word["isFar"]
    assert word["top"] < 30 - TALL


def test_words_of_lines_that_end_together_are_in_the_order_of_the_ends():
    lines = [[[x, y + 3 * k] for x, y in FALLING] for k in range(4)]
    found = settled([(k, {"wide": 100}) for k in range(4)], lines)
    beside = [one for one in found if one["left"] + one["wide"] == 230 - 7]
    assert len(beside) > 1 and beside == sorted(beside, key=lambda word: word["top"])


@pytest.mark.parametrize("near", [True, False])
def test_a_name_with_a_number_stays_near_its_end_and_another_goes_where_there_is_room(near):
    lines = [[[0, 10], [40, 90 + 5 * k], [230, 100 + 8 * k]] for k in range(4)]
    found = settled([(k, {"wide": 110, "isNear": near}) for k in range(4)], lines)
    assert all(one["left"] + one["wide"] >= 230 - 7 - 36 for one in found) == near


def test_a_number_beside_a_steep_line_is_not_where_the_line_is_high():
    steep, other = [[0, 10], [150, 12], [230, 140]], [[0, 30], [60, 120], [230, 148]]
    [word] = settled([(0, {"wide": 110, "isNear": True})], [steep, other])
    assert word["isFar"] or abs(word["top"] + TALL / 2 - 140) <= 36


def test_a_number_stands_beside_its_point_and_not_on_it_or_its_line():
    [word] = settled(
        [(0, {"x": 150, "y": 60, "wide": 25, "isPoint": True, "reach": 6})],
        [RISING],
        [[150, 60, 6]],
    )
    assert not covers(word, RISING) and not word["isFar"]
    reach = [word["left"] - 150, 150 - word["left"] - 25, word["top"] - 60, 60 - word["top"] - TALL]
    assert 6 <= max(reach) < 12


def test_a_word_stays_where_it_was_if_little_would_be_gained():
    [word] = settled([(0, {"wide": 60})], [RISING])
    moved = [[x, y + 2] for x, y in RISING]
    below = {"left": word["left"], "top": moved[-1][1] + 35}
    [again] = settled([(0, {"wide": 60, "before": below})], [moved])
    assert abs(again["top"] - below["top"]) < abs(word["top"] - below["top"])


# A drawing of plotly: a line that a run draws, and its words as they are drawn and saved.
DRAWN = """(() => {
  const node = () => ({ set: {}, children: [], setAttribute(key, value) { this.set[key] = value; },
    append(...all) { this.children = all; }, replaceChildren(...all) { this.children = all; } });
  globalThis.document = { createElementNS: node,
    createElement: () => ({ getContext: () => ({ measureText: ({ length }) => ({ width: 6 * length }) }) }) };
  const axis = { _offset: 10, _length: 200, d2p: (value) => value },
    data = [{ name: "loss", mode: "lines", line: { width: 3, color: "#123" } }],
    size = { width: 300, height: 300, font: { size: 12, family: "" }, margin: { l: 10, t: 10 } },
    _fullLayout = { ...size, xaxis: axis, yaxis: axis },
    box = { data, _fullLayout, querySelector: node },
    spec = { draw: [{ trace: 0, x: "steps", y: "loss" }], curves: ["loss"], figure: { data } },
    ends = new Ends(box, spec);
  return FRAMES.map(([y, done]) => {
    Object.assign(data[0], { x: y.map((_, k) => 50 * k), y });
    ends.place({ curves: { loss: y }, done });
    const { set, children: [number, name] } = ends.layer.children.find(({ children }) => children.length),
      [{ text, xshift, yshift }] = box.mhaEnds;
    return { seen: [number.children[0] + name, set.x - 10, 10 - set.y], saved: [text, xshift, yshift] };
  });
})()"""


def test_words_do_not_move_while_a_run_plays_and_are_saved_as_they_stand():
    runs = [[[150, 90, 60, 50], True], [[150, 40], False], [[150, 40, 120], False]]
    runs += [[[150, 40, 120, 160], True]]
    found = in_v8(DRAWN.replace("FRAMES", json.dumps(runs)))
    assert [re.sub("<.*?>", "", one["saved"][0]) for one in found] == [
        f"{number} loss" for number in (50, 40, 120, 160)
    ]
    for one in found:
        text, *place = one["saved"]
        assert one["seen"] == [re.sub("<.*?>", "", text), *place]
    assert found[0]["saved"][1:] == found[1]["saved"][1:] == found[2]["saved"][1:]
    assert found[3]["saved"][2] != found[0]["saved"][2]
