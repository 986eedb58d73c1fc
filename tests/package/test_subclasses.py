"""What a subclass, a constructor, a rule or data change without saying so is computed right, or
refused by name."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha

rng = np.random.default_rng(0)
TOKENS, LABELS = rng.standard_normal((12, 4, 3)), np.where(rng.random(12) < 0.5, -1.0, 1.0)
SEQUENCES = SimpleNamespace(X=TOKENS, y=rng.standard_normal((12, 4, 3)))
ROWS = SimpleNamespace(X=TOKENS[:, 0], y=LABELS)
W = np.array([0.1, -0.2, 0.3])
STEP = mha.GradientDescent(0.1)


def heads(**changes):
    return SimpleNamespace(**{"X": TOKENS, "y": LABELS.copy()} | changes)


@dataclass(frozen=True, eq=False, repr=False)
class Line(mha.models.Vector):
    """A logistic regression, whose loss goes through ``margins``."""

    w: np.ndarray
    decay: float = 0.0

    def margins(self, X, y):
        return y * (X @ self.w)

    def loss(self, X, y):
        return np.logaddexp(0, -self.margins(X, y)).mean() + self.decay * (self.w**2).sum()


# --- a subclass
# -------------------------------------------------------------------------------------------------------


class Penalized(mha.MultiHeadAttention):
    """A penalty of which the inherited closed forms know nothing."""

    loss_and_grad = mha.models.Vector.loss_and_grad

    def loss(self, X, y):
        return super().loss(X, y) + 5 * ((self.W**2).sum() + (self.U**2).sum())


def test_the_hessian_of_a_subclass_is_that_of_its_own_loss():
    plain, own = mha.MultiHeadAttention.random(1, 4, 3, seed=0), Penalized.random(1, 4, 3, seed=0)
    wanted = mha.landscape.hessian(plain, heads()) + 10 * np.eye(21)
    np.testing.assert_allclose(mha.landscape.hessian(own, heads()), wanted, rtol=1e-9, atol=1e-9)
    V = Penalized.random(1, 4, 3, seed=1)
    image = own.hvp(TOKENS, LABELS, V)
    flat = np.concatenate([a.ravel() for a in V.arrays().values()])
    np.testing.assert_allclose(
        np.concatenate([a.ravel() for a in image.arrays().values()]), wanted @ flat, rtol=1e-9
    )


class Residual(mha.AttentionLayer):
    """Its outputs are others than those of the closed form that it inherits."""

    def __call__(self, X):
        return X + super().__call__(X)


class CausalHeads(mha.MultiHeadAttention):
    def attention(self, X):
        A = super().attention(X) * np.tril(np.ones((X.shape[1], X.shape[1])))
        return A / A.sum(axis=-1, keepdims=True)


class Doubled(Line):
    """A gradient twice too large."""

    def loss_and_grad(self, X, y):
        loss, grad = mha.models.Vector.loss_and_grad(self, X, y)
        return loss, grad * 2.0


class Fivefold(Line):
    """Another loss than its own."""

    def loss_and_grad(self, X, y):
        loss, grad = mha.models.Vector.loss_and_grad(self, X, y)
        return 5 * loss, grad


OTHERS = {
    "outputs": (Residual.random(3, 2, 3, 1), SEQUENCES),
    "attention": (CausalHeads.random(1, 4, 3), heads()),
    "twice the gradient": (Doubled(W), ROWS),
    "five times the loss": (Fivefold(W), ROWS),
}


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, data: mha.train(model, data, STEP, 3),
        lambda model, data: mha.train(model, data, STEP, 3, batch=5),
        lambda model, data: mha.landscape.spectrum(model, data),
    ],
    ids=["train", "minibatches", "spectrum"],
)
@pytest.mark.parametrize("model, data", OTHERS.values(), ids=OTHERS)
def test_a_gradient_of_another_loss_is_refused(model, data, ask):
    with pytest.raises(
        ArithmeticError,
        match=rf"at the start .* {type(model).__name__}\.loss.* is that its gradient",
    ):
        ask(model, data)


class CausalDerived(CausalHeads):
    loss_and_grad = mha.models.Vector.loss_and_grad


def test_attention_of_a_subclass_is_trained_where_the_gradient_is_derived():
    model, data = CausalDerived.random(1, 4, 3, seed=0), heads()
    by, way = 1e-6, CausalDerived.random(1, 4, 3, seed=1)
    path = mha.train(model, data, STEP, 1)
    moved = (model - path[-1]) * 10.0
    slope = (
        ((model + by * way).loss(TOKENS, LABELS)) - ((model - by * way).loss(TOKENS, LABELS))
    ) / (2 * by)
    assert moved.dot(way) == pytest.approx(slope, rel=1e-6)
    assert path.loss[0] == pytest.approx(model.loss(TOKENS, LABELS), rel=1e-12)
    assert abs(path.loss[0] - mha.MultiHeadAttention(model.W, model.U).loss(TOKENS, LABELS)) > 1e-3


# --- a constructor
# ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Positive(Line):
    def __post_init__(self):
        object.__setattr__(self, "w", np.maximum(self.w, 0))


@dataclass(frozen=True, eq=False)
class Capped(Line):
    def __post_init__(self):
        object.__setattr__(self, "w", np.minimum(self.w, 1))


@dataclass(frozen=True, eq=False)
class Checked(Line):
    def __post_init__(self):
        if self.w.shape != (3,):
            raise ValueError("w: expected shape (3,)")


@pytest.mark.parametrize("kind", [Positive, Capped])
@pytest.mark.parametrize(
    "ask",
    [
        lambda model: mha.train(model, ROWS, STEP, 3),
        lambda model: mha.live.figure(model, ROWS, STEP, 3),
        lambda model: mha.landscape.hessian(model, ROWS),
    ],
    ids=["train", "live", "landscape"],
)
def test_what_a_constructor_does_to_weights_is_refused(kind, ask):
    with pytest.raises(
        TypeError, match=rf"^w: .* {kind.__name__}.__post_init__ leaves as they are"
    ):
        ask(kind(np.array([0.1, 0.2, 0.3])))


def test_a_constructor_that_only_checks_is_no_obstacle():
    assert (
        mha.train(Checked(W), ROWS, STEP, 3).loss[-1] == mha.train(Line(W), ROWS, STEP, 3).loss[-1]
    )


@dataclass(frozen=True, eq=False)
class Clamped(Line):
    def __post_init__(self):
        object.__setattr__(self, "decay", min(self.decay, 1.0))


def test_a_slider_has_values_that_the_model_takes_as_they_are():
    with pytest.raises(
        ValueError, match=r"controls: expected values of decay .* got 2.0, of which it makes 1.0"
    ):
        mha.live.figure(Clamped(W, 0.1), ROWS, STEP, 3, {"decay": [0.1, 2.0]})


@dataclass(frozen=True, eq=False)
class Remembering(Line):
    def __post_init__(self):
        object.__setattr__(self, "twice", 2 * self.decay)


def test_what_a_constructor_sets_beside_fields_is_refused_first():
    with pytest.raises(TypeError, match=r"^twice: expected a field"):
        mha.live.figure(Remembering(W, 0.1), ROWS, STEP, 3, {"decay": [0.1, 0.2]})


# --- a rule, and data
# -------------------------------------------------------------------------------------------------


class Changing:
    """Descends, and calls something at every step."""

    def __init__(self, change):
        self.change = change

    def start(self, theta):
        return None

    def step(self, theta, grad, state, k):
        self.change(k)
        return theta - 0.1 * grad, None


def negated(array):
    array *= -1


@pytest.mark.parametrize("options", [{}, {"batch": 5}], ids=["all", "minibatches"])
def test_data_that_a_rule_changes_are_refused(options):
    data = heads()
    with pytest.raises(
        TypeError,
        match="data: expected data that Changing.step leaves as they are, .* after step 0",
    ):
        mha.train(
            mha.MultiHeadAttention.random(1, 4, 3),
            data,
            Changing(lambda k: negated(data.y)),
            6,
            **options,
        )
    data = heads()
    with pytest.raises(TypeError, match="data: .* after step 2"):
        mha.train(
            mha.MultiHeadAttention.random(1, 4, 3),
            data,
            Changing(lambda k: k < 2 or setattr(data, "X", data.X + 1)),
            6,
            **options,
        )


class Augmented:
    """Other noise at every look."""

    y = LABELS
    draws = np.random.default_rng(3)

    @property
    def X(self):
        return TOKENS + 0.1 * self.draws.standard_normal(TOKENS.shape)


class Copying:
    y = LABELS

    @property
    def X(self):
        return TOKENS.copy()


def test_data_that_are_others_at_every_look_are_refused():
    with pytest.raises(TypeError, match="data: expected arrays X and y that stay as they are"):
        mha.train(mha.MultiHeadAttention.random(1, 4, 3), Augmented(), STEP, 3)
    mha.train(mha.MultiHeadAttention.random(1, 4, 3), Copying(), STEP, 3)


def test_a_variable_that_comes_back_in_the_end_is_refused():
    at = {"temperature": 1.0}

    class Tempered(Line):
        def margins(self, X, y):
            return at["temperature"] * super().margins(X, y)

    with pytest.raises(ArithmeticError, match="the loss at step 1 is .* has changed on the way"):
        mha.train(
            Tempered(W),
            ROWS,
            Changing(lambda k: at.update(temperature=5.0 if k % 2 == 0 else 1.0)),
            10,
        )


# --- what is left
# -----------------------------------------------------------------------------------------------------


def test_a_path_keeps_no_array_of_the_start():
    start = Line(W.copy())
    path = mha.train(start, ROWS, STEP, 3)
    path[0].w[:] = 99
    assert (start.w == W).all()


def test_a_number_that_is_trained_stays_an_array():
    @dataclass(frozen=True, eq=False)
    class Shift(mha.models.Vector):
        b: np.ndarray

        def loss(self, X, y):
            return np.logaddexp(0, -y * (X[:, 0] + self.b)).mean()

    end = mha.train(Shift(np.zeros(())), ROWS, STEP, 3)[-1]
    assert isinstance(end.b, np.ndarray)
    mha.live.figure(end, ROWS, STEP, 3)


@pytest.mark.parametrize("name", ["loss", "test_loss", "stopped"])
def test_what_a_model_measures_has_a_name_of_its_own(name):
    class Measuring(Line):
        def norms(self):
            return {name: 7.0}

    with pytest.raises(
        ValueError, match=f"norms, against: .* a Path does not use itself, got {name}"
    ):
        mha.train(Measuring(W), ROWS, STEP, 3, test=ROWS)


class Bare:
    """A point with + − * and dot, and no more."""

    def __init__(self, w):
        self.w = w

    def __add__(self, other):
        return Bare(self.w + other.w)

    def __sub__(self, other):
        return Bare(self.w - other.w)

    def __mul__(self, number):
        return Bare(self.w * number)

    __rmul__ = __mul__

    def dot(self, other):
        return float(self.w @ other.w)

    def loss(self, X, y):
        return Line(self.w).loss(X, y)

    def loss_and_grad(self, X, y):
        loss, grad = Line(self.w).loss_and_grad(X, y)
        return loss, Bare(grad.w)


def test_a_class_of_ones_own_descends_and_is_told_what_other_rules_ask_for():
    assert mha.train(Bare(W), ROWS, STEP, 5).loss[-1] == pytest.approx(
        mha.train(Line(W), ROWS, STEP, 5).loss[-1]
    )
    with pytest.raises(
        TypeError, match=r"model: .* as Adam asks for; got a Bare without __truediv__, __pow__"
    ):
        mha.train(Bare(W), ROWS, mha.Adam(0.1), 5)
    with pytest.raises(
        TypeError, match=r"only: expected a model that extends livegrad.Vector, got a Bare"
    ):
        mha.train(Bare(W), ROWS, STEP, 5, only="w")


class Steeper(Bare):
    """Its − and * give points of the class that it extends."""

    def loss(self, X, y):
        return 2 * super().loss(X, y)

    def loss_and_grad(self, X, y):
        loss, grad = super().loss_and_grad(X, y)
        return 2 * loss, Steeper(2 * grad.w)


def test_points_that_change_their_class_are_refused():
    with pytest.raises(
        TypeError, match=r"model: expected \+ − \* of Steeper to give a Steeper, got a Bare"
    ):
        mha.train(Steeper(W), ROWS, STEP, 5)


def test_a_flag_of_a_rule_is_no_method():
    rule = Changing(lambda k: None)
    rule.on = True
    assert mha.train(Line(W), ROWS, rule, 3).loss[-1] < mha.train(Line(W), ROWS, rule, 0).loss[-1]


def test_the_sign_micro_is_the_letter_as_python_reads_it():
    @dataclass(frozen=True, eq=False)
    class Micro(Line):
        µ: float = 0.1

        def loss(self, X, y):
            return super().loss(X, y) + self.µ * (self.w**2).sum()

    figure = mha.live.figure(
        Micro(W), ROWS, STEP, 3, {"\u00b5": [0.1, 0.2]}, {"\u00b5g": lambda m, d: m.w.sum()}
    )
    path = figure.path(µ=0.2)
    assert path.µg.shape == path.loss.shape


def test_a_subclass_without_its_decorator_and_a_field_called_fixed_are_named():
    class Shifted(Line):
        b: np.ndarray = np.zeros(())

    with pytest.raises(
        TypeError, match=r"b: .* write @dataclass\(frozen=True, eq=False\) above class Shifted, too"
    ):
        mha.train(Shifted(W), ROWS, STEP, 3)

    @dataclass(frozen=True, eq=False)
    class Fixing(mha.models.Vector):
        w: np.ndarray
        fixed: float = 0.5

        def loss(self, X, y):
            return np.logaddexp(0, -y * (X @ self.w)).mean()

    with pytest.raises(
        TypeError, match=r"fixed: expected names of arrays .* a field needs another name"
    ):
        mha.train(Fixing(W), ROWS, STEP, 3)


@dataclass(frozen=True, eq=False)
class Laid(Line):
    how: str = field(default="order")

    def margins(self, X, y):
        w = (
            self.w.reshape((3, 1), order="F")
            if self.how == "order"
            else np.concatenate([self.w, self.w], axis=None)
        )
        return y * (X @ w.ravel()[:3])


@pytest.mark.parametrize(
    "how, said", [("order", "reshape with order='F'"), ("axis", "concatenate with axis=None")]
)
def test_what_a_record_cannot_lay_out_is_refused_with_its_line(how, said):
    with pytest.raises(TypeError, match=rf"^test_subclasses\.py, line \d+: {said}"):
        mha.train(Laid(W, how=how), ROWS, STEP, 3)
