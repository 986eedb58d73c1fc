"""The pages of the packages (book/api.md and book/api_book.md) show every name that the packages
offer."""

import inspect
import re
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import joblib
import numpy as np
import pytest
import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

import livegrad
import mhabook
import mhalib as mha

BOOK = Path(__file__).parents[2] / "book"
PAGES = "\n".join((BOOK / name).read_text("utf-8") for name in ("api.md", "api_book.md"))
MODULES = (
    "livegrad.live",
    "livegrad.optim",
    "livegrad.plots",
    "mhalib.data",
    "mhalib.models",
    "livegrad.landscape",
    "mhalib.plots",
    "mhalib.live",
    "mhalib.optim",
    "mhabook.plots",
    "mhabook.studies",
    "mhabook.exercises",
    "mhabook.c08_digits",
    "mhabook.c08_digits.text",
    "mhabook.c17_laboratory",
)


def looked_up(name):
    """The object of a name such as ``mhalib.data.planted.Planted`` or ``Momentum.step``."""
    *path, last = (
        name.split(".")
        if name.startswith(("livegrad", "mhalib", "mhabook"))
        else ["mhalib", *name.split(".")]
    )
    for k in range(len(path), 0, -1):
        try:
            found = import_module(".".join(path[:k]))
        except ModuleNotFoundError:
            continue
        for part in [*path[k:], last]:
            found = getattr(found, part)
        return found


def shown():
    """The objects that the page shows, one by one or as members of a module."""
    for kind, name in re.findall(r"\.\. auto(class|function|module|method|data):: ([\w.]+)", PAGES):
        thing = import_module(name) if kind == "module" else looked_up(name)
        yield thing
        if kind == "module":
            yield from (
                value
                for name, value in vars(thing).items()
                if name in getattr(thing, "__all__", ())
                or getattr(value, "__module__", "") == thing.__name__
            )


SHOWN = list(shown())


def is_shown(thing):
    return any(thing is other for other in SHOWN) or any(type(thing) is other for other in SHOWN)


def public(module):
    """The names that a module offers: functions and classes of its own or of the files of its
    folder."""
    names = getattr(module, "__all__", None) or [
        name for name in vars(module) if not name.startswith("_")
    ]
    return [
        name
        for name in names
        if getattr(getattr(module, name), "__module__", "").startswith(module.__name__)
    ]


@pytest.mark.parametrize("package", [livegrad, mha, mhabook])
def test_every_name_of_the_packages_is_shown(package):
    missing = [
        name
        for name in package.__all__
        if not inspect.ismodule(thing := getattr(package, name)) and not is_shown(thing)
    ]
    assert not missing, f"the pages do not show, of {package.__name__}: {', '.join(missing)}"


@pytest.mark.parametrize("module", MODULES)
def test_every_name_of_their_modules_is_shown(module):
    module = import_module(module)
    missing = [name for name in public(module) if not is_shown(getattr(module, name))]
    assert not missing, f"the pages do not show, of {module.__name__}: {', '.join(missing)}"


def padded_model(whole):
    """The class of the page, with the weights of a model."""
    names = {"dataclass": dataclass, "livegrad": livegrad, "mha": mha, "np": np}
    (block,) = re.findall(r"```python\n(@dataclass[^`]*?class Padded.*?)```", PAGES, re.DOTALL)
    exec(block, names)
    return names["Padded"](whole.W, whole.U)


def test_the_padded_model_sees_the_tokens_that_are_there():
    whole = mha.MultiHeadAttention.random(H=2, T=5, d=4, scale=0.5, seed=1)
    padded = padded_model(whole)
    X = np.concatenate([mha.data.planted(n=6, T=5, d=4).X, np.ones((6, 5, 1))], axis=2)
    for there in (5, 3):
        X[:, there:] = 0
        short = mha.MultiHeadAttention(whole.W, whole.U[:, :there])
        np.testing.assert_allclose(padded(X), short(X[:, :there, :4]), rtol=1e-12)


def test_derivatives_of_the_padded_model_are_torchs_with_a_mask_of_keys():
    n, T, d, H = 6, 5, 4, 2
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, T, d)), np.sign(rng.standard_normal(n))
    there = (np.arange(T) < rng.integers(1, T + 1, n)[:, None]).astype(float)
    assert 0 in there
    model = padded_model(mha.MultiHeadAttention.random(H=H, T=T, d=d, scale=0.5, seed=1))
    data = mha.data.from_arrays(np.concatenate([X, there[:, :, None]], axis=2), y)
    Xt, yt, mask = torch.as_tensor(X)[:, None], torch.as_tensor(y), torch.as_tensor(there)[:, None]

    def loss(W, U):
        K = Xt.expand(n, H, T, d)
        read = functional.scaled_dot_product_attention(
            Xt @ W, K, K, mask[:, :, None].bool().expand(n, H, T, T), scale=1.0
        )
        logits = (mask * (read * U).sum(dim=-1)).sum(dim=(1, 2)) / H**0.5
        return functional.softplus(-yt * logits).mean()

    V = livegrad.landscape.random_direction(model, seed=2)
    at, along = (tuple(torch.as_tensor(a) for a in each.arrays().values()) for each in (model, V))
    with sdpa_kernel(SDPBackend.MATH):
        found, image = torch.autograd.functional.hvp(loss, at, along)
        slopes = torch.autograd.functional.jacobian(loss, at)
    value, grad = model.loss_and_grad(data.X, y)
    np.testing.assert_allclose(value, found.item(), rtol=1e-13)
    for mine, theirs in ((grad, slopes), (model.hvp(data.X, y, V), image)):
        for a, b in zip(mine.arrays().values(), theirs, strict=True):
            np.testing.assert_allclose(a, b.numpy(), rtol=1e-9, atol=1e-14)
    X[there == 0] = 7.0  # what stands in the padding counts for nothing
    other = np.concatenate([X, there[:, :, None]], axis=2)
    assert (model.loss_and_grad(other, y)[1] - grad).norm() == 0


def test_two_models_are_compared_on_my_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = mha.data.tokenized_mixture(n=80)
    data = mha.data.from_arrays(given.X, given.y)
    names = {"dataclass": dataclass, "livegrad": livegrad, "mha": mha, "np": np, "data": data}
    (block,) = re.findall(
        r"```python\n(@dataclass[^`]*?class MeanOfTokens.*?)```", PAGES, re.DOTALL
    )
    exec(block, names)
    model = mha.MultiHeadAttention.random(H=4, T=10, d=8, scale=0.3, seed=0)
    train, test = data.split(test=0.25, seed=0)
    path = mha.train(model, train, names["rule"], steps=500, test=test)
    row, other = names["rows"]
    right = (path[-1].margins(test.X, test.y) > 0).mean()
    assert list(row.values()) == ["attention", path.test_loss[-1], right, None]
    assert other["right"] == (names["path"][-1](test.X) * test.y > 0).mean()
    assert len(names["figure"].data) == 4
    words = "".join(ElementTree.parse("compared.svg").getroot().itertext())
    assert "Two models on my data" in words and "mean of tokens, test" in words


def test_several_runs_make_bands():
    data = mha.data.tokenized_mixture(n=20)
    names = {"joblib": joblib, "mha": mha, "data": data}
    (block,) = re.findall(r"```python\n(def run\(H, seed\).*?)```", PAGES, re.DOTALL)
    exec(block.replace("n_jobs=-1", "n_jobs=1").replace("compiled=True", "compiled=False"), names)
    rows = names["rows"]
    assert [(row["H"], row["seed"]) for row in rows] == names["settings"]
    path = mha.train(
        mha.MultiHeadAttention.random(H=4, T=10, d=8, scale=0.3, seed=2),
        data,
        mha.Adam(0.01),
        steps=200,
        compiled=False,
    )
    np.testing.assert_array_equal(rows[7]["loss"], path.loss)
    assert {name: len(losses) for name, losses in names["losses"].items()} == {
        "H = 1": 5,
        "H = 4": 5,
    }


def test_parameters_end_with_the_last_of_them():
    """Sphinx would set a paragraph behind them as one more, in bold letters."""
    for thing in SHOWN:
        doc = f"{inspect.getdoc(thing)}\n\n"
        for listed in re.findall(
            r"(?s)Parameters\n-+\n(.*?)\n\n(?=Raises |Source: |\w+\n--|\Z)", doc
        ):
            rows = [row for row in listed.split("\n") if row.strip()]
            odd = [row for row in rows if not re.match(r" |[\w, *]+ : ", row)]
            assert not odd, f"{thing}: {odd}"


@pytest.mark.parametrize(
    "module", sorted({statement.function.__module__ for statement in mhabook.ledger})
)
def test_every_file_of_statements_is_shown(module):
    assert f".. automodule:: {module}\n   :members:" in PAGES, (
        f"book/api_book.md does not show {module}"
    )
