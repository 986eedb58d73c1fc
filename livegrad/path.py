"""``Path``: what a training run leaves behind, to look at, to keep in a file, and to go on from."""

from copy import deepcopy
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Generic, Self

import numpy as np
from numpy.typing import NDArray

from livegrad.console import printed
from livegrad.model.weights import attributes, weights

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    M = TypeVar("M", default=Any)  # Python has the default from 3.13 on
else:
    from typing import TypeVar

    M = TypeVar("M")


@dataclass(frozen=True, eq=False, repr=False)
class RunState(Generic[M]):
    """Where a run stands: all that ``train(…, resume=path)`` needs to go on.

    ``k`` is the number of steps taken, ``model`` the model after them, and ``memory`` what the rule
    remembers, such as Adam's two moments, as models. ``first_loss`` is the loss at the start, None
    if there is none yet. ``recipe`` says what the run was given: a run that goes on is given the
    same. Minibatches follow from k and the seed in the recipe.
    """

    k: int
    model: M
    memory: Any
    first_loss: float | None
    recipe: dict[str, Any]

    def __repr__(self) -> str:
        return f"RunState(after {self.k} steps of {self.recipe['optimizer']}, {self.model!r})"

    def copied(self) -> Self:
        """The same with arrays of its own: a rule may write into what it remembers.

        Raises TypeError if the rule remembers what cannot be copied.
        """
        moving = weights(self.model)
        # What models share stays shared: two points must agree in it, and it may have no equality.
        shared = {id(v): v for name, v in attributes(self.model).items() if name not in moving}
        try:
            return replace(
                self,
                model=deepcopy(self.model, dict(shared)),
                memory=deepcopy(self.memory, shared),
            )
        except Exception as error:
            raise TypeError(
                f"optimizer: expected a {self.recipe['optimizer']} whose state can be copied, got "
                f"{type(error).__name__}: {error}; keep arrays, models and numbers in it"
            ) from error


@printed
@dataclass(frozen=True, eq=False, repr=False)
class Path(Generic[M]):
    """What a training run left behind, at the recorded steps.

    ``path.steps`` are the recorded steps in order; 0 and the last are among them unless you chose
    others. Every curve is an array of the same length. All models have ``loss`` and ``grad_norm``,
    and ``test_loss`` with a test set; the others are those of the model, such as what its
    ``norms()`` give. ``path[k]`` is the model at the k-th recorded step. ``stopped`` says why a run
    ended early, else it is None.

    ``state`` is what ``train(…, resume=path)`` goes on from. It is None after a run that diverged,
    and after one that was interrupted while a rule of your own made its step.

    Examples
    --------
    >>> from livegrad.examples.logistic_regression import LogisticRegression, clouds
    >>> path = lg.train(LogisticRegression(np.zeros(2)), clouds(), lg.GradientDescent(lr=1.0), steps=5)
    >>> path.steps
    array([0, 1, 2, 3, 4, 5])
    >>> path[-1].w.shape, path.loss.shape
    ((2,), (6,))
    """

    steps: NDArray[np.int64]
    models: tuple[M, ...]
    curves: dict[str, NDArray[np.float64]]
    stopped: str | None = None
    state: RunState[M] | None = None

    def __getattr__(self, name: str) -> NDArray[np.float64]:
        # Copying and unpickling ask for attributes of an object that has no fields yet: plain
        # access to ``self.curves`` would come back here without end.
        curves = self.__dict__.get("curves", {})
        nothing = f"nothing: {self.__dict__.get('stopped')}"
        if name in curves:
            return curves[name]
        raise AttributeError(
            f"this Path has no curve {name!r}; it recorded {', '.join(sorted(curves)) or nothing}"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.curves]

    def __repr__(self) -> str:
        if not len(self):
            return f"Path(nothing recorded, stopped={self.stopped!r})"
        losses = f"loss {self.loss[0]:.3g} at step {self.steps[0]} → {self.loss[-1]:.3g} at step {self.steps[-1]}"
        return f"Path({len(self)} recorded steps, {losses}" + (
            f", stopped={self.stopped!r})" if self.stopped else ")"
        )

    def __len__(self) -> int:
        return len(self.models)

    def __getitem__(self, k: int) -> M:
        if not self.models:
            raise IndexError(f"path: expected a recorded step, got {self!r}")
        return self.models[k]

    def save(self, file: str | PathLike[str]) -> None:
        """Write the path to one file, whose name ends in .npz: steps, models, curves and state,
        exactly. ``load`` reads it, and ``numpy.load`` shows its arrays.

        The file is written whole or not at all, and takes the place of one of that name. Nothing in
        it is pickled, so it holds numbers and no code.

        Raises TypeError if what the rule remembers is something else than numbers, words, arrays
        and models, and lists, tuples and dicts of them; ValueError if the path has no model, or the
        name another ending; FileNotFoundError if there is no such folder.
        """
        from livegrad.model import stored

        if not self.models:
            raise ValueError(f"path: expected one that recorded a model, got none: {self.stopped}")
        state = self.state and {f.name: getattr(self.state, f.name) for f in fields(self.state)}
        parts = {
            "steps": self.steps,
            "models": stored.Series(self.models),
            "curves": self.curves,
            "stopped": self.stopped,
            "state": state,
        }
        stored.save(file, "path", self.models[-1], parts)


def load(file: str | PathLike[str], like: Any = None) -> Any:
    """The ``Path`` or the model of a file that ``path.save`` or ``model.save`` wrote, every number
    as it was.

    Models of this package come back by themselves. For a class of your own, or a setting that is no
    number, such as a function, give a model: the file holds no code.

    Raises ValueError if the file is damaged, is not one of these, or is of a version that is not
    known yet; TypeError if the file asks for another model than ``like``; FileNotFoundError if
    there is none.

    Parameters
    ----------
    file : a path that ends in .npz
    like : a model of the class that was saved, whatever its weights

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from livegrad.examples.logistic_regression import LogisticRegression
    >>> with TemporaryDirectory() as folder:
    ...     LogisticRegression(np.array([0.1, 0.2])).save(Path(folder) / "model.npz")
    ...     lg.load(Path(folder) / "model.npz").w
    array([0.1, 0.2])
    """
    from livegrad.model import stored

    kind, parts = stored.load(file, like)
    if kind == "model":
        return parts["model"]
    state = parts["state"]
    return Path(**parts | {"models": tuple(parts["models"]), "state": state and RunState(**state)})


class Records:
    """The rows of a Path in the making; those of an earlier one come first."""

    def __init__(self, before: Path | None = None) -> None:
        self.steps: list[int] = [] if before is None else before.steps.tolist()
        self.models: list[Any] = [] if before is None else list(before.models)
        self.rows: list[dict[str, float]] = []
        self._curves: dict[str, np.ndarray] = {} if before is None else before.curves
        self._built = len(self.models)  # rows that are in the curves already

    def add(self, k: int, model: Any, row: dict[str, float]) -> None:
        """The model at step k and its row: name of a curve → number.

        Raises ValueError if the rows before, of an earlier run, have other curves.
        """
        if self._curves and row.keys() != self._curves.keys():
            raise ValueError(
                f"resume: expected a run with the curves {', '.join(sorted(self._curves))}, got "
                f"one with {', '.join(sorted(row))}; give it the same data and model"
            )
        self.steps.append(k)
        self.models.append(model)
        # The row comes last, because ``path`` takes as many steps and models as there are rows.
        self.rows.append(row)

    def path(self, stopped: str | None, state: RunState | None = None) -> Path:
        """All rows, as a Path, whose arrays are its own."""
        if self.rows:
            new = {name: np.array([row[name] for row in self.rows]) for name in self.rows[0]}
            known = self._curves or {name: a[:0] for name, a in new.items()}
            self._curves = {name: np.concatenate([known[name], a]) for name, a in new.items()}
            self._built, self.rows = self._built + len(self.rows), []
        # an interrupt may leave a step without its row
        n = self._built
        curves = {name: a.copy() for name, a in self._curves.items()}
        steps = np.array(self.steps[:n], dtype=int)
        return Path(steps, tuple(self.models[:n]), curves, stopped, state)
