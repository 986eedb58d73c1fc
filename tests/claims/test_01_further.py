"""What the page multihead/01_further says, held against what its cells leave."""

import numpy as np
from sklearn.linear_model import LogisticRegression

import mhalib as mha
from page import Page

page = Page("multihead/01_further")
UNQUOTED = {
    "holds by the statement or the proof beside it, or another chapter's": (
        "prove-scale",
        "live-heads-seen: By",
        "live-heads-seen: So more heads",
    ),
    "what a figure shows, or a cell does": (
        "digits-seen",
        "digits-honest: Two cautions",
        "solution-digits-end: The second table",
    ),
    "a question, or a guess at a reason": (
        "queries-seen: So probably",
        "live-heads-text: Do more heads",
        "live-heads-seen: A likely reason",
    ),
}


@page.after(
    "runs",
    says=(
        "takes 2,000 steps of gradient descent. Where do the ten queries",
        "the distracting queries give the relevant token most of their weight, but the relevant token gives "
        "little weight "
        "to itself",
        "each of the four distracting patterns occurs as a query more than twice per sample on average, "
        "whereas $\\mu_+$ "
        "occurs only once, and only in samples with the label $+1$",
    ),
)
def test_distracting_queries_look_at_the_relevant_token_more_than_it_looks_at_itself(
    data, path, said
):
    steps, queries, patterns, twice, label = said
    assert path.steps[-1] == steps and data.X.shape[1] == queries
    assert len(data.truth.nu) == patterns and (~data.relevant).sum(axis=1).mean() > twice * patterns
    plus = (data.X @ data.truth.mu[1] > 2)[data.relevant]
    assert (data.relevant.sum(axis=1) == 1).all() and (plus == (data.y == label)).all()
    weights, star = path[-1].attention(data.X)[:, 0], data.relevant
    itself, others = (
        weights[asking[:, :, None] & star[:, None]].mean() for asking in (star, ~star)
    )
    assert others > 0.8 > 0.4 > itself


@page.after(
    "figure-rows",
    says=(
        "scikit-learn's 8 × 8 handwritten digits and treat each image as a\nsequence of eight tokens, namely "
        "its rows of "
        "eight pixel values each. Two digits define the classes: a 3 has the label $-1$, an 8 the label $+1$",
        "Four heads are initialized with small random parameters, so that they are not identical, and "
        "trained for 1,000 "
        "steps",
        "Rows 2 and 5, counted from 0, together get more than half of the weight of every head. These rows "
        "contain the left "
        "sides of the two loops, which are open in a 3\nand closed in an 8",
    ),
)
def test_rows_2_and_5_get_more_than_half_of_every_heads_weight_and_show_the_open_bows(
    digit_path, digits, held_out, said
):
    high, wide, tokens, pixels, count, open_, minus, closed, plus, *said = said
    heads, steps, row, other, _, half, loops, *again = said
    assert digits.X.shape[1:] == (high, wide) == (tokens, pixels) and again == [open_, closed]
    known = mha.data.digits(classes=(int(open_), int(closed)), n=200, seed=0)
    assert np.array_equal(known.X, digits.X) and np.array_equal(known.y, digits.y)
    assert len(digit_path[-1].W) == heads and digit_path.steps[-1] == steps
    rows = [int(row), int(other)]
    assert len(rows) == loops == count
    rows_seen = digit_path[-1].attention(held_out.X).mean(axis=(0, 2))  # (H, T)
    assert rows_seen[:, rows].sum(axis=1).min() > half
    three, eight = (digits.X[digits.y == y][:, rows, 2:4].mean(axis=0) for y in (minus, plus))
    assert three.max() < 0.3 < 0.4 < eight.min()


@page.after(
    "figure-rows",
    says=(
        "logistic regression on the 64 raw pixels\nclassifies the same images at least as well as the heads "
        "do. Second, "
        "rows 2 and 5 are not the only rows in which the two digits differ: logistic regression on the other "
        "six rows alone "
        "is about as accurate as on these two alone"
    ),
)
def test_logistic_regression_does_as_well_and_about_as_well_from_either_part(
    digit_path, digits, held_out, said
):
    pixels, *pair, classes, six, two = said
    others = {*range(8)} - {*pair}
    assert digits.X[0].size == pixels and len({*digits.y}) == classes
    assert (len(others), len(pair)) == (six, two)

    def accuracy(*rows):
        linear = LogisticRegression(max_iter=50_000).fit(
            digits.X[:, rows].reshape(len(digits), -1), digits.y
        )
        return linear.score(held_out.X[:, rows].reshape(len(held_out), -1), held_out.y)

    assert accuracy(*range(8)) >= digit_path.test_accuracy[-1]
    assert abs(accuracy(*map(int, pair)) - accuracy(*others)) < 0.02


@page.after(
    "solution-counting",
    says="With four patterns, the distracting queries give more weight to the relevant token than the "
    "relevant query does; "
    "with eighteen, they give less",
)
def test_with_four_patterns_distracting_queries_are_ahead_with_eighteen_the_relevant_one(
    shares, said
):
    assert said == [4, 18] and len(shares) == 3
    assert shares[0, 0] > shares[0, 1]
    assert shares[2, 0] < shares[2, 1]


@page.after(
    "solution-digits",
    says=(
        "The rows of the first table are one head and four heads; its columns are four random seeds. The "
        "means of its two "
        "rows differ by less than half of the difference between seeds",
        "the number\nof heads matters less than the seed",
        "no pair of rows gets half of any head's weight",
    ),
)
def test_the_seeds_matter_more_than_the_number_of_heads_and_no_pair_of_rows_gets_half(
    accuracies, weights, said
):
    heads, seeds, two, half, most = said
    assert accuracies.shape == (two, seeds) and len(weights) == heads
    assert np.ptp(accuracies.mean(axis=1)) < half * np.ptp(accuracies, axis=1).min()
    assert np.sort(weights, axis=1)[:, -2:].sum(axis=1).max() < most


def scores_and_losses(live, most=16, **values):
    paths = [live.path(H=H, **values) for H in (1, 2, 4, 8, 16) if most >= H]
    return [path.attention_score[-1] for path in paths], [path.loss[-1] for path in paths]


@page.after(
    "live-heads",
    says=(
        "The mixture has fewer tokens than before. Training starts at zero and takes 500 steps. Move $H$ "
        "from 1 to 16 at "
        "$\\eta=1$",
        "At the same step size, more heads learn *more slowly*. With every doubling of the number of heads, "
        "the attention "
        "score (the fraction of the attention on relevant tokens) ends lower and the training loss ends "
        "higher. {cite:t}`deora2023` report the same trend in the caption of\ntheir Figure 2",
        "The attention scores have the same order at $\\eta=0.3$, $1$, and $3$, but not at $\\eta=10$: "
        "there, two heads end "
        "with a higher attention score than one",
    ),
)
def test_more_heads_attend_less_up_to_step_size_3_and_not_at_10_and_are_slower_at_1(
    data, few, live, said
):
    steps, _, most, lr, _, *rates, two = said
    assert few.X.shape[1] < data.X.shape[1] and live.path().steps[-1] == steps
    assert lr == rates[1] and max(H for H in live.controls["H"].values if most >= H) == most
    # (η, what, H)
    ends = np.array([scores_and_losses(live, most, lr=lr) for lr in rates])
    assert (np.diff(ends[:3, 0]) < 0).all()
    assert two == 2 and ends[3, 0, 0] < ends[3, 0, 1]
    assert (np.diff(ends[1, 1]) > 0).all()


@page.after(
    "live-heads",
    says=(
        "Under Adam, the order of the losses is reversed: more heads end with a *lower* loss, because now "
        "the step of the "
        "decoder grows with $\\sqrt H$",
        "The attention score of sixteen heads is nevertheless lower than that of one head, because only the "
        "decoder is "
        "faster",
    ),
)
def test_under_adam_more_heads_have_a_lower_loss_and_a_lower_score(live, said):
    (most,) = said
    scores, losses = scores_and_losses(live, most, optimizer="adam", lr=0.01)
    assert (np.diff(losses) < 0).all()
    assert scores[-1] < scores[0]
