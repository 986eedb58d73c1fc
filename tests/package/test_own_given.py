"""What a reader hands to a figure of their own model is computed right, or refused by name; and no
name is code."""

import json
import os
import re
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
from livegrad.live import widget
from livegrad.record.javascript import printed
from livegrad.record.trace import Untraceable, array
from optional import session, torch
from own import DATA, LINE_DATA, TEMPERED, Line, Tempered, in_v8, of_line

SAMPLES = {
    "a statement": "z = 0;alert(document.title)//",
    "the end of a script": "</script><script>alert(1)</script>",
    "a comment of HTML": "<!-- <script>",
    "a quotation mark": '"',
    "an apostrophe": "'",
    "a line break": "a\nb",
    "a line break of JavaScript": "a\u2028b",
    "a lone surrogate": "a\ud800",
    "nothing": "",
    "a hyphen": "test-set",
    "a template": "${alert(1)}",
    "a place in a sentence": "{loss}",
    "a formula of TeX": "$x$",
    "a mark of HTML": "<b>",
    "an umlaut": "größe",
    "a letter of Greek": "η",
    "a word of JavaScript": "class",
    "a word of Python": "lambda",
    "what all objects have": "constructor",
    "the prototype": "__proto__",
    "a method": "hasOwnProperty",
    "ten thousand letters": "z" * 10_000,
    "test data": "test_loss",
    "a size": "size",
    "what is measured last": "final",
    "the curves": "curves",
    "a buffer": "b0",
    "an array": "theta_0",
    "the data": "data_0",
}


class Named:
    """A line whose weight and number have whatever names, with everything written by hand."""

    def __init__(self, weight, number, w, decay):
        self.called = weight, number
        vars(self).update({weight: w, number: decay})

    def parts(self):
        return [vars(self)[name] for name in self.called]

    def moved(self, w):
        return Named(*self.called, w, self.parts()[1])

    def __add__(self, other):
        return self.moved(self.parts()[0] + other.parts()[0])

    def __sub__(self, other):
        return self + -1.0 * other

    def __mul__(self, number):
        return self.moved(self.parts()[0] * number)

    __rmul__ = __mul__

    def dot(self, other):
        return float(self.parts()[0] @ other.parts()[0])

    def loss(self, X, y):
        w, decay = self.parts()
        return ((X @ w - y) ** 2).mean() + decay * (w * w).sum()

    def loss_and_grad(self, X, y):
        w, decay = self.parts()
        return self.loss(X, y), self.moved(2 * X.T @ (X @ w - y) / len(y) + 2 * decay * w)


def named(weight="w", number="decay"):
    return Named(weight, number, np.array([0.1, 0.2, 0.3]), 0.1)


def with_data(name):
    data = SimpleNamespace(X=LINE_DATA.X, y=LINE_DATA.y)
    vars(data)[name] = np.arange(20.0)
    return data


def shifted(name):
    return {"shift": lambda model, data: (vars(data)[name] * (data.X @ vars(model)["w"])).sum()}


def length(model, data):
    w, _ = model.parts()
    return (w * w).sum()


def small(start, **options):
    return of_line(start=start, steps=3, **options)


TEXTS = {
    "an array of the data": lambda name: small(named(), data=with_data(name), curves=shifted(name)),
    "a weight": lambda name: small(named(weight=name)),
    "a number": lambda name: small(named(number=name), controls={name: [0.0, 0.1, 0.5]}),
    "a curve": lambda name: small(named(), curves={name: length}),
    "a telling case": lambda name: small(named(), tries={name: {}}),
    "a title": lambda name: small(named(), title=name),
}


TAGS = {"html", "head", "meta", "title", "style", "body", "figure", "figcaption", "div", "script"}


class Scripts(HTMLParser):
    """The scripts of a page, the words around them, and the values of attributes, as a browser
    finds them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.scripts, self.tags = False, [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.open = tag == "script"
        self.scripts += [""] * self.open

    def handle_endtag(self, tag):
        self.open = False

    def handle_data(self, data):
        if self.open:
            self.scripts[-1] += data


def assert_right(figure, tmp_path):
    """The page trains as Python does, at both ends of its slider; and what the texts say is nowhere
    a program."""
    name, control = next(iter(figure.controls.items()))
    for value in (control.values[0], control.values[-1]):
        values = figure.values | {name: value}
        found, right = in_v8(figure, values)["curves"], figure.drawn(**values)
        assert found.keys() == right.keys() - {"steps"}
        for curve, numbers in found.items():
            np.testing.assert_allclose(numbers, right[curve], rtol=1e-9)
    figure.save(tmp_path / "figure.html")
    text = (tmp_path / "figure.html").read_text("utf-8")
    page = Scripts(text)
    *_, state, _, module = page.scripts  # the others are the page's own
    told = {"spec": figure.spec | {"alone": True}, "values": figure.values}
    assert json.loads(state) == json.loads(json.dumps(told))
    assert module == re.search(MODULE, text, re.DOTALL)[1]
    assert page.tags - {"img", "p"} == TAGS, "beside the picture, or in a book its words"


MODULE = r'<script type="module">(.*)</script>\s*$'


@cache
def plain(make):
    """The figure in which nothing has a strange name."""
    return make("plain")


EVERYWHERE = {
    "a statement",
    "the end of a script",
    "a quotation mark",
    "a line break of JavaScript",
    "a lone surrogate",
    "the prototype",
}
"""What is tried in every place every time; the others are in one, and in all of them weekly."""
ROWS = [
    pytest.param(
        make,
        sample,
        id=f"{place}-{name}",
        marks=() if name in EVERYWHERE or k % len(TEXTS) == j else pytest.mark.weekly,
    )
    for j, (place, make) in enumerate(TEXTS.items())
    for k, (name, sample) in enumerate(SAMPLES.items())
]


@pytest.mark.long
@pytest.mark.parametrize("make, sample", ROWS)
def test_a_text_of_the_reader_is_no_code(make, sample, tmp_path, monkeypatch):
    monkeypatch.setattr(widget, "PLOTLY", Path(os.devnull))  # not ours to read
    try:
        figure = make(sample)
    except (TypeError, ValueError) as error:
        start = repr(sample)[1:10]
        assert str(error).startswith(("controls: ", "curves: ", "title: ", "tries: ", "start: "))
        assert start in str(error)
        assert len(str(error)) < 300
        return
    assert figure._esm == plain(make)._esm, "a program has no names in it"
    assert_right(figure, tmp_path)


def test_no_printer_carries_a_name_from_outside():
    for name in ("z = 0;alert(1)//", "größe", "a-b", ""):
        with pytest.raises(ValueError, match="number the arrays"):
            printed({"loss": array(name, (3,)).sum()}, "b")


# --- numbers that are not finite, whole numbers, other data
# ----------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Head(mha.models.Vector):
    """One head, whose last token answers."""

    W: np.ndarray

    def loss(self, X, y):
        return np.logaddexp(0, -y * (X @ self.W)[:, -1, 0]).mean()


def first(model, data):
    S = data.X @ model.W @ data.X.mT + data.mask
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return (E / E.sum(axis=-1, keepdims=True))[:, 1, 0].mean()


HEADS = np.random.default_rng(0).normal(size=(20, 4, 3))
SIGNS = np.sign(np.random.default_rng(1).normal(size=20))


def assert_page_agrees(figure):
    found, right = in_v8(figure, figure.values)["curves"], figure.drawn()
    for curve, numbers in found.items():
        np.testing.assert_allclose(numbers, right[curve], rtol=1e-9)


def test_a_mask_of_minus_infinity_reaches_the_page():
    mask = np.where(np.tri(4, dtype=bool), 0.0, -np.inf)
    figure = small(
        Head(np.zeros((3, 3))),
        data=SimpleNamespace(X=HEADS, y=SIGNS, mask=mask),
        curves={"first": first},
    )
    state = figure.get_state()
    assert session.json_unpacker(session.json_packer(state))["spec"] == state["spec"], (
        "as a kernel sends it"
    )
    json.dumps(figure.spec, allow_nan=False)
    assert_page_agrees(figure)
    assert 0.4 < figure.path().first[-1] < 0.6, "of the second token's weights, on two tokens"


def test_infinite_numbers_of_a_start_reach_the_page():
    start = Line(np.array([0.5, 0.1, 0.2]))
    data = SimpleNamespace(X=LINE_DATA.X, y=LINE_DATA.y, bound=np.array([np.inf, 1.0, np.inf]))
    figure = small(
        start,
        data=data,
        curves={"clipped": lambda model, data: np.minimum(model.w, data.bound).sum()},
    )
    assert "Infinity" in figure.spec["data"]["arrays"]["data_2"]
    assert_page_agrees(figure)


@pytest.mark.parametrize("kind", [int, bool, np.int8, np.uint8, ">f8"])
def test_whole_numbers_and_bools_in_data_are_numbers(kind):
    data = SimpleNamespace(X=LINE_DATA.X, y=LINE_DATA.y, kept=(np.arange(20) % 3 > 0).astype(kind))
    curves = {
        "on_kept": lambda model, data: (
            (data.kept * (data.X @ model.w - data.y) ** 2).sum() / data.kept.sum()
        )
    }
    assert_page_agrees(small(Line(np.zeros(3)), data=data, curves=curves))


def test_a_mask_of_bools_is_one():
    data = SimpleNamespace(X=LINE_DATA.X, y=LINE_DATA.y, kept=np.arange(20) % 3 > 0)
    curves = {"others": lambda model, data: np.where(~data.kept, data.X @ model.w, 0).sum()}
    assert_page_agrees(small(Line(np.ones(3)), data=data, curves=curves))


def one_at_zero(model, data):
    """A curve whose record is another function at w = 0, and nowhere else."""
    other = 0.0 if isinstance(data.X, np.ndarray) else np.where(abs(model.w).sum() > 0, 0.0, 1.0)
    return model.w.sum() + other


def test_a_curve_is_compared_at_the_start_itself():
    with pytest.raises(
        ArithmeticError, match="at the start one is 0.0 by the formula .* 1.0 by its record"
    ):
        small(Line(np.zeros(3)), curves={"one": one_at_zero})


def test_labels_of_whole_numbers_are_numbers():
    data = SimpleNamespace(X=LINE_DATA.X, y=(LINE_DATA.y > 0).astype(int))
    assert_page_agrees(small(Line(np.zeros(3)), data=data))


class Halved:
    """Data with a property, a method and a length, and an array that no formula reads."""

    def __init__(self):
        self.rows, self.y, self.names = LINE_DATA.X, LINE_DATA.y, np.array(["a", "b", "c"])

    @property
    def X(self):
        return self.rows / 2

    def scale(self):
        return 3.0

    def __len__(self):
        return len(self.y)


def test_what_else_data_have_is_there():
    curves = {"scaled": lambda model, data: data.scale() * (data.X @ model.w).sum() / len(data)}
    figure = small(Line(np.zeros(3)), data=Halved(), curves=curves)
    assert_page_agrees(figure)
    assert list(figure.spec["data"]["arrays"]) == ["data_0", "data_1"], (
        "the page carries what is read"
    )


# --- controls and curves
# ---------------------------------------------------------------------------------------------


def test_values_made_by_linspace_have_a_slider():
    figure = small(
        Line(np.zeros(3)),
        rule=mha.GradientDescent(lr=0.3),
        controls={"lr": np.linspace(0.1, 1, 10)},
    )
    assert (
        figure.controls["lr"].values[2] == figure.values["lr"] == 0.3
        and figure.controls["lr"].texts[2] == "0.3"
    )
    assert (figure.path(lr=0.1 + 0.2).loss == figure.path(lr=0.3).loss).all()
    figure.values = {"lr": 0.7000000000000001}
    assert figure.values["lr"] == np.linspace(0.1, 1, 10)[6]


def test_each_of_several_curves_has_its_own_numbers():
    curves = {
        name: lambda model, data, k=k: model.w[k] + 0.0 * model.w.sum()
        for k, name in enumerate("cab")
    }
    figure = small(Line(np.zeros(3)), curves=curves)
    assert_page_agrees(figure)
    assert len({figure.path().curves[name][-1] for name in curves}) == 3


def test_a_slider_shows_its_values_in_the_order_given():
    assert small(Line(np.zeros(3)), controls={"lr": (1, np.float64(0.1), 0.5)}).controls[
        "lr"
    ].values == (1, 0.1, 0.5)


def over(values, name="lr"):
    return lambda: small(Line(np.zeros(3)), controls={name: values})


def of(curves):
    return lambda: small(Line(np.zeros(3)), curves=curves)


def having(**arrays):
    return lambda: small(
        Line(np.zeros(3)), data=SimpleNamespace(**{"X": LINE_DATA.X, "y": LINE_DATA.y} | arrays)
    )


def wrapped():
    data = SimpleNamespace(X=LINE_DATA.X, y=np.arange(20).astype(np.uint8))

    class Doubled(Line):
        def loss(self, X, y):
            return super().loss(X, 20 * y)

        def loss_and_grad(self, X, y):
            return super().loss_and_grad(X, 20 * y)

    return small(Doubled(np.zeros(3)), data=data)


def with_method(name):
    start = Line(np.zeros(3))
    vars(start)[name] = np.zeros(2)
    return small(start)


def of_torch(name):
    """What asks for a figure of data in which a tensor of torch stands for an array."""
    return lambda: having(**{name: torch.zeros(20, 3, dtype=torch.float64)})()


REFUSED = {
    "no controls": (
        lambda: small(Line(np.zeros(3)), controls=3),
        TypeError,
        "controls: expected a dictionary, .* got int",
    ),
    "an empty dictionary": (
        lambda: small(Line(np.zeros(3)), controls={}),
        ValueError,
        "controls: expected at least",
    ),
    "a number for a list": (
        over(0.1),
        TypeError,
        "controls: expected a list of numbers for lr, got float",
    ),
    "a text for a list": (
        over("0.1"),
        TypeError,
        "controls: expected a list of numbers for lr, got str",
    ),
    "a table": (
        over(np.ones((2, 2))),
        TypeError,
        "controls: expected numbers as the values of lr, got array",
    ),
    "an empty list": (over([]), ValueError, r"controls: .* the one at the start, 0.1, got \[\]"),
    "values twice by rounding": (
        over([0.1, 0.3, 0.1 + 0.2]),
        ValueError,
        "each value of lr once, got 0.3 and 0.3000",
    ),
    "a value that is a text": (
        over([0.1, "1"]),
        TypeError,
        "controls: expected numbers as the values of lr, got '1'",
    ),
    "a value that is true": (
        over([0.1, True]),
        TypeError,
        "controls: expected numbers .* lr, got True",
    ),
    "NaN among values": (
        over([0.1, np.nan]),
        ValueError,
        "controls: expected finite numbers .* lr, got nan",
    ),
    "a value beyond all doubles": (
        over([0.1, 10**400]),
        ValueError,
        "controls: expected finite numbers .* of lr",
    ),
    "a value that the rule refuses": (
        over([0.1, -1.0]),
        ValueError,
        "controls: lr: expected a positive number",
    ),
    "a name that is none": (
        over([0.1], 3),
        TypeError,
        "controls: expected names such as lr, got 3",
    ),
    "a name that a run uses": (
        over([0.1], "steps"),
        ValueError,
        "controls: expected a name that the figure does not",
    ),
    "no curves": (of(3), TypeError, "curves: expected a dictionary, .* got int"),
    "a curve that is no function": (
        of({"score": 3}),
        TypeError,
        "curves: expected for 'score' a function .* got 3",
    ),
    "a curve that raises": (
        of({"score": lambda model, data: {}["k"]}),
        ValueError,
        "curves: score raised KeyError: 'k'",
    ),
    "a curve of what data have not": (
        of({"score": lambda model, data: data.relevant.sum()}),
        ValueError,
        "curves: score raised AttributeError: .* 'relevant'",
    ),
    "a curve that cannot be recorded": (
        of({"score": lambda model, data: np.median(model.w)}),
        Untraceable,
        "curves: score: .* np.median is not among",
    ),
    "a curve of many numbers": (
        of({"score": lambda model, data: np.zeros((2, 300))}),
        Untraceable,
        r"curves: score: expected one number .* ndarray of shape \(2, 300\)$",
    ),
    "a curve without the model": (
        of({"score": lambda model, data: 0.5}),
        Untraceable,
        "curves: score: .* got 0.5",
    ),
    "a curve with a name of a Path": (
        of({"models": lambda model, data: model.w.sum()}),
        ValueError,
        "curves: expected a name that a Path does not use itself, got 'models'",
    ),
    "a curve with a name of sentences": (
        of({"first_loss": lambda model, data: model.w.sum()}),
        ValueError,
        "curves: expected a name that the figure does not use itself",
    ),
    "cases that are none": (
        lambda: small(Line(np.zeros(3)), tries=["lr"]),
        TypeError,
        r"tries: expected a dictionary, .* got \['lr'\]",
    ),
    "a case without values": (
        lambda: small(Line(np.zeros(3)), tries={"Try": 0.1}),
        TypeError,
        "tries: expected for 'Try' a dictionary, name → value, got 0.1",
    ),
    "a case without words": (
        lambda: small(Line(np.zeros(3)), tries={3: {"lr": 0.1}}),
        TypeError,
        "tries: expected a text, got 3",
    ),
    "a case of no control": (
        lambda: small(Line(np.zeros(3)), tries={"Try": {"momentum": 0.9}}),
        ValueError,
        "tries: Try: momentum: no such control; this figure has lr",
    ),
    "a case of no value": (
        lambda: small(Line(np.zeros(3)), tries={"Try": {"lr": 7.0}}),
        ValueError,
        "tries: Try: lr: expected one of .* got 7.0",
    ),
    "a title that is none": (
        lambda: small(Line(np.zeros(3)), title=None),
        TypeError,
        "title: .* a text, got None",
    ),
    "a weight called as a method": (
        lambda: with_method("loss"),
        TypeError,
        "start: .* methods of Line, got 'loss'",
    ),
    "a weight that is a number": (
        lambda: small(Tempered(*list(TEMPERED.arrays().values())[:2], 0.0), data=DATA),
        TypeError,
        r"tau: expected an array, .* not trained; np.array\(0.0\)",
    ),
    "a weight of torch": (
        lambda: small(Line(torch.zeros(3).double())),
        TypeError,
        "w: expected a numpy array, got torch.Tensor",
    ),
    "no weights": (
        lambda: small(Line(np.zeros(0))),
        ValueError,
        r"w: .* no empty axis, got shape \(0,\)",
    ),
    "data of torch": (
        of_torch("X"),
        TypeError,
        r"X: expected a numpy array, got torch.Tensor; X.detach\(\).numpy",
    ),
    "longer doubles": (
        having(weight=np.ones(20, np.longdouble)),
        TypeError,
        "weight: .* in double precision",
    ),
    "a list": (
        having(X=LINE_DATA.X.tolist()),
        TypeError,
        r"X: expected an array of numbers, got list; np.asarray",
    ),
    "texts": (
        having(y=np.array(["a"] * 20)),
        TypeError,
        "y: expected an array of numbers, got ndarray of <U1",
    ),
    "a masked array": (
        having(X=np.ma.masked_array(LINE_DATA.X, LINE_DATA.X > 1)),
        TypeError,
        r"X: .* X.filled\(value\)",
    ),
    "large whole numbers": (
        having(ids=np.full(20, 2**60)),
        ValueError,
        r"ids: expected whole numbers up to 2\*\*53",
    ),
    "whole numbers that wrap": (
        wrapped,
        ArithmeticError,
        r"is it y, which is uint8\? y.astype\(float\)",
    ),
    "a dictionary of data": (
        lambda: small(Line(np.zeros(3)), data={"X": 1, "y": 2}),
        TypeError,
        r"data: expected a dataset with arrays X and y, got dict",
    ),
    "a loss that is infinite at the start": (
        lambda: small(
            type(
                "Root",
                (Line,),
                {
                    "loss": lambda self, X, y: -np.log((self.w * self.w).sum()),
                    "loss_and_grad": lambda self, X, y: (
                        -np.log((self.w * self.w).sum()),
                        Line(-2 * self.w / (self.w * self.w).sum()),
                    ),
                },
            )(np.zeros(3))
        ),
        ArithmeticError,
        "start: expected a loss that is finite. .* at the start",
    ),
}


@pytest.mark.parametrize("make, kind, said", REFUSED.values(), ids=REFUSED)
def test_what_a_figure_cannot_be_made_of_is_refused_by_name(make, kind, said):
    with pytest.raises(kind, match=said) as refused:
        make()
    assert len(str(refused.value)) < 1000
