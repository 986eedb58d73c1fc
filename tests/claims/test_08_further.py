"""What the page multihead/08_further says, held against what its cells leave."""

import inspect

import numpy as np
from sklearn.linear_model import LogisticRegression

import mhabook
import mhalib as mha
from mhabook.c02_curvature import bounds, loss_bounds
from mhabook.c08_digits import text
from mhabook.c08_digits.runs import POWERS, at_its_best, digit_runs
from page import Page
from scripts import load

page = Page("multihead/08_further")
UNQUOTED = {
    "the chapter's, or held in one of its exercises": (
        "title: In",
        "accuracy-seen: (For 4 against 9",
        "prove-first-order: The picture",
    ),
    "holds by the statement or the proof beside it": (
        "adam-text: In the first step",
        "prove-gram: At a small initialization",
        "prove-first-order: The deviation",
        "prove-first-order: When the whole model",
        "prove-first-order: So the deviation",
        "prove-together",
        "check-frozen-text",
        "breaks: The bound",
        "transformer-text: Twice as many",
        "transformer-text: What changes",
        "transformer-text: More heads",
    ),
    "what a paper states": ("root-text", "see-text"),
    "what a cell, a figure or a script does": (
        "title: This page",
        "constant-text: Each line",
        "best-text: In the chapter",
        "prove-gram: The ledger's check",
        "check-ledger-moves-text",
        "check-gram-text",
        "thrown-text: After the second step",
        "reviews-text",
        "transformer-runs-text: The upper panels",
        "text-seen: The optimizer",
        "kinds-stored-text: The three numbers",
    ),
    "a question": (
        "further-guesses",
        "constant-text: Does",
        "adam-text: How much",
        "thrown-text: Is the reason",
        "sliders: Before",
        "sliders: At the default",
        "sliders: Does",
        "your-turn",
    ),
    "a conclusion": (
        "accuracy-seen: It was chosen",
        "accuracy-seen: They show",
        "text-seen: Without the larger",
        "exercise-open: The question",
    ),
}


def error(differences):
    """The standard error of a mean over seeds."""
    return differences.std(axis=-1, ddof=1) / differences.shape[-1] ** 0.5


@page.after(
    "figure-constant",
    says=(
        "Each run has 300 steps in single precision, and every setting has eight seeds. A seed determines "
        "the initialization "
        "and which 200 images are used for training",
        "The next figure uses 200 training images, up to 64 heads, and eight seeds",
        "From the small initialization, each doubling of the number of heads raises the median loss, and, at "
        "the end, the "
        "bands of one head and of 64 do not overlap",
        "All findings on digits and reviews are observations, for the data, sizes, and step sizes shown, "
        "with eight seeds",
    ),
)
def test_more_heads_are_slower_from_a_small_start_alone(table, HEADS, at_the_end, said):
    steps, seeds, images, same, most, eight, last, every = said
    assert table["steps"][0][-1] == steps and len({*table["seed"]}) == seeds == eight == every
    assert len(mha.data.digits(seed=0)) == images == same and max(HEADS) == most == last
    small, large = at_the_end("loss", 0.1), np.median(at_the_end("loss", 1.0), axis=1)
    assert (np.diff(np.median(small, axis=1)) > 0).all() and small[0].max() < small[-1].min()
    assert (
        np.diff(np.median(at_the_end("test_loss", 0.1), axis=1)) > 0
    ).all() and large.max() < 1.4 * large.min()


@page.after(
    "figure-root",
    says=(
        "Now 64 heads end at a lower loss than one, from either initialization",
        "With Adam at a step size of 0.01, more heads end at a lower loss",
    ),
)
def test_with_a_step_size_that_grows_and_with_adam_more_heads_end_lower(HEADS, at_the_end, said):
    most, lr = said
    images = mha.data.digits((3, 8), n=200, seed=0)
    start = mha.MultiHeadAttention.random(1, 8, 8, scale=0.1, seed=0)
    stored = digit_runs(0.1, 1, rule="adam")
    early = [k for k in stored["steps"][0] if k <= 5]
    path = mha.train(start, images, mha.Adam(lr), 5, record=early)
    np.testing.assert_allclose(path.loss, stored["loss"][0][: len(early)], rtol=1e-3)
    assert HEADS[-1] == most
    for scale in (0.1, 1.0):
        for setting in ({"power": POWERS["η ∝ √H"]}, {"rule": "adam"}):
            ends = np.median(at_the_end("loss", scale, **setting), axis=1)
            assert ends[-1] < ends[0]


@page.after(
    "figure-root",
    says=(
        "From the large initialization, runs with two or more heads stay close to each other up to "
        "$\\eta=8$, and a single "
        "head is hardly behind up to $\\eta=4$, so the gain comes from the larger step size",
        "At $\\eta=8$, a single head ends at more than twice the loss of any other number of heads; at the "
        "next larger step "
        "size, at more than six times",
    ),
)
def test_from_a_large_start_a_single_head_is_behind_at_large_step_sizes_alone(at_the_end, said):
    two, close, hardly, large, twice, six = said

    def medians(power):
        return np.median(at_the_end("loss", 1.0, power=lambda H: power), axis=1)

    last, level = (int(2 * np.log2(lr)) for lr in (close, hardly))
    for power in range(last + 1):
        ends = medians(power)
        assert ends[int(two) - 1 :].max() < 1.5 * ends[int(two) - 1 :].min()
        assert power > level or ends[0] < 1.3 * ends[1:].max()
    assert large == close
    for power, times in ((last, twice), (last + 1, six)):
        assert medians(power)[0] > times * medians(power)[1:].max()


@page.after(
    "best",
    says=(
        "the rows are the training loss after 111 steps, the training loss after 300, and the test loss after 300",
        "The columns are 1, 2, 4, …, 64 heads, and each number is the median over eight seeds",
        "From the large initialization, one head is worst in all three rows. On held-out images, it has "
        "about twice the loss of "
        "four or more heads, although in training, it has hundreds of times the loss of 64. From the small "
        "initialization, "
        "there is no consistent order after 111 steps, and on held-out images, we see no difference",
    ),
)
def test_from_a_large_start_one_head_is_behind_early_late_and_on_held_out_images(
    HEADS, chosen_by, best, said
):
    *steps, one, two, four, most, seeds, rows, twice, few, many, again = said
    assert [step for _, step in chosen_by] == steps and [*HEADS[:3], HEADS[-1]] == [
        one,
        two,
        four,
        most,
    ]
    assert (few, many, again) == (HEADS[2], HEADS[-1], steps[0])
    assert len(at_its_best(1.0)[1]) == seeds and best.shape == (2, rows, len(HEADS))
    assert (best[1].argmax(axis=1) == 0).all() and best[1, 1, 0] > 100 * twice * best[1, 1, -1]
    (early_small, early), (test_small, test) = (
        [np.median(at_its_best(scale, curve, step)[1], axis=0) for scale in (0.1, 1.0)]
        for curve, step in (("loss", 111), ("test_loss", 300))
    )
    assert (
        early[0] > 1.5 * early[1:].max()
        and 0.85 * twice < test[0] / test[2:].max() < test[0] / test[2:].min() < 1.15 * twice
    )
    assert (
        early_small[6] < early_small[0] < early_small[5]
        and test_small.max() < 1.2 * test_small.min()
    )


@page.after(
    "figure-accuracy",
    says=(
        "the first row is the mean test accuracy over eight seeds, from the large initialization at step size 1",
        "From 1 head to 64, mean accuracy changes by one to two percentage points in each of the four settings above",
        "It falls in one setting: the constant step size from the small initialization",
        "(The best entry of the table is that of eight heads",
    ),
)
def test_the_accuracy_moves_as_much_with_the_seed_as_with_the_heads(
    HEADS, at_the_end, spread, means, said
):
    seeds, _, one, many, two, cases, eight = said
    assert at_the_end("test_accuracy", 1.0).shape[1] == seeds and [one, many] == [
        HEADS[0],
        HEADS[-1],
    ]
    settings = [(scale, power) for scale in (0.1, 1.0) for power in POWERS.values()]
    gains = [
        (a[-1] - a[0]).mean()
        for a in (at_the_end("test_accuracy", *setting) for setting in settings)
    ]
    assert gains[0] < 0 < min(gains[1:]) and len(gains) == cases
    assert {round(100 * abs(gain)) for gain in gains} == {1, two}
    assert (
        spread.max() / 2 < min(map(abs, gains))
        and max(map(abs, gains)) < 2.5 * spread.max()
        and means.argmax() == HEADS.index(eight)
    )


@page.after(
    "figure-accuracy",
    says="*no* setting in the table has a higher mean accuracy than logistic regression on the raw pixels of "
    "the same images, "
    "either for 3 against 8 or for 4 against 9",
)
def test_no_setting_is_as_accurate_as_logistic_regression(linear, table, said):
    three, eight, four, nine = (int(digit) for digit in said)
    for pair in (f"{three}{eight}", f"{four}{nine}"):
        every = table.where(pair=pair).group("rule", "power", "scale", "H")["test_accuracy"][:, -1]
        assert every.max() < linear[pair].mean()


@page.after("figure-gram")
def test_with_more_heads_every_start_has_the_same_gram_matrix(away):
    assert away[0.1][0] < away[1.0][0] / 3
    assert 5 < away[1.0][0] / away[1.0][-1] < 11


def final(compared, scale):
    """The last losses of the run and of the frozen run, for 1, 8 and 64 heads."""
    return np.array([(run[-1], frozen[-1]) for _, run, frozen in compared[scale].values()]).T


@page.after(
    "figure-frozen",
    says=(
        "The actual loss ends below that of the frozen run. With more heads, the actual loss comes closer to "
        "the frozen one",
        "From the large initialization, the first order is good enough: 64 heads and their frozen run end together",
    ),
)
def test_more_heads_follow_their_first_order_longer(compared, said):
    assert [max(compared[1.0])] == said
    (small, small_frozen), (large, large_frozen) = final(compared, 0.1), final(compared, 1.0)
    assert (
        (np.diff(small) > 0).all() and (small < small_frozen).all() and np.ptp(small_frozen) < 0.02
    )
    assert large[-1] < large_frozen[-1] < 1.1 * large[-1] < small[-1] / 2


@page.after(
    "figure-frozen",
    says="so they contribute a much smaller fraction of the squared norm of the full gradient than at the large one",
)
def test_from_a_small_start_the_gradients_in_W_are_small(hundred):
    def share(scale):
        squares = (
            mha.MultiHeadAttention.random(64, 8, 8, scale).features(hundred.X).reshape(100, 64, -1)
            ** 2
        )
        return squares[..., :64].sum() / squares.sum()

    assert share(0.1) < 0.002 and share(1.0) > 0.05


@page.after(
    "thrown",
    says=(
        "With a step size of 30, the second step moves attention very far, and the attention of a single "
        "head about ten times "
        "as far as that of each of sixteen heads",
        "Then sixteen heads learn, whereas a single head does not",
        "The three lines of the output are for one head, for sixteen heads, and for the single head whose "
        "matrix $W$ was divided by ten. That "
        "head learns about "
        "as well as the sixteen, so a large number of heads is not needed. With attention held fixed, none "
        "of the three learns "
        "well, so the sixteen patterns are not enough. The four seeds of the chapter's figure show the same",
        "For most tokens, the single head gives nearly all weight to one token",
    ),
)
def test_after_very_long_steps_one_head_lacks_attention_that_can_learn(sixty, long, said):
    lr, times, sixteen, learn, lines, again, ten, same, three, patterns, seeds = said
    assert {learn, again, same, patterns} == {sixteen} and lines == three and lr == long.lr

    def end(model, **more):
        return mha.train(model, sixty, long, 198, record=[0, 198], **more).loss[-1]

    for seed in range(int(seeds)):
        paths = [
            mha.train(mha.MultiHeadAttention.random(H, 8, 8, 0.1, seed), sixty, long, 2, record=3)
            for H in (1, int(sixteen))
        ]
        alone, together = (
            np.linalg.norm((path[2] - path[1]).W, axis=(1, 2)).mean() for path in paths
        )
        assert 0.8 * times < alone / together < 1.6 * times
        one, many = (path[-1] for path in paths)
        eased = mha.MultiHeadAttention(one.W / ten, one.U)
        assert (one.attention(sixty.X).max(axis=-1) > 0.9).mean() > 0.5
        assert end(eased) < 3 * end(many) < 0.003
        assert end(one) > 0.1, (
            "this run jumps to its end: rounding decides where between 0.2 and 10"
        )
        assert min(end(model, only="U") for model in (one, many, eased)) > 0.2


@page.after(
    "figure-jump",
    says=(
        "Its largest eigenvalue hardly differs between one head and 64: up to zeros, its spectrum is that of "
        "$\\frac1n\\Theta$, weighted by $\\ell''$, and the mean of $\\Theta$ does not depend on $H$. So "
        "$2/\\lambda_{\\max}$ is "
        "nearly the same for every $H$, about three quarters, and a step size that grows like $\\sqrt H$ far "
        "exceeds it",
    ),
)
def test_the_curvature_at_the_start_does_not_know_the_number_of_heads(HEADS, at_the_end, said):
    most, two, quarters = said
    tops = at_the_end("top", 0.1)
    assert HEADS[-1] == most and abs(two / np.median(tops, axis=1) - quarters).max() < 0.05
    assert tops.min() > 2 and tops.max() < 2.9 and np.ptp(np.median(tops, axis=1)) < 0.15


@page.after("figure-jump", says="The loss jumps to nearly twenty and then falls again")
def test_no_run_diverges(table, highest, at_the_end, said):
    (jump,) = said
    top = max(each.max() for each in highest.values())
    assert 0.9 * jump < top < jump and at_the_end("loss", 1.0, POWERS["η ∝ √H"])[-1].max() < 0.1
    assert (
        np.isfinite(table["loss"]).all()
        and np.isfinite(mhabook.stored("digits_long.npz")["loss"]).all()
    )


@page.after(
    "figure-jump",
    says=(
        "its derivative is at most 1 in absolute value, so a step changes a logit by at most about",
        "this loss exceeds a million within three steps",
        "What, then, happens with 64 heads at $\\eta=8$",
    ),
)
def test_the_squared_loss_of_the_margin_would_diverge(hundred, said):
    most, million, steps, H, lr = said
    assert abs(mha.losses.logistic.slope(np.linspace(-50, 50, 11))).max() <= most
    assert 2 ** (POWERS["η ∝ √H"](int(H)) / 2) == lr == H**0.5
    model, squared = mha.MultiHeadAttention.random(int(H), 8, 8, 0.1), bounds.MarginSquared()
    for _ in range(int(steps)):
        model = model - lr * model.unravel(loss_bounds.loss_gradient(model, hundred, squared))
    assert squared(model.margins(hundred.X, hundred.y)).mean() > million


@page.after(
    "live-digits",
    says=(
        "This figure has more controls than that of the chapter, and eighty held-out test images. Training "
        "uses sixty images and 200 steps",
        "Compare sixteen heads at $\\eta\\sqrt H$ with one head at $\\eta=3$: which ends with the lower loss",
        "At initialization scale 1, the training loss hardly changes",
        "In training, the single head ends lower, but the *test* loss is lower for the sixteen heads: "
        "fitting faster does not "
        "mean generalizing better",
    ),
)
def test_in_the_figure_more_heads_fit_more_slowly_from_a_small_start_and_to_fit_is_not_to_generalize(
    live, said
):
    tests, images, steps, many, lr, scale, same = said
    assert (live.spec["data"]["n"], live.spec["test"]["n"]) == (images, tests)
    assert live.path().steps[-1] == steps and many == same == 16
    one, sixteen = (live.path(H=H) for H in (1, 16))
    assert one.loss[-1] < sixteen.loss[-1] / 2 and one.test_loss[-1] < sixteen.test_loss[-1]
    assert abs(live.path(scale=scale, H=16).loss[-1] / live.path(scale=scale).loss[-1] - 1) < 0.15
    root, long = live.path(H=16, scaling="root"), live.path(lr=lr)
    assert long.loss[-1] < root.loss[-1] and root.test_loss[-1] < long.test_loss[-1]


@page.after(
    "live-digits",
    says=(
        "all four seeds give the same accuracy, and four heads classify one more image correctly than one "
        "head or sixteen do. "
        "At initialization scale 1, the seed changes the accuracy by two images. With eighty test images, we "
        "see no difference "
        "larger than an image or two"
    ),
)
def test_in_the_figure_an_image_or_two_is_all_there_is_to_see(live, said):
    seeds, few, many, scale, images, tests, _ = said
    right = np.array(
        [
            [
                round(tests * live.path(seed=seed, **values).test_accuracy[-1])
                for seed in range(int(seeds))
            ]
            for values in ({"H": 1}, {"H": int(few)}, {"H": int(many)}, {"scale": scale})
        ]
    )
    assert (right[:3] == right[0, 0] + np.array([[0], [1], [0]])).all() and np.ptp(
        right[3]
    ) == images


@page.after(
    "tsv",
    says="Logistic regression on word counts has a test accuracy of about 0.6, compared with 0.5 for a coin flip",
)
def test_counts_of_words_do_not_tell_the_label(said):
    about, coin = said

    def bags(data):
        counts = np.zeros((len(data), len(data.vocabulary)))
        np.add.at(counts, (np.arange(len(data))[:, None], data.tokens), data.mask)
        return counts

    training = [text.reviews(1000, seed) for seed in range(4)]
    regression = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    scores = [
        regression.fit(bags(train), train.y).score(bags(train.fresh(500)), train.fresh(500).y)
        for train in training
    ]
    assert coin < about - 0.03 < min(scores) and max(scores) < about + 0.03


@page.after(
    "figure-text",
    says=(
        "With the same seed, models with 1, 2, 4, 8, or 16 heads even start from the *same* parameters",
        "one layer, $d=32$, a thousand reviews for training and 500 others for testing, 600 steps of AdamW "
        "{cite:p}`loshchilov2019` on minibatches of 32, two step sizes, and eight seeds",
        "At the smaller step size, we see no effect of the number of heads. At the larger one, a single head "
        "trails every "
        "larger number of heads. Among these numbers, we see no order: sixteen heads of width 2 do as well "
        "as two of width 16",
        "the step size had a larger effect than the number of heads",
    ),
)
def test_one_head_is_behind_at_the_larger_step_size_alone_and_the_step_does_more(
    texts, reviews, TextTransformer, train_network, said
):
    heads, (width, training, testing, steps, batch, sizes, seeds) = said[:5], said[5:12]
    many, narrow, few, wide = said[12:]
    assert many * narrow == few * wide == width and [*np.unique(texts["H"])] == heads
    assert inspect.signature(train_network).parameters["batch"].default == batch
    assert texts["steps"][0][-1] == steps and len(reviews) == training
    assert (len(np.unique(texts["lr"])), len(np.unique(texts["seed"]))) == (sizes, seeds)
    assert all(
        np.allclose(testing * right, np.rint(testing * right), atol=1e-3)
        for right in texts["test_accuracy"]
    )
    first, *others = (
        [*TextTransformer(len(reviews.vocabulary), 23, d=int(width), H=int(H)).parameters()]
        for H in heads
    )
    assert all((a == b).all() for other in others for a, b in zip(first, other, strict=True))
    small, large = (
        np.array(
            [texts.where(lr=lr, H=H)["test_accuracy"][:, -1] for H in (1, 2, 4, 8, 16)], dtype=float
        )
        for lr in (0.003, 0.01)
    )
    assert np.ptp(small.mean(axis=1)) < 0.0125
    pairs = large[1:] - large[0]
    assert (pairs.mean(axis=1) > 3 * error(pairs)).all()
    assert np.ptp(large[1:].mean(axis=1)) < large[1:].std(axis=1, ddof=1).max()
    assert large.mean() - small.mean() > pairs.mean(axis=1).max()


@page.after("solution-kinds")
def test_the_page_counts_as_the_script_of_the_stored_runs(fresh, kinds, trained):
    shares = load("book/results/text.py").shares(trained, fresh)
    assert kinds[4] == [shares["negated"], shares["plain"], shares["shuffled"]]


@page.after(
    "kinds-stored",
    says=(
        "the means and standard deviations of eight stored runs",
        "On reviews with a negation, four heads are better than one for every seed, whereas without a "
        "negation, they are "
        "hardly better. With shuffled words, both models are hardly better than the word counts",
    ),
)
def test_one_head_gets_negations_wrong_and_what_is_learned_sits_in_the_order(
    kinds_stored, texts, said
):
    seeds, many = said
    assert len(kinds_stored.where(kernel="softmax", H=many)["all"]) == seeds and many == 4
    one, four = (kinds_stored.where(kernel="softmax", H=H) for H in (1, 4))
    assert (four["negated"] > one["negated"]).all() and (four["plain"] - one["plain"]).mean() < 0.03
    for H, runs in ((1, one), (4, four)):
        assert np.allclose(
            runs["all"], texts.where(lr=0.01, H=H)["test_accuracy"][:, -1], atol=1e-6
        )
        assert (
            0.6 < runs["shuffled"].mean() < 0.65 and (runs["all"] - runs["shuffled"]).min() > 0.15
        )


@page.after(
    "solution-kernel",
    says=(
        "The Gaussian kernel fits the training sentences nearly as well as softmax does",
        "On fresh sentences, it does worse than softmax with each of the eight seeds",
    ),
)
def test_the_gaussian_kernel_fits_as_well_and_does_worse_on_fresh_sentences(kinds_stored, said):
    gaussian, softmax = (
        kinds_stored.where(kernel=kernel, H=4) for kernel in ("gaussian", "softmax")
    )
    assert softmax["accuracy"].mean() - gaussian["accuracy"].mean() < 0.02
    assert [(gaussian["all"] < softmax["all"]).sum()] == said == [len(softmax["all"])]
