"""What the first page says, held against what its cell leaves."""

from mhabook.start import figure_words
from page import Page

page = Page("index")


def run(live, **values):
    """Loss and attention on the word that decides, by step, in the live figure."""
    path = live.path(**values)
    assert path.steps.tolist() == list(range(101))
    return path.loss, path.attention_score


@page.after("ten-words")
def test_one_word_of_ten_decides():
    data = figure_words.sentences()
    assert data.X.shape[1] == 10 and (data.relevant.sum(axis=1) == 1).all()
    pairs = data.X.reshape(64, 2, 10, -1)
    differ = (pairs[:, 0] != pairs[:, 1]).any(axis=-1)
    assert (differ == data.relevant[::2]).all() and (data.y[::2] == -data.y[1::2]).all()


@page.after("ten-words")
def test_an_untrained_layer_looks_at_all_ten_alike(live):
    assert (abs(live.path().weights[0] - 0.1) < 1e-15).all()


@page.after("ten-words")
def test_after_a_hundred_steps_most_of_the_attention_is_on_the_right_word(live):
    weights = live.path().weights[-1]
    assert figure_words.SENTENCES[0][weights.argmax()] == "great" and weights.max() > 0.6
    assert abs(weights.max() - run(live)[1][-1]) < 1e-12


@page.after("ten-words")
def test_with_ten_times_the_step_size_three_steps_do_more_than_fifty_did(live):
    assert run(live, lr=1.0)[1][3] > 1.02 * run(live)[1][50]


@page.after("ten-words")
def test_with_the_largest_step_size_one_step_ends_the_loss_and_attention_hardly_moves(live):
    largest = live.controls["lr"].values[-1]
    loss, attention = run(live, lr=largest)
    assert loss[1] < 1e-5 and attention[-1] < 0.14
