"""What the page theory_and_practice says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from itertools import product
from mhalib.theory import chain
from mhalib.theory import starts
from claims.page import Page

page = Page("theory_and_practice")


@page.after("live-numbers")
def test_live_numbers(BOLD, LEAST, bold, easiest, opened, two):
    for drawn in (opened, two, bold, easiest):
        assert (np.array(drawn["loss"]) < drawn["guarantee"]).all() and (np.diff(drawn["loss"]) < 0).all()
    assert (LEAST, BOLD) == (2, 10) and opened["steps"][-1] == 1000 and f"{opened['heads_needed']:.1e}" == "4.3e+11"
    assert f"{two['largest_step']:.1e}" == "1.1e-04" and f"{easiest['heads_needed']:.1e}" == "1.9e+06"
    assert round(two["loss"][-1], 4) == 0.0032 and round(two["guarantee"][-1], 2) == 0.61
    assert 200_000 < opened["heads_needed"] / easiest["heads_needed"] < 250_000


@page.after("live-numbers")
def test_live_easiest(EASIEST, easiest, live):
    def heads_asked(zeta, S, T):
        """What Theorem 1 asks for in the live figure at these settings."""
        data = mha.data.tokenized_mixture(n=16, T=T, d=7, M=5, zeta=zeta, S=S, sigma=0.0, seed=0)
        start = starts.first_phase_groups(data, (1, 1))
        toward = chain.reference_along(start, starts.mixture_witness(data, start.copies), data, 1000)
        return chain.heads_needed(toward.distance, chain.decoder_sizes(start)[0], T, S)
    settings = product(*(live.controls[name].values for name in EASIEST))
    assert min(settings, key=lambda values: heads_asked(*values)) == tuple(EASIEST.values())
    assert abs(heads_asked(**EASIEST) / easiest["heads_needed"] - 1) < 1e-9


@page.after("part-1")
def test_part_1(error, higher, rows):
    assert error < 1e-13 and 1.3 < higher < 1.4
    assert 100 < rows[-1]["factor"] < 10_000 and mha.ledger["prop-1-hessian"].check(0).slack == 0


@page.after("margins")
def test_margins(exact, margin):
    assert 1 < margin / exact < 1.01


@page.after("attention")
def test_attention(off):
    assert list(off.values()) == sorted(off.values(), reverse=True)


@page.after("samples")
def test_samples(few, promised, samples, test, train):
    assert samples.samples == 20438 and few == 8 and 1.2e5 < promised / (test - train) < 1.3e5


@page.after("start-near")
def test_start_near(asked, derived, ends, needed):
    assert (asked, needed) == (2000, 250) and max(ends.values()) < 1.25 * derived


@page.after("rates")
def test_rates(excess, rows):
    assert abs(excess[40] / excess[39] - 0.36) < 1e-3 and rows[-1]["factor"] < 1.1


@page.after("dimension")
def test_dimension(everything, sharp, values, whole):
    assert sharp == 32 and np.median(values[24]) > 0.1 and np.median(values[40]) < 1e-11 and whole == min(everything) == 16


@page.after("steps")
def test_steps(layer, sequences, smooth):
    rest = mha.train(layer, sequences, mha.GradientDescent(1 / smooth), 100, record=2)
    assert rest.loss[-1] < 1e-6 * rest.loss[0]


@page.after("steps-rows")
def test_steps_rows(begin, close, shorter, taken, told):
    assert 1.5 < told / taken < 2 and 1e8 < begin / close < 2e8 and 400 < shorter < 500


@page.after("all-rows")
def test_all_rows(factors, found, rows):
    assert found == [sorted(each) for each in found]
    assert len(factors) + 2 == len({row["label"] for row in rows}) == len(rows)
    assert min(factors.values()) > 1 - 1e-12


@page.after("more-table")
def test_counts(factors, main, rows):
    far, sharp = sum(factor > 1000 for factor in factors.values()), sum(factor <= 2 for factor in factors.values())
    assert (len(main), len(rows), len(factors), far, sharp) == (17, 27, 25, 8, 9)
    spans = {"heads": (2.1e11, 2.2e11), "heads, head by head": (7.9e7, 8.1e7), "step size, 2 heads": (8.8e4, 8.9e4), "samples": (2500, 2600),
             "how far W has moved": (2500, 2600), "distance of two runs": (23, 24), "loss of the left-out sample": (4.7, 4.8),
             "power of n in the error": (1.5, 1.6), "tokens for a start": (8, 8), "steps of waiting": (2, 2.1), "keys far apart": (1.8, 1.9),
             "target beyond a barrier": (1.2, 1.3), "dimension, values alone": (1, 1), "slope, queries alone": (3700, 3900)}
    assert all(low <= factors[label] <= high for label, (low, high) in spans.items())


@page.after("attained")
def test_attained(least):
    assert all(abs(least[id]) < 0.01 for id in ("thm-local-rate", "thm-neighborhood", "thm-2-left-out"))
