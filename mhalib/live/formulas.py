"""The programs of the live figures: formulas of mhalib, as ``make kernel`` prints and compiles them."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import partial
from typing import Any

from mhalib.attention import Gaussian, NormalizedGaussian, softmax
from mhalib.compiler import Place, Program
from mhalib.data.regression import LinearTruth
from mhalib.models import AttentionLayer, AttentionRegression, MultiHeadAttention
from mhalib.models.regression import excess_and_grad
from mhalib.models.vector import with_attributes
from mhalib.optim import (
    Adam,
    AdamW,
    Cosine,
    GradientDescent,
    InverseRoot,
    Momentum,
    OneCycle,
    Preconditioned,
    StructureAware,
    Warmup,
)
from mhalib.whitening import Whitening, moment


def heads(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What a figure asks of the multi-head classifier: gradient, Hessian–vector product, and what it records.

    What a product asks of the weights, the entry ``point`` keeps for many of them.
    """
    model, X, y = MultiHeadAttention(a["W"], a["U"]), a["X"], a["y"]
    loss, grad = model.loss_and_grad(X, y)
    hessian, (n, T, H, _) = model.hessian_operator(X, y), a["kept_A"].shape
    point = {f"kept{name}": getattr(hessian, name).reshape(n, T, H, T) for name in ("_A", "_away")}
    point |= {f"kept{name}": getattr(hessian, name).reshape(n) for name in ("_g", "_curvature")}
    A, away = (a[f"kept{name}"].reshape(n, T * H, T) for name in ("_A", "_away"))
    g, curvature = a["kept_g"][:, None, None], a["kept_curvature"]
    kept = {"_A": A, "_away": away, "_dS": A * away, "_g": g, "_curvature": curvature}
    product = with_attributes(hessian, kept)(MultiHeadAttention(a["VW"], a["VU"]))
    A, P = model._attend(X)
    score = (A * a["relevant"][:, None, None, :]).sum(axis=-1).mean()
    return {"gradient": {"loss": loss, "dW": grad.W, "dU": grad.U}, "point": point,
            "product": {"HW": product.W, "HU": product.U},
            "forward": {"loss": loss, "score": score, "accuracy": (model.margins(X, y) > 0).mean(),
                        "logits": model(X), "A": A, "P": P},
            "norms": model.norms()}


def raveled(buffer: str, W: str, U: str) -> dict[str, Place]:
    """Where the weights of H heads lie in a buffer that has the order of their ``ravel``."""
    return {name: Place(buffer, "H * (d * d + T * d)", begin, ("(d * d + T * d)", "d", "1"))
            for name, begin in ((W, "0"), (U, "d * d"))}


def multihead() -> Program:
    """The program of ``heads``."""
    places = (raveled("theta", "W", "U") | raveled("direction", "VW", "VU") | raveled("slope", "dW", "dU")
              | raveled("along", "HW", "HU"))
    shapes = {"X": "n T d", "y": "n", "relevant": "n T", "W": "H d d", "U": "H T d", "VW": "H d d", "VU": "H T d",
              "kept_A": "n T H T", "kept_away": "n T H T", "kept_g": "n", "kept_curvature": "n"}
    return Program(heads, shapes, "n", places)


KERNELS: dict[str, Any] = {"softmax": lambda c: softmax, "gaussian": Gaussian, "normalized": NormalizedGaussian}
WEIGHTS = {"WQ": "H D d", "WK": "H D d", "WV": "H D d", "WO": "H d m"}


def layer(kernel: str) -> Program:
    """What a figure asks of a Transformer layer with this kernel: gradient, Hessian–vector product, S and B."""
    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        X, y = a["X"], a["y"]
        model, V = (AttentionLayer(*(a[f"{along}{name}"] for name in WEIGHTS), KERNELS[kernel](a["c"]))
                    for along in ("", "V"))
        loss, grad = model.loss_and_grad(X, y)
        product = model.hvp(X, y, V)
        return {"gradient": {"loss": loss} | {f"d{name}": getattr(grad, name) for name in WEIGHTS},
                "product": {f"H{name}": getattr(product, name) for name in WEIGHTS},
                "forward": {"loss": loss, "weights": model.weights(X), "mixed": model.mixed(X)}}

    places: dict[str, Place] = {}
    for buffer, prefix in (("theta", ""), ("direction", "V"), ("slope", "d"), ("along", "H")):
        for k, (name, shape) in enumerate(WEIGHTS.items()):
            _, rows, columns = shape.split()
            places[f"{prefix}{name}"] = Place(buffer, "(H * (3 * D * d + d * m))", f"{k} * H * D * d",
                                              (f"({rows} * {columns})", columns, "1"))
    shapes = {"X": "N n D", "y": "N n m"} | {f"{along}{name}": shape for along in ("", "V")
                                             for name, shape in WEIGHTS.items()}
    return Program(formulas, shapes, "N", places, "c")


def regression() -> Program:
    """What a figure asks of a regression whose queries X are its context, too: gradient, effective tokens, weights.

    All queries are one block, at any size; the blocks that numpy takes only add up the same sums in parts.
    """
    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        data = a["X"], a["y"]
        model, V = (AttentionRegression(a[f"{along}A"], a[f"{along}B"]) for along in ("", "V"))
        loss, grad = model.loss_and_grad(*data, a["context"])
        product = model.hvp(*data, V, a["context"])
        excess, EA, EB = excess_and_grad(model.A, model.B, a["Sigma"], a["M"])
        return {"gradient": {"loss": loss, "effective": model.effective_tokens(a["X"], a["context"]).mean(),
                             "dA": grad.A, "dB": grad.B},
                "product": {"HA": product.A, "HB": product.B},
                "forward": {"loss": loss, "weights": softmax(model._scores(a["X"], a["context"]))},
                "population": {"excess": excess, "EA": EA, "EB": EB}}

    places = {f"{prefix}{name}": Place(buffer, "(p * d + d * d)", begin, ("d", "1"))
              for buffer, prefix in (("theta", ""), ("direction", "V"), ("slope", "d"), ("along", "H"), ("limit", "E"))
              for name, begin in (("A", "0"), ("B", "p * d"))}
    shapes = {"X": "m d", "y": "m p", "context": "n d", "Sigma": "d d", "M": "p d",
              "A": "p d", "B": "d d", "VA": "p d", "VB": "d d"}
    return Program(formulas, shapes, "m", places)


PROGRAMS: dict[str, Callable[[], Program]] = {
    "heads": multihead, "regression": regression, **{kernel: partial(layer, kernel) for kernel in KERNELS}}
"""Name of the files of a program → what makes it."""

RULES: dict[type, str] = {GradientDescent: "gd", Momentum: "momentum", Adam: "adam", AdamW: "adamw"}
"""The update rules that a page has, by the names that it knows them by."""
SCHEDULES: dict[type, str] = {InverseRoot: "root", Warmup: "warmup", Cosine: "cosine", OneCycle: "cycle"}
"""The schedules of the step size that a page has."""
STRUCTURED: tuple[type, ...] = (Preconditioned, StructureAware)
"""The rules that are told the data."""


def numbers(kinds: Iterable[type]) -> dict[str, float]:
    """The numbers of rules or schedules that are as they are unless something else is said."""
    return {f.name: f.default for kind in kinds for f in fields(kind) if isinstance(f.default, float)}


def _by_name(shapes):
    """Shape → names of arrays, the other way round."""
    return {name: shape for shape, names in shapes.items() for name in names.split()}


def _with_numbers(kind, arrays):
    """A rule or a schedule whose numbers are recorded ones: past the checks of them."""
    return with_attributes(kind.__new__(kind), arrays)


def rules() -> Program:
    """A step of each update rule, with its state in m and v."""
    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        found = {}
        for kind, name in RULES.items():
            rule, moments = _with_numbers(kind, a), issubclass(kind, Adam)
            theta, state = rule.step(a["theta"], a["grad"], (a["m"], a["v"]) if moments else a["m"], a["k"])
            found[name] = {"theta": theta} | (dict(zip("mv", state, strict=True)) if moments else {"m": state})
        return found

    shapes = {"P": "theta grad m v", "": " ".join(["lr k", *numbers(RULES)])}
    return Program(formulas, _by_name(shapes), "P")


def schedules() -> Program:
    """The step size of step k by each schedule."""
    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {name: {"lr": _with_numbers(kind, a)(a["k"])} for kind, name in SCHEDULES.items()}

    return Program(formulas, _by_name({"": "k peak steps rise"}), "")


def structured() -> Program:
    """The steps of the rules that are told the data: the second one's between the spectral norms u of U and v of V."""
    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        model, grad = AttentionRegression(a["A"], a["B"]), AttentionRegression(a["dA"], a["dB"])
        known = a | {"whitening": Whitening(a["R"], a["inverse"])}
        one, two = (_with_numbers(kind, known) for kind in STRUCTURED)
        U, V, u, v, k = (a[name] for name in "UVuvk")
        return {"preconditioned": one.step(model, grad, None, k)[0].arrays(),
                "whiten": dict(zip("UV", one.whitening.whiten(model), strict=True)),
                "move": dict(zip("UV", two.moved(U, V, grad, u, v, k), strict=True)),
                "renormalize": two.renormalized(U, V, v, model).arrays(),
                "spectral": one.whitening.balanced(a["P"], a["S"], a["W"], model.A)}

    places = {f"{prefix}{name}": Place(buffer, "(p * d + d * d)", begin, ("d", "1"))
              for buffer, prefix in (("theta", ""), ("grad", "d")) for name, begin in (("A", "0"), ("B", "p * d"))}
    shapes = {"p d": "A dA U P", "d d": "B dB V W R inverse", "d": "S", "": "lr k u v balance radius"}
    return Program(formulas, _by_name(shapes), "p", places)


def linear() -> Program:
    """The samples of a ``LinearTruth`` from draws, and what is computed of samples once."""
    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        truth = LinearTruth.of(*(a[name] for name in ("basis", "eigenvalues", "left", "singular", "right", "sigma")), 0)
        x, y = truth.assembled(a["tokens"], a["noise"])
        return {"assemble": {"x": x, "y": y, "Sigma": truth.Sigma, "M": truth.M, "R": truth.root},
                "moment": {"moment": moment(a["x"], a["x"])},
                "fit": {"fit": Whitening(a["inverse"], a["inverse"]).fit(a["x"], a["y"])}}

    shapes = {"n d": "tokens x", "n p": "noise y", "p d": "left", "d d": "basis right inverse",
              "d": "eigenvalues singular", "": "sigma"}
    return Program(formulas, _by_name(shapes), "n")


PLAIN: dict[str, tuple[Callable[[], Program], Iterable[type]]] = {
    "linear": (linear, ()), "rules": (rules, RULES), "schedules": (schedules, SCHEDULES),
    "structured": (structured, STRUCTURED)}
"""Name of the file of a program that is JavaScript alone → what makes it, and whose numbers the file says, too."""
