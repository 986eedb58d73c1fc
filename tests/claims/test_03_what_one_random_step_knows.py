"""What the page multihead/03_what_one_random_step_knows says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib.theory import ntk
from mhalib.theory.first_phase import noise_size
from mhalib.theory.first_phase import sampling_noise
from mhalib.theory.first_phase import signal
from mhalib.theory.max_margin import max_margin
from mhalib.theory.max_margin import ntk_margin
from sklearn.svm import SVC
from claims.page import Page

page = Page("multihead/03_what_one_random_step_knows")


@page.after("starts-lesson")
def test_starts_lesson(data, one_random_step, starts, step, zero):
    assert np.array_equal(one_random_step(data, ntk.signs(4, seed=0)).U, step.U) and not step.W.any()
    assert zero.features(data.X).shape == (60, 1056) and 144 + 120 == 1056 / 4
    lengths = [np.linalg.norm(model.U, axis=(1, 2)) for model in starts.values()]
    assert np.ptp(lengths[1]) < 1e-12 and abs(lengths[1] - lengths[2]).max() < 1e-12


@page.after("table-starts")
def test_table_starts_numbers(data, starts, table):
    assert np.allclose([table[name][4] for name in starts], [0.8944, 0.9054, 1.2487], atol=5e-5)
    assert table["zero"][3] == 0 and round(table["Gaussian"][3], 3) == 0.133 and round(table["first phase"][3], 3) == 0.831
    assert np.ptp([row[2] for row in table.values()]) < 1e-12 and np.allclose([row[0] for row in table.values()], [0, 0.959, 0.959], atol=5e-4)
    assert round(table["first phase"][1], 2) == 1.81 and round(table["Gaussian"][1], 2) == 0.55 and table["zero"][1] == 0
    heads = [ntk_margin(ntk.first_phase(data, H), data).margin for H in (1, 64)]
    assert abs(heads[0] - heads[1]) < 1e-12 and abs(heads[0] - table["first phase"][4]) < 1e-12
    random_heads = [ntk_margin(ntk.gaussian_of_equal_norm(data, H), data).margin for H in (1, 64)]
    assert 0.895 < min(random_heads) <= max(random_heads) < 0.915


@page.after("table-starts")
def test_one_row_numbers(data, lengths, table):
    def one_gaussian_row(H, seed):
        U = np.random.default_rng([seed, 7]).standard_normal((H, 1, 12)).repeat(10, axis=1)
        return mha.MultiHeadAttention(np.zeros((H, 12, 12)), lengths[2][0] * U / np.linalg.norm(U, axis=(1, 2), keepdims=True))
    one_row = [ntk_margin(one_gaussian_row(4, seed), data).margin for seed in range(20)]
    assert np.quantile(one_row, [0, 0.5, 1]).round(2).tolist() == [0.95, 1.0, 1.1]
    one_row_many = [ntk_margin(one_gaussian_row(64, seed), data).margin for seed in range(5)]
    assert round(np.mean(one_row_many), 2) == 1.01
    assert 0.25 < (np.median(one_row) - table["zero"][4]) / (table["first phase"][4] - table["zero"][4]) < 0.35


@page.after("figure-gradient")
def test_figure_gradient_numbers(data, gradient, patterns):
    entries = patterns @ gradient @ patterns.T
    singular = np.linalg.svd(entries, compute_uv=False)
    own, other = int(data.y[0] > 0), int(data.y[0] < 0)
    assert singular[1] < 1e-12 * singular[0] and abs(entries[:, other]).max() < 1e-12
    shown = entries[abs(entries).max(axis=1) > 1e-12]
    assert (data.y[0] * shown[:, own] > 0).all() and (data.y[0] * shown[:, 2:] <= 1e-12).all()


@page.after("table-noise-numbers")
def test_table_noise_numbers(makers, noise_table):
    quantiles = {key: np.quantile(found, [0, 0.5, 1]).round(3).tolist() for key, found in noise_table.items()}
    assert quantiles["zero", 0.0] == [0.894] * 3 and quantiles["zero", 0.5] == [0.130, 0.221, 0.391]
    assert quantiles["Gaussian", 0.0] == [0.903, 0.909, 0.915] and quantiles["Gaussian", 0.5] == [0.449, 0.522, 0.669]
    assert quantiles["first phase", 0.0] == [1.243, 1.247, 1.252] and quantiles["first phase", 0.5] == [0.736, 0.858, 1.179]
    for name, (clean, noisy) in {"zero": (0.894, 0.150), "Gaussian": (0.910, 0.535), "first phase": (1.246, 0.965)}.items():
        for value, sigma in ((clean, 0.0), (noisy, 0.5)):
            assert quantiles[name, sigma][0] <= value <= quantiles[name, sigma][2]
    lost = {name: noise_table[name, 0.0] - noise_table[name, 0.5] for name in makers}
    assert (lost["zero"] > np.maximum(lost["Gaussian"], lost["first phase"])).all()
    assert (noise_table["first phase", 0.5] > noise_table["Gaussian", 0.5]).all() and (noise_table["Gaussian", 0.5] > noise_table["zero", 0.5]).all()


@page.after("chance-numbers")
def test_chance_numbers(data, mixture):
    size = np.linalg.norm(signal(mixture))
    assert round(noise_size(mixture, 60) ** 0.5 / size, 2) == 0.42 and round(np.linalg.norm(sampling_noise(data)) / size, 2) == 0.39
    assert np.linalg.norm(sampling_noise(ntk.mirrored(data))) < 1e-15


@page.after("kernel-numbers")
def test_kernel_numbers(data, mean, one_random_step, psi, step):
    along = np.stack([(x - m).T @ ((x - m) @ psi) / 10 for x, m in zip(data.X, mean, strict=True)])
    features = step.features(data.X)
    assert np.allclose(features @ features.T, 10 * (mean @ mean.T) * (1 + 10 * along @ along.T), rtol=0, atol=1e-12)
    two = mha.ledger["prop-start-logits"].function(**mha.ledger["prop-start-logits"].extremal[0]())
    assert two.lhs == 0.5 and round(two.rhs, 2) == 0.74
    forward = one_random_step(data, np.ones(64))
    assert abs(abs(forward(data.X)).max() / abs(one_random_step(data, np.ones(1))(data.X)).max() - 8) < 1e-12


@page.after("even-numbers")
def test_even_numbers(even, exact, limit, start, stated):
    assert np.round(stated, 4).tolist() == [0.8944, 0.6842, 1.1261] and np.round(exact, 4).tolist() == [0.8944, 0.8631, 1.2429]
    found = [ntk_margin(start, even, only).margin for only in ("U", "W", None)]
    assert np.allclose(found, exact, rtol=1e-12, atol=0) and len(even) == 20
    assert round(limit, 3) == 4.472
    witness = ntk.witness(start, even.truth)
    margins = even.y * (start.features(even.X) @ witness.ravel())
    assert np.ptp(margins) < 1e-12 and abs(margins[0] - stated.both) < 1e-12 and abs(witness.norm() - 1) < 1e-12


@page.after("svm-numbers")
def test_svm_asserts(certificate, data, ours, shift):
    assert 2.5e-4 < shift < 3.5e-4 and abs(certificate - ours.margin) < 1e-12
    mirror = ntk.mirrored(data)
    features = ntk.first_phase(mirror, 4).features(mirror.X)
    same = SVC(kernel="precomputed", C=1e6, tol=1e-6).fit(features @ features.T, mirror.y)
    assert abs(same.intercept_[0]) < 1e-4
    dual, K_same = same.dual_coef_[0], (features @ features.T)[np.ix_(same.support_, same.support_)]
    assert abs(1 / np.sqrt(dual @ K_same @ dual) / max_margin(features, mirror.y).margin - 1) < 1e-6


@page.after("approach")
def test_approach_numbers(data, excess, mixture, no_chance, step):
    assert min(map(min, excess)) > 0 and np.mean(excess, axis=1)[0] > 4e-3 and np.mean(excess, axis=1)[-1] < 5e-4
    assert np.mean(no_chance, axis=1)[-1] < 2e-5 and min(map(min, no_chance)) > -1e-12
    earlier = mha.data.tokenized_mixture(200, 10, 12, 5, 0.2, 2.0, 0.0, seed=1)
    assert round(ntk_margin(ntk.first_phase(earlier, 4), earlier).margin, 4) == 1.2457
    worst = (data.y * (step.features(data.X) @ ntk.witness(step, mixture).ravel()))
    assert round(worst.min(), 2) == 1.05 and round(worst.max(), 2) == 1.20


@page.after("figure-saturated")
def test_figure_saturated_numbers(exact, limit, mixture, reached, strengths):
    assert abs(reached[0] - exact.U) < 1e-12 and 0.97 < reached[-1] / limit < 1 and (np.diff(reached) > 0).all()
    assert all(abs(value - ntk.saturation(mixture, s)[1]) < 1e-12 for value, s in zip(reached, strengths, strict=True))


@page.after("live")
def test_live_numbers(live):
    short, long = (live.drawn(S=S) for S in (0.5, 3.0))
    assert round(short["margin_W"][0] / short["margin_U"][0], 3) == 0.015 and round(long["margin_W"][0] / long["margin_U"][0], 1) == 3.3
    over_S = {S: live.drawn(S=S) for S in live.controls["S"].values}
    assert [S for S, found in over_S.items() if found["margin_W"][0] > found["margin_U"][0]] == [3.0]
    over_zeta = {zeta: live.drawn(zeta=zeta)["exact"][1] for zeta in live.controls["zeta"].values}
    assert max(over_zeta, key=over_zeta.get) == 0.7
    gaussian = {S: live.drawn(S=S, initialization="gaussian")["over_gaussian"][0] / found["over_first"][0] for S, found in over_S.items()}
    assert gaussian[0.5] > 0.999 and gaussian[3.0] < 0.35
    plain = live.drawn(mirror=False)
    assert 1 < plain["margin"][0] / plain["gamma_star"] < 1.01 and abs(plain["margin_U"][0] - plain["exact"][0]) < 1e-12
    loud = live.drawn()
    assert loud["over_zero"][-1] < 0.05 and loud["over_first"][-1] > max(0.85, loud["over_first"][-2]) and loud["over_gaussian"][-1] > loud["over_gaussian"][-2]
    assert round(loud["over_gaussian"][4], 2) == 0.57 and round(loud["over_gaussian"][6], 2) == 0.65


@page.after("live")
def test_memory_numbers():
    def margin_of_random_labels(sigma, seed):
        drawn = ntk.mirrored(mha.data.tokenized_mixture(20, 10, 10, 5, 0.2, 2.0, sigma, seed))
        features = ntk.gaussian_of_equal_norm(drawn, 1, seed).features(drawn.X)
        return max_margin(features, np.random.default_rng(seed).permutation(drawn.y)).margin
    memory = [np.mean([margin_of_random_labels(sigma, seed) for seed in range(10)]) for sigma in (0.5, 1.0)]
    assert np.round(memory, 2).tolist() == [0.11, 0.23]


@page.after("noise-and-samples")
def test_noise_and_samples_numbers(fall, makers, margins_of):
    dead = margins_of(makers["zero"], 0.5, 400, 5)
    assert (dead == 0).all() and 0.2 < fall["Gaussian"][-1] < 0.3 and round(fall["first phase"][-1], 2) == 0.72
    assert all((np.diff(line) < 0).all() for line in fall.values())
    assert 0.75 < fall["first phase"][3] < 0.85


@page.after("rare")
def test_rare_numbers(ratio):
    assert 6 < ratio < 7
    assert round(ntk.mixture_margins(100, 0.01, 2.0, 5).W / ntk.mixture_margins(100, 0.01, 2.0, 5).U, 2) == 0.15


@page.after("solution-by-hand")
def test_solution_by_hand(at_two, small):
    assert np.allclose(small, [[0.5 ** 0.5, 2 / 512 ** 0.5, small[0].both], [0.5 ** 0.5, (5 / 256) ** 0.5, 0.721]], atol=3e-4)
    assert abs(at_two.W - at_two.U) < 1e-12


@page.after("solution-infinite")
def test_solution_infinite(infinite, many):
    assert abs(infinite / many - 1) < 5e-3 and 0.905 < infinite < 0.92


@page.after("solution-length")
def test_solution_length(best, c, heads_asked, one):
    assert 15 < c[best] < 25 and 200 < heads_asked[one] / heads_asked[best] < 400


@page.after("solution-open")
def test_solution_open(all_rows, equal_rows, known):
    assert equal_rows < known < all_rows
