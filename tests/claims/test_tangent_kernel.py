"""What the page start/tangent_kernel says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.start.figure_linearized import distances
from mhabook.start.linearized import Linearized
from page import Page

page = Page("start/tangent_kernel")
UNQUOTED = {
    "what is proved, or defined": (
        "see: The model is",
        "see: As a function",
        "prove",
    ),
    "what is asked": (
        "sliders: With an initialization",
        "sliders: Which of",
    ),
}


def ends_at(live, **values):
    """Of a run of the live figure: loss, loss of the linearization, distance of the logits."""
    run = live.path(**values)
    return run.loss[-1], run.linear_loss[-1], run.distance[-1]


@page.after(
    "train",
    says=(
        "Both models are trained for 200 steps with the same step size on the same sixteen samples",
        "There are sixteen samples and $128$ features, one for each parameter",
        "The right panel shows the logits of the sixteen samples at the end of the run; on the "
        "diagonal",
    ),
)
def test_sixteen_samples_have_128_features(data, linear, path, said, start):
    steps, samples, same, features, shown = said
    assert path.steps[-1] == linear.steps[-1] == steps
    assert samples == same == shown
    assert start.features(data.X).shape == (samples, features)


@page.after("figure-train")
def test_the_two_losses_end_close_together(linear, path):
    assert 1 < linear.loss[-1] / path.loss[-1] < 1.1


@page.after(
    "figure-train",
    says=(
        "after one step and {glue:text}`apart_last` at the end, where the logits of the model "
        "have absolute values between $4$ and $9$",
        "This answers the first question: the agreement is good at first and rough later",
        "Their root-mean-square distance over the samples is {glue:text}`apart_first`",
    ),
)
def test_the_logits_drift_apart(apart, data, path, said):
    least, most = said
    assert said == [int(least), int(most)]
    assert path.steps[1] == 1
    assert apart[-1] > 10 * apart[1]
    assert least < abs(path[-1](data.X)).min() < least + 1
    assert most - 1 < abs(path[-1](data.X)).max() < most


@page.after(
    "check-order",
    says=(
        "Move the parameters in the direction of the run, by a tenth and by a hundredth of its "
        "total distance. The error should fall by a factor near $100$"
    ),
)
def test_a_tenth_of_the_way_leaves_a_hundredth_of_the_error(V, data, errors, said, start):
    far, near, factor = said
    moved = [Linearized(part * V, start) for part in (far, near)]
    errors_again = [abs(part(data.X) - part.moved()(data.X)).max() for part in moved]
    np.testing.assert_allclose(errors_again, errors, rtol=1e-6)
    assert 0.9 * factor < errors[0] / errors[1] < 1.1 * factor


@page.after("check-kernel")
def test_the_kernel_predicts_the_logits_after_one_step(data, linear, predicted):
    assert abs(predicted - linear[1](data.X)).max() < 1e-12


@page.after(
    "figure-width",
    says=(
        "the distance between the logits after 200 steps, the distance moved by the parameters",
        "each as a mean over five random initializations",
        "From $4$ heads to $64$, the distance shrinks from {glue:text}`far_4` to "
        "{glue:text}`far_64`, by a factor of {glue:text}`shrinks`; the rate $1/\\sqrt H$ would "
        "give a factor of $4$",
        "Over all seven numbers of heads, the distance falls roughly like $H$ to the power",
        "This answers the second question: the distance shrinks",
    ),
)
def test_from_4_heads_to_64_the_distance_shrinks_a_little_faster_than_the_root(
    data, heads, means, said, step
):
    steps, starts, few, many, _, factor, sizes = said
    assert len(heads) == sizes and (many / few) ** 0.5 == factor
    models = [
        mha.MultiHeadAttention.random(int(few), 4, 4, seed=seed) for seed in range(int(starts))
    ]
    pairs = [
        [mha.train(each, data, step, steps=int(steps)) for each in (model, Linearized.at(model))]
        for model in models
    ]
    ends = [distances(*pair, data.X)[-1] for pair in pairs]
    assert np.isclose(np.mean(ends), means["distance of the logits"][2])
    assert [heads[k] for k in (0, 2, 6)] == [1, few, many]
    distance = means["distance of the logits"]
    assert factor < distance[2] / distance[6] < 6
    assert -0.65 < np.polyfit(np.log(heads), np.log(distance), 1)[0] < -0.5


@page.after(
    "figure-width",
    says=(
        "The distance that all parameters together move hardly depends on $H$",
        "The attention weights change by {glue:text}`change_1` with one head and by "
        "{glue:text}`change_64` with $64$",
    ),
)
def test_the_way_hardly_depends_on_the_heads_and_attention_moves_less(heads, means, said):
    (many,) = said
    assert heads[6] == many
    way, change = means["distance of the parameters"], means["change of attention weights"]
    assert 2.5 < way.min() <= way.max() < 3.9
    assert change[6] < change[0] / 3


@page.after(
    "live-linearized",
    says=(
        "With a step size of $3$, does the linearization stay close to the model",
        "The first step alone drives the logits apart by more than $2$, and they are still this "
        "far apart at the end. Even so, both losses are below $4\\cdot10^{-4}$: the two models "
        "fit the same labels in different ways",
    ),
)
def test_a_large_step_leaves_the_neighborhood_and_fits_all_the_same(live, said):
    rate, apart, digit, models = said
    assert models == 2
    loss, linear_loss, distance = ends_at(live, lr=rate)
    assert apart < live.path(lr=rate).distance[1] < 1.5 * apart
    assert apart < distance < 2 * apart
    assert 0.5e-4 * digit < max(loss, linear_loss) < 1e-4 * digit


@page.after(
    "live-linearized",
    says=(
        "The model is farther from its linearization, although the first step separates the two "
        "less than a tenth as much as at scale $1$",
        "the features in $W$ are small, so the linearization can hardly move attention. The "
        "model can, because its features grow during training",
    ),
)
def test_a_small_start_learns_features_and_its_linearization_lags(live, said):
    models, tenth, scale = said
    first = [live.path(scale=one).distance[1] for one in (tenth * scale, scale)]
    assert models == 2 and 0.4 * tenth < first[0] / first[1] < tenth
    loss, linear_loss, distance = ends_at(live, scale=tenth * scale)
    assert 5 < linear_loss / loss < 7
    assert distance > 2 * ends_at(live)[2]


@page.after("live-linearized")
def test_the_first_step_from_a_small_start_takes_them_less_than_a_tenth_as_far_apart(live):
    small, large = (live.path(scale=scale).distance[1] for scale in (0.1, 1.0))
    assert small < 0.1 * large


@page.after(
    "live-linearized",
    says=(
        "With $64$ heads instead of $4$, which of the three panels changes most",
        "with $64$ heads, the distance falls from {glue:text}`small_few` to "
        "{glue:text}`small_many`",
        "More heads help here as well",
    ),
)
def test_sixty_four_heads_keep_the_logits_together_and_help_a_small_start_too(live, said):
    many, few, panels, same = said
    assert len(live.path().curves) >= panels and many == same and few == live.controls["H"].value
    many = int(many)
    assert ends_at(live, H=many)[2] < ends_at(live)[2] / 10
    assert ends_at(live, H=many, scale=0.1)[2] < ends_at(live, scale=0.1)[2] / 2


@page.after(
    "solution-still",
    says=(
        "With four heads, the relative change is nearly one half; with $64$ heads, it is less "
        "than one twentieth"
    ),
)
def test_the_kernel_changes_by_nearly_half_with_4_heads_and_by_less_than_a_twentieth_with_64(
    change_of_kernel, said
):
    few, half, many, twentieth = said
    assert 0.9 * half < change_of_kernel(int(few)) < half
    assert 0.5 * twentieth < change_of_kernel(int(many)) < twentieth
