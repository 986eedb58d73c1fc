"""What the page kernels/12_two_kernels_one_rank says, held against what its cells leave."""

import numpy as np

from mhabook.c12_two_kernels import hull, idea
from page import Page

page = Page("kernels/12_two_kernels_one_rank")


@page.after("weights")
def test_a_stretch_raises_the_share_by_distance_and_never_that_of_softmax(live):
    squeezed, usual, wide = (live.drawn(stretch=stretch) for stretch in (0.25, 1.0, 4.0))
    assert np.allclose([squeezed["soft_most"], wide["soft_most"]], usual["soft_most"], rtol=1e-12)
    assert 1 / 3 < usual["soft_most"] < 0.35
    assert squeezed["between_most"] < usual["soft_most"] + 0.02
    assert 0.5 < usual["between_most"] < 0.999 < wide["between_most"]
    assert all(max(one["gauss_weight"]) == 1 for one in (squeezed, usual, wide))


@page.after("weights")
def test_softmax_selects_a_key_beyond_the_outer_ones_and_gives_at_most_half_between_them(live):
    past, places = live.drawn(k=2.0), np.linspace(-4, 4, 161)
    assert all((np.diff(past[f"{short}_weight"]) > 0).all() for short in ("soft", "between"))
    within, most = abs(places + 0.5) < 1.5 + 1e-9, np.array(past["soft_all"])
    assert (most[~within] == 1).all()
    assert most[within].max() == 0.5
    assert np.isclose(places[most.argmin()], -0.5)


@page.after("idea")
def test_only_the_middle_key_is_among_the_others_and_lifted_none_is():
    keys = np.array([*idea.CORNERS, idea.MIDDLE])
    assert hull.inside(keys).tolist() == [False] * 5 + [True]
    assert not hull.inside(np.array([idea.lifted(k) for k in idea.ON_LINE])).any()
    assert np.linalg.norm(keys - idea.QUERY, axis=1).argmin() == 5
    assert idea.winner() in idea.CORNERS


@page.after("climb-check")
def test_what_is_done_by_hand_is_the_library_and_attains_the_bounds(
    soft, by_hand, library, proportions, keys, S, others, plane
):
    np.testing.assert_allclose(by_hand, library, rtol=1e-12)
    for weights, c in ((soft, 0.0), (by_hand, 0.5)):
        assert 0 < hull.most_weight(proportions, keys[[0, 2]], c) - weights[:, 1].max() < 1e-3
    assert np.isclose(S[0, -1], hull.most_weight(others, plane[:-1]), rtol=1e-9)
    np.testing.assert_allclose(S @ plane, plane[-1:], atol=1e-9)


@page.after("figure-inside")
def test_on_a_line_all_but_two_keys_are_inside_and_in_16_dimensions_none(inside):
    for n, share in zip((16, 64), inside.values(), strict=True):
        assert np.isclose(share[0], (n - 2) / n)
        assert share[-1] == 0
