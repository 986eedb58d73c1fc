"""What the page kernels/12_two_kernels_one_rank says, held against what its cells leave."""

import numpy as np

from mhabook.c12_two_kernels import hull, idea
from page import Page

page = Page("kernels/12_two_kernels_one_rank")
UNQUOTED = {
    "what is proved, or defined": (
        "idea-text",
        "prove-inside: So if a key",
        "prove-inside: This alone bounds",
        "prove-inside: The more keys",
        "prove-inside: It lies farther",
        "prove-inside: So under softmax",
        "prove-normalized: The handicap grows",
        "prove-normalized: On average",
        "prove-normalized: So this key has",
        "breaks: With more coordinates",
        "breaks-seen: Then many",
        "breaks-seen: A query far",
        "breaks-seen: Softmax weights",
        "seen: So a key that",
        "seen: - matrices differ",
        "seen: In practice",
    ),
    "what a cell does": (
        "title",
        "predict: Which query",
        "see: The next cell",
        "check",
        "climb-text",
    ),
}


@page.after("weights", says="Three keys lie on a line, at −2, 0, and 1")
def test_the_keys_are_those_of_the_question(keys, said):
    count, *at = said
    assert keys.ravel().tolist() == at and len(keys) == count


@page.after(
    "weights",
    says=(
        "Softmax has the lowest of the three peaks: no query gives the middle key much more than a third",
        "the share of the middle key is still more than half",
        "The softmax peak gets narrower but not higher, whereas the peak share under the Gaussian kernel "
        "rises until it is nearly one",
        "Now the Gaussian share is hardly larger than the softmax share",
        "This explains the value near one third in the figure",
    ),
)
def test_a_stretch_raises_the_share_by_distance_and_never_that_of_softmax(live, said):
    peaks, third, half, near = said
    squeezed, usual, wide = (live.drawn(stretch=stretch) for stretch in (0.25, 1.0, 4.0))
    assert np.allclose([squeezed["soft_most"], wide["soft_most"]], usual["soft_most"], rtol=1e-12)
    assert third == near < usual["soft_most"] < 1.05 * third
    shapes = [np.array(usual[f"{short}_weight"]) for short in ("soft", "between", "gauss")]
    assert len(shapes) == peaks
    assert min(shapes, key=max) is shapes[0]
    widths = [
        sum(weight > one["soft_most"] / 2 for weight in one["soft_weight"])
        for one in (squeezed, usual, wide)
    ]
    assert widths == sorted(widths, reverse=True) and len({*widths}) == 3
    assert usual["soft_most"] < squeezed["between_most"] < usual["soft_most"] + 0.02
    assert half < usual["between_most"] < 1.3 * half < 0.999 < wide["between_most"]
    assert all(max(one["gauss_weight"]) == 1 for one in (squeezed, usual, wide))


@page.after(
    "weights",
    says="When the query points to the left, the key at −2 gets most of the weight; when the query points to "
    "the right, the key at 1 does",
)
def test_a_query_far_out_gives_an_outer_key_most(keys, said, soft):
    assert keys[soft[[0, -1]].argmax(axis=1), 0].tolist() == said
    assert soft[[0, -1]].max(axis=1).min() > 0.9


@page.after(
    "weights",
    says=(
        "the farther the query goes to the right, the closer the weight comes to one",
        "The share under the Gaussian kernel rises in the same way",
        "between them, never more than half",
    ),
)
def test_softmax_selects_a_key_beyond_the_outer_ones_and_gives_at_most_half_between_them(
    live, said
):
    (half,) = said
    past, places = live.drawn(k=2.0), np.linspace(-4, 4, 161)
    assert all((np.diff(past[f"{short}_weight"]) > 0).all() for short in ("soft", "between"))
    within, most = abs(places + 0.5) < 1.5 + 1e-9, np.array(past["soft_all"])
    assert (most[~within] == 1).all()
    assert most[within].max() == half
    assert np.isclose(places[most.argmin()], -0.5)


@page.after("idea")
def test_only_the_middle_key_is_among_the_others_and_lifted_none_is():
    keys = np.array([*idea.CORNERS, idea.MIDDLE])
    assert hull.inside(keys).tolist() == [False] * 5 + [True]
    assert not hull.inside(np.array([idea.lifted(k) for k in idea.ON_LINE])).any()
    assert np.linalg.norm(keys - idea.QUERY, axis=1).argmin() == 5
    assert idea.winner() in idea.CORNERS


@page.after(
    "climb-check",
    says=(
        "The key 0 is $\\frac13\\cdot(-2)+\\frac23\\cdot1$, so the proportions are one third and two thirds",
        "For our three keys, the bound rises from {glue:text}`bound` to {glue:text}`divided`",
    ),
)
def test_what_is_done_by_hand_is_the_library_and_attains_the_bounds(
    soft, by_hand, library, proportions, keys, S, others, plane, said
):
    middle, first, left, second, *shares, count = said
    assert [left, middle] == keys.ravel()[:2].tolist()
    for said_shares in ([first, second], shares):
        np.testing.assert_allclose(proportions, said_shares)
    np.testing.assert_allclose(proportions @ keys[[0, 2]], keys[1], atol=1e-15)
    assert len(keys) == count
    assert hull.most_weight(proportions, keys[[0, 2]], 0.5) > hull.most_weight(
        proportions, keys[[0, 2]]
    )
    np.testing.assert_allclose(by_hand, library, rtol=1e-12)
    for weights, c in ((soft, 0.0), (by_hand, 0.5)):
        assert 0 < hull.most_weight(proportions, keys[[0, 2]], c) - weights[:, 1].max() < 1e-3
    assert np.isclose(S[0, -1], hull.most_weight(others, plane[:-1]), rtol=1e-9)
    np.testing.assert_allclose(S @ plane, plane[-1:], atol=1e-9)


@page.after(
    "figure-inside",
    says=(
        "On a line, these are all keys except two",
        "With sixteen coordinates, all keys are corners",
    ),
)
def test_on_a_line_all_but_two_keys_are_inside_and_in_16_dimensions_none(dimensions, inside, said):
    ends, most = said
    assert dimensions[-1] == most
    for n, share in zip((16, 64), inside.values(), strict=True):
        assert np.isclose(share[0], (n - ends) / n)
        assert share[-1] == 0
