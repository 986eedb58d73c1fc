"""What the first page says, held against what its cell leaves."""

from mhabook.start import figure_words
from page import Page

page = Page("index")
UNQUOTED = {
    "what the figure does": (
        "title: **Try** a step size",
        "title: It sees only",
        "title: Each word has",
    ),
    "what the book has": (
        "about: Most figures",
        "about: Three short",
        "about: The paper asks",
        "about: -",
        "about: Each numbered",
        "about: Most statements",
    ),
}


def run(live, **values):
    """Loss and attention on the word that decides, by step, in the live figure."""
    path = live.path(**values)
    assert path.steps.tolist() == list(range(101))
    return path.loss, path.attention_score


@page.after(
    "ten-words", says="Take a sentence of ten words in which a single word decides the answer"
)
def test_one_word_of_ten_decides(said):
    data = figure_words.sentences()
    assert [data.X.shape[1]] == said and (data.relevant.sum(axis=1) == 1).all()
    pairs = data.X.reshape(64, 2, 10, -1)
    differ = (pairs[:, 0] != pairs[:, 1]).any(axis=-1)
    assert (differ == data.relevant[::2]).all() and (data.y[::2] == -data.y[1::2]).all()


@page.after("ten-words", says="An untrained attention layer attends to all ten words equally")
def test_an_untrained_layer_looks_at_all_ten_alike(live, said):
    (words,) = said
    assert (abs(live.path().weights[0] - 1 / words) < 1e-15).all()


@page.after("ten-words", says="A hundred steps later, most of its attention is on the right word")
def test_after_a_hundred_steps_most_of_the_attention_is_on_the_right_word(live, said):
    path = live.path()
    assert [path.steps[-1]] == said
    weights = path.weights[-1]
    assert figure_words.SENTENCES[0][weights.argmax()] == "great" and weights.max() > 0.6
    assert abs(weights.max() - run(live)[1][-1]) < 1e-12


@page.after(
    "ten-words",
    says="At ten times the step size, three steps move attention further than fifty steps did before",
)
def test_with_ten_times_the_step_size_three_steps_do_more_than_fifty_did(live, said):
    times, few, many = said
    long, usual = run(live, lr=times * live.values["lr"])[1], run(live)[1]
    assert long[int(few)] > 1.02 * usual[int(many)] > 1.02 * long[int(few) - 1]


@page.after(
    "ten-words",
    says=(
        "Attention then hardly moves at all, because there is almost no error left to learn from",
    ),
)
def test_with_the_largest_step_size_one_step_ends_the_loss_and_attention_hardly_moves(live):
    largest = live.controls["lr"].values[-1]
    loss, attention = run(live, lr=largest)
    assert loss[1] < 1e-5 and attention[-1] < 0.14
