"""The programs that only figures of the book run: formulas of mhalib, as ``make kernel`` prints and
compiles them."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from livegrad.live.rule_formulas import by_name, with_numbers
from livegrad.model.programs import parts, places, program
from livegrad.record import Program
from mhalib.attention import Gaussian, NormalizedGaussian, softmax
from mhalib.data.regression import LinearTruth
from mhalib.live.formulas import VECTORS
from mhalib.models import AttentionLayer, AttentionRegression
from mhalib.models.regression import excess_and_grad
from mhalib.optim import Preconditioned, StructureAware
from mhalib.whitening import Whitening, moment

KERNELS: dict[str, Any] = {
    "softmax": lambda c: softmax,
    "gaussian": Gaussian,
    "normalized": NormalizedGaussian,
}


def layer(kernel: str) -> Program:
    """What a figure asks of a Transformer layer with this kernel: gradient, Hessian–vector product,
    S and B."""
    axes = AttentionLayer.axes

    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        X, y = a["X"], a["y"]
        model, V = (
            AttentionLayer(*(a[f"{along}{name}"] for name in axes.weights), KERNELS[kernel](a["c"]))
            for along in ("", "V")
        )
        loss, grad = model.loss_and_grad(X, y)
        return {
            "gradient": {"loss": loss} | parts("d", grad),
            "product": parts("H", model.hvp(X, y, V)),
            "forward": {"loss": loss, "weights": model.weights(X), "mixed": model.mixed(X)},
        }

    return program(axes, formulas, *VECTORS, number="c")


def regression() -> Program:
    """What a figure asks of a regression whose queries X are its context, too: gradient, effective
    tokens, weights.

    All queries are one block, at any size; the blocks that numpy takes only add up the same sums in
    parts.
    """

    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        data = a["X"], a["y"]
        model, V = (AttentionRegression(a[f"{along}A"], a[f"{along}B"]) for along in ("", "V"))
        loss, grad = model.loss_and_grad(*data, a["context"])
        excess, EA, EB = excess_and_grad(model.A, model.B, a["Sigma"], a["M"])
        effective = model.effective_tokens(a["X"], a["context"]).mean()
        return {
            "gradient": {"loss": loss, "effective": effective} | parts("d", grad),
            "product": parts("H", model.hvp(*data, V, a["context"])),
            "forward": {"loss": loss, "weights": softmax(model._scores(a["X"], a["context"]))},
            "population": {"excess": excess, "EA": EA, "EB": EB},
        }

    reads, writes = VECTORS
    return program(
        AttentionRegression.axes,
        formulas,
        reads,
        writes | {"limit": "E"},
        more={"context": "n d", "Sigma": "d d", "M": "p d"},
    )


PROGRAMS: dict[str, Callable[[], Program]] = {
    "regression": regression,
    **{kernel: partial(layer, kernel) for kernel in KERNELS},
}
"""Name of the files of a program → what makes it."""

STRUCTURED: tuple[type, ...] = (Preconditioned, StructureAware)
"""The rules that are told the data."""


def structured() -> Program:
    """The steps of the rules that are told the data: the second one's between the spectral norms u
    of U and v of V."""

    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        model, grad = AttentionRegression(a["A"], a["B"]), AttentionRegression(a["dA"], a["dB"])
        known = a | {"whitening": Whitening(a["R"], a["inverse"])}
        one, two = (with_numbers(kind, known) for kind in STRUCTURED)
        U, V, u, v, k = (a[name] for name in "UVuvk")
        return {
            "preconditioned": one.step(model, grad, None, k)[0].arrays(),
            "whiten": dict(zip("UV", one.whitening.whiten(model), strict=True)),
            "move": dict(zip("UV", two.moved(U, V, grad, u, v, k), strict=True)),
            "renormalize": two.renormalized(U, V, v, model).arrays(),
            "spectral": one.whitening.balanced(a["P"], a["S"], a["W"], model.A),
        }

    axes = AttentionRegression.axes
    lie = places(axes, "theta") | places(axes, "grad", "d")
    shapes = {
        "p d": "A dA U P",
        "d d": "B dB V W R inverse",
        "d": "S",
        "": "lr k u v balance radius",
    }
    return Program(formulas, by_name(shapes), "p", lie)


def linear() -> Program:
    """The samples of a ``LinearTruth`` from draws, and what is computed of samples once."""

    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        # The last 0 stands for a seed, which nothing reads here: the draws come from outside.
        truth = LinearTruth.of(
            *(a[name] for name in ("basis", "eigenvalues", "left", "singular", "right", "sigma")), 0
        )
        x, y = truth.assembled(a["tokens"], a["noise"])
        return {
            "assemble": {"x": x, "y": y, "Sigma": truth.Sigma, "M": truth.M, "R": truth.root},
            "moment": {"moment": moment(a["x"], a["x"])},
            "fit": {"fit": Whitening(a["inverse"], a["inverse"]).fit(a["x"], a["y"])},
        }

    shapes = {
        "n d": "tokens x",
        "n p": "noise y",
        "p d": "left",
        "d d": "basis right inverse",
        "d": "eigenvalues singular",
        "": "sigma",
    }
    return Program(formulas, by_name(shapes), "n")


PLAIN: dict[str, tuple[Callable[[], Program], Iterable[type]]] = {
    "linear": (linear, ()),
    "structured": (structured, STRUCTURED),
}
"""Name of the file of a program that is JavaScript alone → what makes it, and whose numbers the
file says, too."""
