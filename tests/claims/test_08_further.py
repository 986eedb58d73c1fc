"""What the page multihead/08_further says, held against what its cells leave."""


@page.after("load")
def test_the_table_has_the_runs_that_are_told(table):
    assert len(table) == 1552
    assert len(np.unique(table["seed"])) == 8
    assert table["steps"].max() == 300


@page.after("load")
def test_so_many_images_are_held_out():
    sizes = {pair: len(mha.data.digits(pair).fresh()) for pair in ((3, 8), (4, 9))}
    assert sizes == {(3, 8): 157, (4, 9): 161}


@page.after("figure-root")
def test_with_a_step_size_that_grows_more_heads_end_lower(POWERS, at_the_end):
    root = [medians(at_the_end, scale, power=POWERS["η ∝ √H"])[[0, -1]].round(3).tolist() for scale in (0.1, 1.0)]
    assert root == [[0.054, 0.038], [0.054, 0.004]]


@page.after("figure-accuracy")
def test_the_accuracy_moves_as_much_with_the_seed_as_with_the_heads(POWERS, at_the_end, spread):
    gains = [(a[-1] - a[0]).mean() for a in (at_the_end("test_accuracy", scale, power)
                                            for scale in (0.1, 1.0) for power in POWERS.values())]
    assert np.round(gains, 3).tolist() == [-0.022, 0.01, 0.011, 0.016]
    assert spread.min().round(3) >= 0.007 and spread.max() < 0.0115
    assert 1 / 157 < 0.0064
    assert round((0.97 * 0.03 / 157) ** 0.5, 3) == 0.014


@page.after("figure-accuracy")
def test_eight_heads_are_the_best_of_seven(at_the_end, means):
    gain = at_the_end("test_accuracy", 1.0)[3] - at_the_end("test_accuracy", 1.0)[0]
    assert means[[0, 3, 6]].round(3).tolist() == [0.969, 0.986, 0.98] and means.argmax() == 3
    assert round(gain.mean(), 3) == 0.017 and round(error(gain), 3) == 0.004


@page.after("figure-accuracy")
def test_no_setting_is_as_accurate_as_logistic_regression(linear, table):
    for pair, accuracy in (("38", 0.989), ("49", 0.994)):
        every = table.where(pair=pair).group("rule", "power", "scale", "H")["test_accuracy"][:, -1]
        assert linear[pair].mean().round(3) == accuracy
        assert every.max() < linear[pair].mean()


@page.after("sst2-missing")
def test_without_the_files_the_error_says_what_to_do():
    with pytest.raises(FileNotFoundError, match="Download it from"):
        sst2.load("SST-2")


@page.after("tsv")
def test_what_is_written_as_sst_2_is_read_again(read_again, reviews):
    assert read_again.sentences == reviews.sentences
    assert (read_again.y == reviews.y).all()


@page.after("tsv")
def test_counts_of_words_do_not_tell_the_label():
    def bags(data):
        counts = np.zeros((len(data), len(data.vocabulary)))
        np.add.at(counts, (np.arange(len(data))[:, None], data.tokens), data.mask)
        return counts

    training = [text.reviews(1000, seed) for seed in range(4)]
    regression = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    scores = [regression.fit(bags(train), train.y).score(bags(train.fresh(500)), train.fresh(500).y)
              for train in training]
    assert min(scores) > 0.57 and max(scores) < 0.63


@page.after("transformer")
def test_the_number_of_parameters_does_not_depend_on_the_heads(reviews):
    counted = {sum(p.numel() for p in TextTransformer(len(reviews.vocabulary), 23, H=H).parameters())
               for H in (1, 4, 16)}
    assert counted == {11233}


@page.after("figure-text")
def test_at_the_smaller_step_size_the_number_of_heads_makes_no_difference(texts):
    small = accuracies(texts, 0.003)
    assert small.mean(axis=1).min() > 0.78 and small.mean(axis=1).max() < 0.80
    assert abs(small.mean(axis=1) - small.mean(axis=1)[0]).max() < 0.0125
    assert small.std(axis=1, ddof=1).min().round(3) >= 0.037 and small.std(axis=1, ddof=1).max() < 0.0505
    assert texts.where(lr=0.003)["accuracy"][:, -1].min() > 0.97


@page.after("figure-text")
def test_at_the_larger_step_size_one_head_is_behind(texts):
    large = accuracies(texts, 0.01)
    pairs = large[1:] - large[0]
    assert large.mean(axis=1).round(2).tolist() == [0.85, 0.93, 0.91, 0.92, 0.94]
    assert [pairs.mean(axis=1).min().round(2), pairs.mean(axis=1).max().round(2)] == [0.06, 0.08]
    assert error(pairs).max() < 0.021


@page.after("figure-text")
def test_at_the_larger_step_size_the_other_numbers_cannot_be_told_apart(texts):
    large = accuracies(texts, 0.01)
    assert np.ptp(large[1:].mean(axis=1)) < 0.026
    assert large.std(axis=1, ddof=1).min() > 0.02 and large.std(axis=1, ddof=1).max() < 0.0505


@page.after("figure-text")
def test_the_step_size_does_more_than_the_heads(texts):
    assert 0.11 < accuracies(texts, 0.01).mean() - accuracies(texts, 0.003).mean() < 0.13


@page.after("figure-gram")
def test_with_more_heads_every_start_has_the_same_gram_matrix(away):
    assert 0.1 < away[1.0][0] < 0.3 and away[0.1][0] < 0.03
    assert 5 < away[1.0][0] / away[1.0][-1] < 11


@page.after("figure-frozen")
def test_more_heads_follow_their_first_order_longer(compared):
    small, large = final(compared, 0.1), final(compared, 1.0)
    assert np.round([small[64], small[1]], 3).tolist() == [[0.203, 0.252], [0.058, 0.234]]
    assert np.round(large[64], 3).tolist() == [0.067, 0.07]
    assert all(run < frozen for scale in (small, large) for run, frozen in scale.values())


@page.after("figure-frozen")
def test_the_frozen_runs_from_a_small_start_are_nearly_the_same(compared):
    assert np.ptp([frozen for _, frozen in final(compared, 0.1).values()]) < 0.02


@page.after("figure-frozen")
def test_from_a_small_start_the_gradients_in_W_are_small(hundred):
    def share(scale):
        squares = mha.MultiHeadAttention.random(64, 8, 8, scale).features(hundred.X).reshape(100, 64, -1) ** 2
        return squares[..., :64].sum() / squares.sum()

    assert share(0.1) < 0.002
    assert round(share(1.0), 2) == 0.07


@page.after("live-digits")
def test_in_the_figure_the_loss_goes_up_with_the_heads_from_a_small_start_alone(live):
    assert [ends(live)[0].round(3), ends(live, H=16)[0].round(3)] == [0.037, 0.113]
    assert [ends(live, scale=1.0, H=H)[0].round(3) for H in (1, 16)] == [0.041, 0.044]


@page.after("live-digits")
def test_in_the_figure_one_head_with_a_larger_step_ends_lower_than_sixteen(live):
    sixteen, one = ends(live, H=16, scaling="root"), ends(live, lr=3.0)
    assert [sixteen[0].round(3), one[0].round(4)] == [0.023, 0.0096]
    assert [sixteen[3].round(1), one[3].round(1)] == [5.0, 4.1]


@page.after("live-digits")
def test_in_the_figure_to_fit_faster_is_not_to_generalize_better(live):
    sixteen, one = ends(live, H=16, scaling="root"), ends(live, lr=3.0)
    assert sixteen[1] < one[1]
    assert [sixteen[1].round(2), one[1].round(2)] == [0.11, 0.18]


@page.after("live-digits")
def test_in_the_figure_one_image_more_or_less_is_all_there_is_to_see(live):
    right = [[80 * ends(live, H=H, seed=seed)[2] for seed in range(4)] for H in (1, 4, 16)]
    large = [80 * ends(live, scale=1.0, seed=seed)[2] for seed in range(4)]
    assert np.rint(right).tolist() == [[77] * 4, [78] * 4, [77] * 4]
    assert np.rint(large).tolist() == [79, 78, 77, 77]


@page.after("figure-jump")
def test_the_curvature_at_the_start_does_not_know_the_number_of_heads(at_the_end):
    tops = at_the_end("top", 0.1)
    assert tops.min() > 2 and tops.max() < 2.9 and np.ptp(np.median(tops, axis=1)) < 0.15
    assert round(np.median(tops), 1) == 2.7 and round(2 / np.median(tops), 2) == 0.74


@page.after("figure-jump")
def test_with_a_step_size_that_grows_the_loss_jumps_and_no_run_diverges(highest, table):
    assert [round(float(highest[f"η ∝ √H, {size} start"][-1])) for size in ("small", "large")] == [18, 19]
    assert [round(float(highest[f"η ∝ √H, {size} start"][0])) for size in ("small", "large")] == [1, 2]
    assert highest["constant η, small start"].min() > 0.9 and highest["constant η, large start"].max() < 5.2
    assert np.isfinite(table["loss"]).all()


@page.after("figure-jump")
def test_the_squared_loss_of_the_margin_would_diverge(hundred):
    model, squared = mha.MultiHeadAttention.random(64, 8, 8, 0.1), bounds.MarginSquared()
    for _ in range(3):
        model = model - 8.0 * model.unravel(loss_bounds.loss_gradient(model, hundred, squared))
    assert squared(model.margins(hundred.X, hundred.y)).mean() > 1e6


@page.after("solution-kinds")
def test_the_page_counts_as_the_script_of_the_stored_runs(fresh, kinds, trained):
    shares = load("book/results/text.py").shares(trained, fresh)
    assert kinds[4] == [shares["negated"], shares["plain"], shares["shuffled"]]


@page.after("kinds-stored")
def test_the_stored_runs_are_those_of_the_figure_on_text(kinds_stored, texts):
    for H in (1, 4):
        assert np.allclose(kinds_stored.where(kernel="softmax", H=H)["all"],
                           texts.where(lr=0.01, H=H)["test_accuracy"][:, -1], atol=1e-6)


@page.after("kinds-stored")
def test_it_is_mostly_the_negations_that_one_head_gets_wrong(kinds_stored):
    one, four = (kinds_stored.where(kernel="softmax", H=H) for H in (1, 4))
    negated, plain = (four[name] - one[name] for name in ("negated", "plain"))
    assert round(negated.mean(), 2) == 0.11 and round(error(negated), 2) == 0.03 and negated.min() > 0
    assert round(plain.mean(), 2) == 0.02 and round(error(plain), 2) == 0.01


@page.after("kinds-stored")
def test_what_is_learned_sits_in_the_order(kinds_stored):
    for H in (1, 4):
        runs = kinds_stored.where(kernel="softmax", H=H)
        assert runs["shuffled"].max() < 0.7 and 0.6 < runs["shuffled"].mean() < 0.65
        assert (runs["all"] - runs["shuffled"]).min() > 0.15 and runs["all"].mean() > 0.85


@page.after("solution-kernel")
def test_the_gaussian_kernel_fits_as_well_and_does_worse_on_fresh_sentences(kinds_stored):
    gaussian, softmax = (kinds_stored.where(kernel=kernel, H=4) for kernel in ("gaussian", "softmax"))
    assert gaussian["accuracy"].mean().round(2) == 0.98 and softmax["accuracy"].mean().round(3) == 0.995
    assert gaussian["accuracy"].min() > 0.95 and gaussian["all"].max() < 0.86
    assert (gaussian["all"] < softmax["all"]).all() and (softmax["all"] - gaussian["all"]).mean().round(2) == 0.13
