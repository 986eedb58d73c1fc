"""What the section "From common tokens to distinct ones, fast and then slowly" says, held against
its cells."""

from dataclasses import replace

import numpy as np
import pytest

from mhabook.neighbors import scan
from page import shared

page = shared("neighbors")
UNQUOTED = {
    "what the paper states": (
        "scan-0: train one layer",
        "scan-0: They prove",
        "scan-0: With a larger",
    ),
    "definitions, a question, and links": (
        "scan-0: The head of",
        "scan-0: The query is",
        "scan-0: If the decoder",
        "scan-2: *Related",
    ),
}
FREQUENCIES = [(0.5, 0.3), (0.4, 0.35), (0.5, 0.4), (0.6, 0.25), (0.3, 0.4)]
"""Shares of the common and of the frequent token: those of the page, and four others."""


def log_likelihood(Y, z, log_P, scaled):
    """The mean log-likelihood, written anew."""
    c = np.exp(log_P + z)
    c = c / c.sum(axis=1, keepdims=True)
    f = c / np.sqrt((c * c).sum(axis=1, keepdims=True)) if scaled else c
    logits = f @ Y
    return np.mean([logits[n, n] - np.log(np.exp(logits[n]).sum()) for n in range(len(logits))])


@pytest.mark.parametrize("scaled", [True, False])
def test_slopes_are_the_derivatives(scaled):
    rng, log_P = np.random.default_rng(0), scan.log_frequencies()
    Y, z, dY_, dz_ = (rng.standard_normal(shape) for shape in ((11, 5), 11, (11, 5), 11))
    dY, dz = scan.likelihood_slopes(Y, scan.attended(z, log_P), scaled)
    h = 1e-5
    ahead, back = (log_likelihood(Y + k * dY_, z + k * dz_, log_P, scaled) for k in (h, -h))
    assert (ahead - back) / (2 * h) == pytest.approx((dY * dY_).sum() + dz @ dz_, rel=1e-6)


@page.after(
    "nb-scan-figure",
    says=(
        "There are five possible next tokens. Before each, half of the sequence is the common token, and the rest is "
        "two distinct tokens",
        "the attention on the common token falls, and that on the frequent distinct token rises",
    ),
)
def test_in_each_panel_the_common_token_falls_and_the_frequent_one_rises(paths, said):
    following, half, distinct = said
    assert following == scan.NEXT and list(scan.TOKENS.values())[0] == half
    assert (scan.log_frequencies() > -np.inf).sum(axis=1).tolist() == [1 + distinct] * scan.NEXT
    assert list(paths) == list(scan.SETTINGS) and len(paths) == 4
    for path in paths.values():
        np.testing.assert_allclose(path[0], [0.5, 0.3, 0.2], rtol=1e-12)
        assert path[-1, 0] < 0.35 and path[-1, 1] > 0.4
        assert (np.diff(path[:, 0]) < 1e-12).all()


def slows_down(path, steps=100, share=0.01):
    """Most of the move of the common token in the first hundred steps, and a last step far below
    the fastest."""
    speed = -np.diff(path[:, 0])
    moved = (path[0, 0] - path[steps, 0]) / (path[0, 0] - path[-1, 0])
    return moved > 0.55 and speed[-1] < share * speed.max()


@page.after(
    "nb-scan-figure",
    says=(
        "With a decoder ten times as fast, most change occurs in the first hundred steps. At the end, attention moves "
        "at less than a hundredth of its highest speed"
    ),
)
def test_with_a_decoder_ten_times_as_fast_attention_slows_down_before_one_token_has_all(
    paths, said
):
    """0.78 of the move, and a thousandth of the speed."""
    times, steps, share = said
    path = paths[f"decoder {times:.0f} times as fast"]
    assert slows_down(path, int(steps), share)
    assert path[-1, 1] < 0.65  # 0.54


def test_it_slows_down_with_other_frequencies():
    """0.67 to 0.80 of the move in the first hundred steps, and 0.002 and less of the speed."""
    for shares in FREQUENCIES:
        path = scan.attention_path(scan.Setting(1.0), scan.log_frequencies(*shares), steps=2000)[
            :, 0, :3
        ]
        assert slows_down(path) and path[-1, 1] < 0.8


@page.after(
    "nb-scan-figure",
    says="The faster the decoder, the earlier attention slows down, and the more attention the common token keeps, "
    "which leaves less for the distinct tokens",
)
def test_the_faster_the_decoder_the_earlier_attention_slows_down_and_the_more_the_common_token_keeps():
    """On the page the fastest steps are 53, 15, 3, and the common token keeps 13%, 26%, 54%;
    elsewhere 43, 10, 1."""
    for shares in FREQUENCIES:
        log_P = scan.log_frequencies(*shares)
        fastest, kept = [], []
        for lr in (0.1, 1.0, 10.0):
            path = scan.attention_path(scan.Setting(lr), log_P, steps=2000)[:, 0, 0]
            fastest.append(np.argmax(-np.diff(path)))
            kept.append(path[-1] / path[0])
        assert fastest[0] > 2 * fastest[1] > 4 * fastest[2]
        assert 1.5 * kept[0] < kept[1] < kept[2] / 1.5


def distinct_ratio(path):
    return path[:, 1] / path[:, 2]


@page.after(
    "nb-scan-figure",
    says="The frequent token gains more than the rare one, but in 2,000 steps, the ratio of their attention hardly "
    "changes",
)
def test_the_frequent_token_gains_over_the_rare_one_little_if_scaled_and_much_if_not(paths, said):
    """From 1.5 to 1.61, 1.65 and 1.67 in 2,000 steps, and to 3.6 without the scaling."""
    assert {len(path) - 1 for path in paths.values()} == {*said}
    for name, setting in scan.SETTINGS.items():
        ratio = distinct_ratio(paths[name])
        assert (ratio > 1.5 - 1e-9).all()
        assert 1.52 < ratio[-1] < 1.8 if setting.scaled else ratio[-1] > 3
    rare = paths["10 times as fast, not scaled"][:, 2]
    assert rare.max() > 0.26 and rare[-1] < 0.22  # 0.28 and 0.21
    assert (
        paths["10 times as fast, not scaled"][-1, 1]
        > paths["decoder 10 times as fast"][-1, 1] + 0.15
    )


def test_without_the_scaling_the_frequent_token_goes_on_taking():
    setting = replace(scan.SETTINGS["decoder 10 times as fast"], scaled=False)
    path = scan.attention_path(setting, scan.log_frequencies(), steps=4000)[:, 0, :3]
    # + 0.03, − 0.02
    assert path[4000, 1] > path[2000, 1] + 0.02 and path[4000, 2] < path[2000, 2] - 0.01


@page.after("nb-scan-figure", says="the sequences overlap more than the theorems allow")
def test_the_sequences_overlap_more_than_assumption_2_allows():
    """It asks that no eigenvalue of FᵀF − I is 1/K or more in size; the largest is 2.6 here."""
    c = scan.attended(np.zeros(11), scan.log_frequencies())
    f = c / np.linalg.norm(c, axis=1, keepdims=True)
    assert np.linalg.eigvalsh(f @ f.T - np.eye(5)).max() > 1 / 5
