"""The pictures of the ideas: what each shows to scale is computed again, from the numbers of its
text, and held against the places that it is drawn at."""

import functools
import importlib
import inspect
import re

import numpy as np
import pytest
from IPython.display import HTML
from scipy.stats import t as student

from drawn import ROUNDED, frame, panels
from mhabook.drawing import DASHES, DOTS
from mhalib.plots import ATTENTION, DECODER, FOUND, GAUSSIAN, GRAY
from scripts import ROOT

FILES = sorted((ROOT / "book/mhabook").glob("c*_*/idea.py"))
IDEAS = [importlib.import_module(f"mhabook.{file.parent.name}.idea") for file in FILES]
c01, c02, c03, c04, c05, c06, c07, c08, c09, c10, c11, c12, c13, c14, c15, c16 = IDEAS
HELD = {}
"""Picture → the tests of what it shows."""
SCHEMAS = {
    c05.equal_heads: "how four heads are joined to one dot; the other panels have lengths",
    c06.hidden_head: "rows and boxes, which can be counted",
    c07.leave_one_out: "rows of dots, one of which is left out",
    c16.task: "sentences and boxes; only the labels follow from something",
}
"""What has no scale, and why; what can be counted in it is."""

rng = np.random.default_rng(0)
HIDDEN, EQUAL, DIFFERENT = rng.standard_normal((3, 3)), *rng.standard_normal((2, 8, 3, 3))
EQUAL[:] = HIDDEN + EQUAL[0] / 3
GIVEN = {c06.directions: (EQUAL, DIFFERENT, HIDDEN)}
"""Picture → the arrays that it draws, where it draws any."""


def of(picture, *numbers):
    """Decorator: a claim about a picture; its parameters are the panels of these numbers, or all,
    from left to right."""

    def tie(claim):
        @functools.wraps(claim)
        def test():
            drawn = panels(picture(*GIVEN.get(picture, ())))
            claim(*(drawn[k] for k in numbers or range(len(drawn))))

        del test.__wrapped__  # else pytest takes the panels' names for fixtures
        HELD.setdefault(picture, []).append(test)
        return test

    return tie


def near(found, true, within=1.5 * ROUNDED):
    np.testing.assert_allclose(found, np.broadcast_to(true, np.shape(found)), rtol=0, atol=within)


def turn(way, other):
    """The angle between two ways, in degrees."""
    (x, y), (far, up) = way, other
    return abs(np.degrees(np.arctan2(x * up - y * far, x * far + y * up)))


def pairs(x, y):
    return np.stack(np.broadcast_arrays(x, y), axis=1)


def lengths(shapes):
    return np.array([np.linalg.norm(shape.way) for shape in shapes])


def weight_of(line):
    """The weight of attention that a line is drawn with."""
    return (line.width - 0.5) / 9


def lengths_from(place, places):
    return np.linalg.norm(places - place, axis=1)


def inside(place, corners):
    """Whether a convex polygon has a place on the same side of every edge."""
    (x, y), (far, up) = (np.roll(corners, -1, axis=0) - corners).T, (place - corners).T
    return len(set(np.sign(x * up - y * far))) == 1


def test_every_picture_is_held_and_no_other_file_draws_one():
    pictures = {
        made
        for module in IDEAS
        for _, made in inspect.getmembers(module, inspect.isfunction)
        if made.__module__ == module.__name__ and inspect.signature(made).return_annotation is HTML
    }
    assert set(HELD) == pictures and len(pictures) == 30
    assert set(SCHEMAS) < set(HELD)
    draw = [
        file
        for file in (ROOT / "book").rglob("*.py")
        if "from mhabook.drawing" in file.read_text("utf-8")
    ]
    assert sorted(draw) == FILES


@of(c01.one_sample)
def test_a_token_looks_equally_at_ten_of_which_one_carries_the_label(sample):
    looks, tokens = sample.all("line"), sample.places("dot", "star")
    assert len(tokens) == 10
    near(np.sort(tokens[:, 0]), [line.end[0] for line in looks])
    near([weight_of(line) for line in looks], 0.1, 1e-6)
    assert {line.color for line in looks} == {ATTENTION}
    query, arrow, star = sample.one("query"), sample.one("arrow"), sample.one("star")
    (asked,) = [words for words in sample.all("words") if words.text == "?"]
    assert asked.start[1] < min(line.start[1] for line in looks)  # below all lines
    assert star.color == FOUND and query.start[1] < tokens[:, 1].min() - 50
    near(arrow.start[0], star.start[0])
    (label,) = [words for words in sample.all("words") if words.text == "label +"]
    assert label.start[0] == star.start[0] and label.start[1] > arrow.end[1] > star.start[1]


@of(c01.first_the_decoder, 1)
def test_mean_tokens_are_a_tenth_of_the_way_to_a_label_and_the_decoder_points_along_it(plane):
    across, up = plane.all("line")
    zero, stars = np.array([up.start[0], across.start[1]]), plane.places("star")
    near(stars.mean(axis=0), zero)
    near(plane.places("dot", "ring"), zero + (stars - zero) / 10)
    assert len(plane.all("dot")) == 1
    decoder = plane.one("arrow", color=DECODER)
    assert plane.shapes.index(decoder) < plane.shapes.index(plane.one("dot"))  # not under it
    near(decoder.start, zero)
    assert turn(decoder.way, stars[0] - stars[1]) < 0.5 < 5 < lengths([decoder])[0]


@of(c01.first_the_decoder, 0, 2)
def test_lines_to_tokens_are_as_thick_as_weights_that_sum_to_one(start, end):
    for panel in (start, end):
        looks, tokens = panel.all("line", color=ATTENTION), panel.places("dot", "star")
        query = panel.one("query").start
        near([line.start for line in looks], (query[0], query[1] + 8))
        near([line.end[0] for line in looks], np.sort(tokens[:, 0]))
    equal, selected = (
        [weight_of(line) for line in panel.all("line", color=ATTENTION)] for panel in (start, end)
    )
    near(equal, 0.1, 1e-6)
    near(sum(selected), 1, 1e-6)
    assert looks[np.argmax(selected)].end[0] == end.one("star").start[0]
    assert len(set(selected)) == 2 and max(selected) > 0.5


@of(c02.slope_times_bend, 0)
def test_tangents_are_those_of_the_logistic_loss(loss):
    m = np.linspace(-2, 4, 61)
    curve = loss.one("line", width=1.5)
    view = frame(curve.places, pairs(m, np.log1p(np.exp(-m))), alike=False)
    near(view.zero[1], loss.one("arrow").start[1])
    for tangent, foot, dot in zip(
        loss.all("line", width=4), loss.all("line", width=1), loss.all("dot"), strict=True
    ):
        at, height = view.read(dot.start)
        near(height, np.log1p(np.exp(-at)), 0.005)
        across, up = tangent.way / view.unit
        near(up / across, -1 / (1 + np.exp(at)), 0.005)
        near(tangent.places.mean(axis=0), dot.start)
        near(foot.places, [dot.start, (dot.start[0], view.zero[1])])
    assert at > 2 and loss.places("dot")[0, 1] > 5 * height * view.unit[1] + view.zero[1]


@of(c02.slope_times_bend, 1)
def test_two_logits_bend_as_much_one_upward_and_one_downward_both_less_than_the_limit(logit):
    def bends(width):
        return [2 * np.polyfit(*line.places.T, 2)[0] for line in logit.all("line", width=width)]

    (upward, downward), (most, least) = bends(2.5), bends(2)
    near([upward, most], [-downward, -least], 1e-3)
    assert 0.05 < upward < most / 2
    assert [line.dashed for line in logit.all("line")] == [False, True, True, True]
    walls = logit.all("line", width=2)
    near([shade.places for shade in logit.all("shade")], [wall.places for wall in walls])


@of(c02.slope_times_bend, 2)
def test_three_hills_have_one_shape_with_dashes_where_they_bend_downward_and_a_dot_on_top(hills):
    x, tops = np.linspace(-1, 1, 41), []
    for *parts, dot in zip(*[iter(hills.shapes[:12])] * 4, strict=True):
        assert [part.dashed for part in parts] == [False, True, False]
        first, middle, last = (part.places for part in parts)
        near([first[-1], middle[-1]], [middle[0], last[0]])
        hill = np.concatenate([first, middle[1:], last[1:]])
        low, high = hill[:, 1].min(), hill[:, 1].max()
        near(hill[:, 1], low + (high - low) * (1 + np.cos(np.pi * x)) / 2)
        # A cosine bends downward as far as it is above its middle.
        near(middle[[0, -1], 1], (low + high) / 2)
        assert dot.kind == "dot"
        near(dot.start, hill[20])
        tops.append(high - low)
    assert tops[0] > 2 * tops[1] > 4 * tops[2]


@of(c03.margin_by_pythagoras, 0, 2)
def test_the_margin_becomes_the_long_side_of_the_triangle_of_the_example_by_hand(before, after):
    plus, minus, nu = 2 * np.eye(3)
    W = np.outer(plus + minus + nu, plus + minus)
    new = plus @ W @ plus / np.linalg.norm(W) / 2
    for panel in (before, after):
        across, up = panel.all("line", width=1)
        zero, labels = np.array([up.start[0], across.start[1]]), panel.places("dot", "ring")
        near(labels.sum(axis=0), 2 * zero)
        assert len(panel.all("dot")) == len(panel.all("ring")) == 1
    was, (base, leg, long) = before.one("line", width=4), after.all("line", width=4)
    assert [was.color, base.color, leg.color, long.color] == [DECODER, DECODER, ATTENTION, None]
    near(was.places, [zero, before.places("dot")[0]])
    near(base.places, was.places)
    near(leg.places, [base.end, base.end + (0, new * lengths([base])[0])])
    near(long.places, [zero, leg.end])
    near(labels[0], leg.end)


@of(c03.margin_by_pythagoras, 1)
def test_the_decoder_points_from_one_token_to_the_other_past_the_rest(step):
    stars, decoder = step.places("star"), step.one("arrow")
    line = stars[0] - stars[1]
    for place in decoder.places:
        assert turn(place - stars[1], line) < 0.5
    assert turn(decoder.way, line) < 0.5
    assert min(turn(place - stars[1], line) for place in step.places("dot")) > 5


@of(c03.margin_of_a_direction)
def test_the_margin_is_the_distance_of_the_nearest_sample_and_no_direction_has_a_larger_one(
    one, best
):
    angles, margins = np.radians(np.linspace(0, 360, 36_001)), []
    for panel in (one, best):
        arrow, line = panel.one("arrow"), panel.one("line", color=GRAY, width=1.5)
        zero, unit = arrow.start, lengths([arrow])[0]
        of_arrow, of_margin = panel.all("words")
        assert of_arrow.text == "length 1"
        near((line.places - zero) @ arrow.way / unit, 0)
        assert abs(turn(line.way, arrow.way) - 90) < 0.2
        samples = np.concatenate([panel.places("dot") - zero, zero - panel.places("ring")]) / unit
        distances = samples @ arrow.way / unit
        assert len(samples) == 6 and distances.min() > 0
        every = samples @ [np.cos(angles), np.sin(angles)]
        assert float(of_margin.text.split()[1]) == round(distances.min(), 2)
        margins.append((distances.min(), every.min(axis=0).max()))
        nearest = panel.all("line", width=4)
        near(lengths(nearest) / unit, distances.min(), 0.01)
        assert len(nearest) == (distances < distances.min() + 0.01).sum()
        assert all(abs(turn(way.way, line.way) - 90) < 0.5 for way in nearest)
        near([(way.start - zero) @ arrow.way / unit for way in nearest], 0)
        for side, edge in zip((-1, 1), panel.all("line", width=1), strict=True):
            near((edge.places - zero) @ arrow.way / unit**2, side * distances.min(), 0.01)
    (narrow, most), (widest, same) = margins
    near([widest, same], most, 0.005)
    assert 0 < 2 * narrow < widest


@of(c04.downhill_leads_there, 0, 1)
def test_a_flat_start_ends_too_high_at_distance_two_and_low_enough_at_five(near_by, far):
    x, kappa, least = np.linspace(0, 1, 41), 0.1, 0.1
    flat, sloping = near_by.one("line", dashed=True), near_by.one("line", width=2.5)
    view = frame(flat.places, pairs(2 * x, np.cos(kappa**0.5 * 2 * x)), alike=False)
    for panel, end in ((near_by, 2), (far, 5)):
        near(view.read(panel.one("dot").start), [0, 1], 0.005)
        near(view.read(panel.one("star").start), [end, least], 0.005)
        near(view.read([line.start for line in panel.all("line", width=1.5)]), 0, 0.005)
        ticks = panel.all("words", color=None)
        near(view.read([tick.start for tick in ticks[:2]])[:, 1] + 5 / view.unit[1], [1, 0.1])
        near(view.read([tick.start for tick in ticks[2:4]])[:, 0], [0, end], 0.005)
    slopes = np.diff(view.read(sloping.places)[:, 1]) / 0.05
    assert slopes[0] < -(1 - least - kappa * 2**2 / 2) / 2 and (np.diff(slopes) > -0.05).all()
    near(view.read(sloping.places[[0, -1]]), [[0, 1], [2, least]], 0.005)
    speed = np.arccos(least) / 5
    shade, under = near_by.one("shade").places, near_by.one("star").start
    near(shade[: len(flat.places)], flat.places)
    near(view.read(shade[len(flat.places) :]), [(2, 0), (0, 0)], 0.005)
    assert under[1] < flat.end[1]
    assert speed**2 < kappa and 0.6 < 1 - kappa * 2**2 / 2 < view.read(flat.end)[1]
    near(view.read(far.one("line", width=2.5).places), pairs(5 * x, np.cos(speed * 5 * x)), 0.005)


@of(c04.downhill_leads_there, 2)
def test_each_step_halves_the_squared_distance_from_the_outermost_circle_on(steps):
    path = np.array([*steps.places("dot"), steps.one("arrow").end])
    legs = steps.all("line", width=2) + steps.all("arrow")
    near([leg.places for leg in legs], [path[k : k + 2] for k in range(4)])
    star = steps.one("star").start
    distances = lengths_from(star, path)
    near(distances**2 / distances[0] ** 2, 0.5 ** np.arange(5), 0.005)
    for arc, distance in zip(steps.all("line", width=1), distances[::2], strict=True):
        near(lengths_from(star, arc.places), distance)
    assert (np.diff(lengths(legs)) < 0).all()


@of(c05.three_ways)
def test_the_ways_of_many_heads_are_powers_of_their_number(plane):
    assert turn(plane.one("arrow", color=DECODER).way, (1, 0)) == 0
    assert turn(plane.one("arrow", color=ATTENTION).way, (0, 1)) == 0
    ways = {"same step size": (0, -1), "step size × √H": (1 / 2, -1 / 2), "Adam": (1 / 2, 0)}
    words = {each.text: each.start for each in plane.all("words")}
    view = None
    for line in plane.all("line"):
        # The words of a way stand beside its end.
        name = min(ways, key=lambda name: np.linalg.norm(words[name] - line.end))
        on = [dot for dot in plane.all("dot") if turn(dot.start - line.start, line.way) < 1]
        places, sizes = [dot.start for dot in on], [dot.width for dot in on]
        true = np.outer(np.log2([1, 4, 16, 64]), ways.pop(name))
        view = view or frame(places, true)
        near(view.read(places), true, 0.005)
        near([line.start, line.end], [places[0], places[-1]])
        assert sizes == sorted(set(sizes))
    assert not ways


@of(c05.equal_heads)
def test_attention_takes_a_step_as_many_times_shorter_as_there_are_heads(four, one, steps):
    squares, bars = (four.all("line", color=color) for color in (ATTENTION, DECODER))
    heads = len(squares)
    assert heads == len(bars) == len(four.all("arrow")) == 4
    over, under = one.all("bar")  # an equals sign
    near(over.way, under.way)
    for square, bar, arrow in zip(squares, bars, four.all("arrow"), strict=True):
        assert square.filled and square.places[0, 1] > bar.end[1] > square.places[2, 1]
        near(bar.end[1], arrow.start[1])
        assert lengths_from(four.one("dot").start, arrow.places[1:]) < 20
    # One head with the same W and the decoder √H U has the logit of all.
    alone, twice = one.one("line", color=ATTENTION), one.one("line", color=DECODER)
    near(np.ptp(alone.places, axis=0), np.ptp(squares[0].places, axis=0))
    near(heads**0.5 * lengths(bars), lengths([twice]))
    decoder, attention = (steps.one("arrow", color=color) for color in (DECODER, ATTENTION))
    near(lengths([decoder]), heads * lengths([attention]), 0.5)
    ruler, *marks = steps.all("line")
    near([ruler.start[0], ruler.end[0]], [decoder.start[0], decoder.end[0]])
    numbers = [words for words in steps.all("words") if words.text.isdigit()]
    assert [words.text for words in numbers] == list("01234")
    fields = np.linspace(ruler.start[0], ruler.end[0], heads + 1)
    near([mark.start[0] for mark in marks], fields)
    near([words.start[0] for words in numbers], fields)
    near([attention.start[0], attention.end[0]], fields[:2])


@of(c06.hidden_head)
def test_every_row_of_tokens_has_its_sign_and_eight_heads_have_their_numbers(made, seen, train):
    rows, signs = seen.places("dot").reshape(4, 6, 2), seen.all("words")[:4]
    near(made.places("dot"), seen.places("dot"))
    heights = np.array([sign.start[1] for sign in signs])
    assert abs(rows[..., 1] - heights[:, None] - 5).max() < 8
    assert [sign.text for sign in signs] == ["+", "−", "−", "+"]
    numbers = [words for words in train.all("words") if words.text.isdigit()]
    assert [words.text for words in numbers] == list("12345678")
    for words, box in zip(numbers, train.all("line", filled=True), strict=True):
        near(words.start + (0, 5), (box.places[0] + box.places[2]) / 2)
    bars, decoder = train.all("line", color=DECODER), train.one("words", text="decoder")
    assert len(bars) == 8 and decoder.color == DECODER
    near(decoder.start, bars[0].places.mean(axis=0), 12)
    hidden = made.one("line", color=FOUND, filled=True)
    near(made.one("star").start, (hidden.places[0] + hidden.places[2]) / 2)
    assert not seen.all("star") and not train.all("star")


@of(c06.directions)
def test_the_arrow_of_a_head_has_its_true_angle_and_length(together, apart):
    for panel, heads in ((together, EQUAL), (apart, DIFFERENT)):
        arrows, sizes = panel.all("arrow", color=ATTENTION), (heads**2).sum(axis=(1, 2)) ** 0.5
        cosines = [(head * HIDDEN).sum() for head in heads] / sizes / (HIDDEN**2).sum() ** 0.5
        near([turn(arrow.way, (0, 1)) for arrow in arrows], np.degrees(np.arccos(cosines)), 0.2)
        near(lengths(arrows) / lengths(arrows).max(), sizes / sizes.max(), 0.005)
        hidden = panel.one("line", color=FOUND)
        near([arrow.start for arrow in arrows], hidden.start)
        near(panel.one("star").start[0], hidden.end[0])
        counted = [words for words in panel.all("words") if words.text.endswith("one on another")]
        on_one = len(np.unique([arrow.end for arrow in arrows], axis=0)) == 1
        assert [words.text[0] for words in counted] == ["8"] * on_one
        sides = {bool(arrow.way[0] > 0) for arrow in arrows}
        assert len(sides) == (1 if panel is together else 2)
        assert turn(hidden.way, (0, 1)) == 0


@of(c07.leave_one_out)
def test_each_run_leaves_out_another_of_five_samples(panel):
    samples = panel.all("dot", "ring")
    left_out = np.reshape([shape.kind == "ring" and shape.dashed for shape in samples], (6, 5))
    np.testing.assert_array_equal(left_out, np.eye(6, 5, k=-1))
    grid = np.array([shape.start for shape in samples]).reshape(6, 5, 2)
    near(grid[:, :, 0], grid[0, :, 0])
    near(grid[:, :, 1], panel.places("arrow")[:, None, 1])


@of(c07.pushes_fade)
def test_two_runs_are_apart_by_the_sum_of_the_pushes_and_columns_are_as_high(runs, columns):
    without = runs.one("line", dashed=True).places
    whole = runs.one("line", width=1.5, dashed=False).places
    pushes = np.array([bar.way for bar in runs.all("bar")])
    near([bar.end for bar in runs.all("bar")], whole[1:])
    near(whole - without, np.concatenate([[(0, 0)], np.cumsum(pushes, axis=0)]), 0.6)
    boxes = columns.all("line", filled=True)
    feet, heights = (np.array([of(box.places[:, 1]) for box in boxes]) for of in (np.min, np.ptp))
    steps, floor = heights[:8], columns.one("line", filled=False).start[1]
    near(heights[8:], steps)
    near(feet[:8], floor)
    near(feet[8:], floor + np.cumsum(steps) - steps, 0.6)
    near([np.ptp(box.places[:, 0]) for box in boxes], np.ptp(boxes[0].places[:, 0]))
    near(pushes[:, 1] / pushes[:, 1].sum(), steps / steps.sum(), 0.005)
    assert (np.diff(steps) < 0).all() and steps[-1] < steps[0] / 10


@of(c08.many_short_moves)
def test_four_heads_move_half_as_far_and_bars_are_what_the_sums_say(one, four, together):
    near(lengths(four.all("arrow")), lengths(one.all("arrow")) / 4**0.5)
    for panel, heads in ((one, 1), (four, 4)):
        steps, ends = panel.places("arrow"), [bar.end for bar in panel.all("line", color=DECODER)]
        assert len(steps) == len(ends) == len(panel.all("line", color=ATTENTION)) == heads
        near(steps, ends)  # each lengthens its decoder
    decoders, attention = 4 * (1 / 2) / 4**0.5, 4 * (1 / 2) * (1 / 4) / 4**0.5
    bars = lengths(together.all("bar"))
    assert len(bars) == len(four.all("arrow")) == 4 and bars[0] > 50
    near(bars, bars[0] * np.array([1, decoders, 1, attention]))
    colors = [bar.color for bar in together.all("bar")]
    assert colors == [DECODER, DECODER, ATTENTION, ATTENTION]


@of(c09.query_in_a_cloud)
def test_tokens_have_the_areas_of_softmax_weights_and_their_mean_is_the_last_dot(cloud):
    discs = cloud.all("dot", color=ATTENTION)
    tokens, areas = cloud.places("dot", color=ATTENTION), [disc.width**2 for disc in discs]
    query, weights = cloud.one("arrow"), np.divide(areas, sum(areas))
    near(cloud.places("query"), query.start, 2)  # the middle of its triangle
    near(weights @ tokens, cloud.one("dot", color=None).start)
    drawn = np.random.default_rng(9).standard_normal((120, 2))
    view = frame(tokens, drawn[(drawn**2).sum(axis=1) < 2.1**2])
    middle, centered = view.zero, tokens - view.zero
    assert turn(query.start - middle, query.way) < 0.5
    assert np.linalg.norm(query.start - middle) > np.linalg.norm(centered, axis=1).max()
    way, (off,), *_ = np.linalg.lstsq(np.c_[centered, np.ones(len(tokens))], np.log(weights))
    assert turn(query.way, way[:2]) < 0.5 and off < 1e-3
    near(way[:2] * view.unit, [1.1, 0.55], 0.01)


@of(c09.bell_times_exponential)
def test_the_bell_times_the_exponential_is_the_bell_moved_by_tau(cloud, weight, moved):
    x = np.linspace(-3.2, 4.6, 160)
    bell = cloud.one("line", width=2.5).places
    view = frame(bell, pairs(x, np.exp(-(x**2) / 2)), alike=False)
    near([panel.one("line", width=1).start[1] for panel in (cloud, weight, moved)], view.zero[1])
    near(moved.one("line", dashed=True).places, bell)
    tau = moved.one("arrow").way[0] / view.unit[0]
    near(moved.one("arrow").start[0], view.zero[0])
    near(
        view.read(moved.one("line", color=ATTENTION).places)[:, 1],
        np.exp(-((x - tau) ** 2) / 2),
        0.003,
    )
    at, growth = view.read(weight.one("line", color=ATTENTION).places).T
    product = np.exp(-(at**2) / 2) * growth / np.exp(-((at - tau) ** 2) / 2)
    near((product / product[-1])[growth > 0.1], 1, 0.02)
    tokens = view.read(moved.places("dot"))[:, 0]
    near(moved.places("dot"), cloud.places("dot"))
    assert (abs(tokens - tau) < 1).sum() < (abs(tokens) < 1).sum() / 2


def layer_of_two_numbers(variances):
    """Descent on ½(Aσₓ³B − 1)² of two coordinates in their A and B: the errors of every step, and
    the curvatures."""
    sigma = np.array(variances) ** 0.5
    curvature = sigma**2 + sigma**4
    a, b = np.sqrt([1.02, 1.04]) / sigma, np.sqrt([1.02, 1.04]) / sigma**2
    errors = [a * sigma**3 * b - 1]
    while abs(errors[-1]).max() > 0.002:
        slope = 2 / curvature.sum() * errors[-1] * sigma**3
        a, b = a - slope * b, b - slope * a
        errors.append(a * sigma**3 * b - 1)
    return np.array(errors), curvature


def in_steps(path):
    return "1 step" if len(path) == 2 else f"{len(path) - 1} steps"


def starts_on_a_tick(panel, path):
    tick = panel.one("bar")
    near(tick.places.mean(axis=0), path.start)
    assert abs(turn(tick.way, path.places[1] - path.start) - 90) < 2


@of(c10.landscape)
def test_descent_takes_its_steps_among_the_level_lines_of_its_two_curvatures(narrow, whitened):
    for panel, variances in ((narrow, (4, 1)), (whitened, (1, 1))):
        errors, curvature = layer_of_two_numbers(variances)
        *levels, path = panel.all("line")[2:]
        view = frame(path.places, errors / curvature**0.5)
        steps = path.places[1:]
        near(panel.places("dot").reshape(-1, 2), steps[lengths_from(view.zero, steps) > 12])
        starts_on_a_tick(panel, path)
        near(panel.one("star").start, view.zero)
        start = np.linalg.norm(errors[0])
        for line, share in zip(levels, (1, 1 / 4, 1 / 16), strict=True):
            level = np.linalg.norm(view.read(line.places) * curvature**0.5, axis=1)
            near(level / start, share**0.5, 0.005)
        assert panel.all("words")[-1].text.endswith(f": {in_steps(errors)}")


@of(c10.stretched_tokens)
def test_on_either_cloud_descent_takes_the_errors_of_its_variances_to_the_star(round_, stretched):
    z = np.random.default_rng(3).standard_normal((90, 2)) * (1, -1)
    z = z[(z**2).sum(axis=1) < 2.2**2]
    one = frame(round_.places("dot"), z)
    unit = frame(stretched.places("dot"), z, alike=False).unit
    variances = (unit / one.unit) ** 2
    near(variances, [1.7, 0.3], 0.005)
    near(variances.mean(), 1, 0.005)
    (whitened, _), (plain, _) = map(layer_of_two_numbers, ((1, 1), (1.7, 0.3)))
    assert len(plain) > 3 * len(whitened)
    for panel in (round_, stretched):
        path = panel.one("line", width=2.5)
        view = frame(path.places, whitened)
        near(view.zero, one.zero)
        near(panel.one("star").start, view.zero)
        near(path.places[1:], one.zero, 4)  # no step leads out of the star
        starts_on_a_tick(panel, path)
    zigzag = stretched.one("line", width=1.5, dashed=True)
    near(view.read(zigzag.places), plain, 0.0005)
    assert zigzag.color not in (None, GRAY) and not round_.all("line", width=1.5)


@pytest.mark.parametrize("picture", [c10.landscape, c13.lines_of_targets])
def test_the_picture_in_words_names_as_many_steps_as_the_panels(picture):
    said = re.findall(r"(\d+) steps?\b", picture().data)
    assert said[:2] == said[2:] and len(said) == 4


@of(c10.valleys)
def test_descent_keeps_the_difference_of_squares_and_ends_in_a_valley_unbalanced(panel):
    view = frame(panel.places("star"), [(1, 1), (-1, -1)])
    end, saddle = panel.places("dot")
    near(view.zero, saddle)
    *levels, path = panel.all("line")[2:]
    for line, product in zip(levels, np.repeat([0.4, 1, -0.4], 2), strict=True):
        near(view.read(line.places).prod(axis=1), product, 0.01)
        assert (line.color == FOUND) == (product == 1)
    u, v = view.read(path.places).T
    near([u[0], v[0]], [2, -1], 0.005)
    near(u**2 - v**2, 3, 0.05)
    near(u[-1] * v[-1], 1, 0.01)
    assert (np.diff(abs(u * v - 1)) < 0.01).all() and u[-1] > 2 * v[-1]
    near(end, path.end)
    starts_on_a_tick(panel, path)


A, RHO, PHI = 0.05, 0.81, 0.57
"""The law of chapter 11, a ρ^K + φ/n."""


def log_error(k, n):
    return np.log10(A * RHO**k + PHI / n)


@of(c11.two_budgets)
def test_two_runs_of_one_cost_follow_the_law_to_one_budget_and_the_long_one_ends_lower(panel):
    t = np.concatenate([np.linspace(0, 0.1, 60), np.linspace(0.1, 1, 60)])
    runs = (128, 80), (8, 320)  # steps, samples
    assert len({n**2 * K for K, n in runs}) == 1
    lines, true = panel.all("line", width=2.5), [pairs(t, log_error(t * K, n)) for K, n in runs]
    view = frame([*lines[0].places, *lines[1].places], np.concatenate(true), alike=False)
    ends, budget = panel.places("dot"), panel.all("line", width=1)[-1]
    near(ends, [line.end for line in lines])
    near(view.read(budget.places)[:, 0], 1, 0.005)
    near(view.zero[0], panel.all("line", width=1)[1].start[0])
    few, many = (line.places[-20:, 1] for line in lines)
    assert few[-1] < many[-1] - 10 and np.ptp(few) < 0.2 and np.ptp(many) > 10


@of(c11.factor_and_floor, 0, 1)
def test_the_error_is_a_line_and_a_floor_which_twice_the_samples_halve(parts, twice):
    k, at = np.linspace(0, 45, 91), {n: np.log(A * n / PHI) / -np.log(RHO) for n in (160, 320)}
    view = frame(parts.one("line", width=2.5).places, pairs(k, log_error(k, 160)), alike=False)
    levels = []
    for panel in (parts, twice):
        slide, floors = panel.one("line", width=1.5, dashed=False), panel.all("line", width=2)
        near(panel.one("shade").places[:2], floors[-1].places)
        at_step, height = view.read(slide.places).T
        near(height, np.log10(A) + at_step * np.log10(RHO), 0.005)
        levels += floors
    for line, n in zip(levels, (160, 160, 320), strict=True):
        near(view.read(line.places)[:, 1], np.log10(PHI / n), 0.005)
    for look, n in (({"width": 1.5, "dashed": True}, 160), ({"width": 2.5}, 320)):
        near(view.read(twice.one("line", **look).places)[:, 1], log_error(k, n), 0.005)
    near(view.read(twice.places("dot")), [(at[n], np.log10(PHI / n)) for n in at], 0.02)
    near(at[320] - at[160], np.log(2) / -np.log(RHO), 1e-9)
    near(view.read(twice.one("arrow").places)[:, 1], np.log10([PHI / 160, PHI / 320]), 0.005)
    by_steps, samples = word(parts, "lowered by steps"), word(parts, "samples")
    floor = levels[0].start[1]
    assert by_steps.box[0][1] > floor > samples.box[1][1]
    assert gap(by_steps.box, parts.one("line", width=1.5)) < 20
    assert all(inside(corner, parts.one("shade").places) for corner in samples.box)


@of(c11.factor_and_floor, 2)
def test_the_curve_of_one_cost_touches_that_of_one_error_at_the_cheapest_pair(buy):
    error, cost = buy.one("line", width=2.5).places, buy.one("line", dashed=True).places
    K = np.linspace(13.2, 60, 300)
    n = PHI / (0.003 - A * RHO**K)
    shown = (n > 0) & (n < 400)
    plane = frame(error, pairs(K, n)[shown], alike=False)
    near(plane.zero, [buy.all("line")[1].start[0], buy.all("line")[0].start[1]])
    best, n = plane.read(buy.one("star").start)
    fine = np.linspace(14, 60, 100_000)
    cheapest = (fine * (PHI / (0.003 - A * RHO**fine)) ** 2).argmin()
    near(best, fine[cheapest], 0.05)
    near(log_error(best, n), np.log10(0.003), 0.005)
    (K, paid), (steps, samples) = plane.read(cost).T, plane.read(error).T
    near(paid**2 * K / (n**2 * best), 1, 0.01)
    assert (samples**2 * steps > 0.99 * n**2 * best).all()


@of(c12.three_keys)
def test_bars_on_three_keys_are_the_weights_of_one_query_and_lie_below_their_curve(soft, gauss):
    keys, q, k = np.array([-2, 0, 1]), 0.5, np.linspace(-2.6, 1.7, 87)
    total = np.exp(q * keys).sum()
    kernels = (
        (soft, ATTENTION, np.exp(q * keys) / total, np.exp(q * k) / total),
        (gauss, GAUSSIAN, np.exp(-((q - keys) ** 2) / 2), np.exp(-((q - k) ** 2) / 2)),
    )
    views = []
    for panel, color, weights, over in kernels:
        view = frame(panel.one("line", color=color).places, pairs(k, over), alike=False)
        bars = panel.all("bar", color=color)
        near(view.read([bar.start for bar in bars]), pairs(keys, 0), 0.005)
        near(view.read([bar.end for bar in bars]), pairs(keys, weights), 0.005)
        numbers = [words.text for words in panel.all("words", color=color)]
        assert numbers == [f"{weight:.2f}" for weight in weights]
        near(view.read(panel.places("key"))[:, 0], keys, 0.005)
        near(view.read(panel.one("key", filled=True).start)[0], 0, 0.005)
        near(view.read(panel.one("query").start)[0], q, 0.005)
        below = [words for words in panel.all("words", color=None) if len(words.text) < 3]
        assert said(below) == list(keys)
        near(view.read([words.start for words in below])[:, 0], keys, 0.005)
        caption = panel.all("words")[-1].text
        assert ("not divided by the sum" in caption) == (abs(weights.sum() - 1) > 0.5)
        views.append(view)
    near(views[0].unit, views[1].unit, 0.2)


@of(c12.product_and_distance, 0)
def test_the_last_line_across_the_query_meets_the_farthest_corner(product):
    query, keys = product.one("arrow").way, product.places("key")
    winner = keys[np.argmax(keys @ query)]
    near(product.one("ring", color=ATTENTION, filled=True).start, winner)
    near(product.one("query").start, product.one("arrow").start)
    lines = product.all("line", color=ATTENTION)
    assert max(abs(turn(line.way, query) - 90) for line in lines) < 0.5
    along = [(line.start - keys[-1]) @ query / np.linalg.norm(query) for line in lines]
    last = (winner - keys[-1]) @ query / np.linalg.norm(query)
    near(along, [0, last / 2, last], 0.3)
    assert (keys[:-1] @ query).max() > keys[-1] @ query


@of(c12.product_and_distance, 1)
def test_the_first_circle_around_the_query_meets_the_nearest_key(distance):
    circles, keys = distance.all("ring", color=GAUSSIAN), distance.places("key")
    query = distance.one("query").start
    near([circle.start for circle in circles], query)
    radii = lengths_from(query, keys)
    near(circles[0].width, radii.min())
    assert radii.argmin() == 5 and circles[0].width == min(circle.width for circle in circles)


@of(c12.product_and_distance, 2)
def test_keys_are_lifted_to_their_squares_and_a_line_across_the_query_touches_the_lowest(bowl):
    on_line, places = bowl.places("key").reshape(3, 2, 2).swapaxes(0, 1)
    view = frame(places, [(-2, 4), (0, 0), (1, 1)], alike=False)
    x, height = view.read(bowl.all("line")[0].places).T
    near(height, x**2, 0.02)
    near(bowl.one("line", filled=True).places, places[[0, 1, 2, 0]])
    query, touching = bowl.one("arrow").way, bowl.one("line", color=GAUSSIAN)
    near(touching.places[:, 1], places[np.argmax(places @ query), 1])
    assert turn(query, touching.way) == 90 and np.argmax(places @ query) == 1
    near(on_line, [(x, bowl.all("line")[2].start[1]) for x in places[:, 0]])
    near(bowl.one("key", filled=True).start, places[1])


@of(c13.rows_of_what_tokens_see)
def test_lines_are_as_thick_as_weights_and_squares_have_the_areas_of_the_weighted_means(
    looks, rows
):
    weights = np.array([line.width - 0.5 for line in looks.all("line", color=ATTENTION)])
    near(weights / weights.sum(), [0.6, 0.2, 0.1, 0.1], 1e-6)
    near([line.end[0] for line in looks.all("line")], looks.places("dot")[:, 0])
    means = [
        [sum(w * token[j] for w, token in zip(row, c13.TOKENS, strict=True)) for j in range(5)]
        for row in c13.WEIGHTS
    ]
    near(np.sum(c13.WEIGHTS, axis=1), 1, 1e-9)
    near(c13.WEIGHTS[0], weights / weights.sum(), 1e-6)
    squares = rows.all("entry")
    areas = np.array([square.width**2 * (1 if square.filled else -1) for square in squares])
    near(areas / abs(areas).sum(), np.ravel(means) / np.abs(means).sum(), 1e-4)


def least_squares(B, y):
    """Steps of 1/L on ½‖Bv − y‖² from one start until a millionth of what can go is left."""
    v, least, path = np.array([-1.35, 0.75]), np.linalg.solve(B.T @ B, B.T @ y), []
    while not path or np.sum((B @ (v - least)) ** 2) > 1e-6 * np.sum((B @ (path[0] - least)) ** 2):
        path.append(v)
        v = v - B.T @ (B @ v - y) / np.linalg.eigvalsh(B.T @ B).max()
    return np.array([*path, v]), least


@of(c13.lines_of_targets)
def test_targets_are_lines_across_their_rows_and_descent_ends_at_the_least_squares(
    triangle, apart, alike
):
    for panel, degrees, y in (
        (triangle, (55, 100, 140), (0.6, -0.5, 0.45)),
        (apart, (55, 125), (0, 0)),
        (alike, (80, 100), (0, 0)),
    ):
        B = pairs(np.cos(np.radians(degrees)), np.sin(np.radians(degrees)))
        path, least = least_squares(B, np.array(y))
        run = panel.one("line", width=2.5)
        view = frame(run.places, path)
        starts_on_a_tick(panel, run)
        long = lengths_from(0, np.diff(path[1:], axis=0)) * view.unit[0] > 5.4
        near(view.read(panel.places("dot")[1:]), path[1:-1][long], 0.005)
        end = panel.all("star") or panel.all("dot")[:1]
        near(view.read(end[0].start), least, 0.01)
        assert len(panel.all("star")) == (panel is not triangle)
        for line, row, target in zip(panel.all("line", color=FOUND), B, y, strict=True):
            near(view.read(line.places) @ row, target, 0.005)
            assert lengths([line])[0] > 100
        rings = [
            np.linalg.norm(view.read(ring.places) @ B.T, axis=1)
            for ring in panel.all("line", width=1)
        ]
        for k, ring in enumerate(rings, 1):
            near(ring, rings[0].mean() * k, 0.005)
        assert len(rings) == (0 if panel is triangle else 3)
        if panel is not triangle:
            assert panel.all("words")[-1].text == f"fitted in {len(path) - 1} steps"


@of(c13.lines_of_targets, 0)
def test_descent_on_three_targets_ends_inside_of_their_triangle(triangle):
    lines = [(line.start, line.way) for line in triangle.all("line", color=FOUND)]
    corners = []
    for (start, way), (other, across) in zip(lines, lines[1:] + lines[:1], strict=True):
        t, _ = np.linalg.solve(np.stack([way, -across], axis=1), other - start)
        corners.append(start + t * way)
    assert inside(triangle.places("dot")[0], np.array(corners))


TASKS = (
    ((-2, -1, 1, 2), (3, -2, 2, 1), 2, 0.3),
    ((-2, 2), (1, 2), 1.5, -1),
)
"""Keys, values, target and query of the two tasks of chapter 14."""


def pinned(panel, keys, values, target):
    """The frame of a panel in which pins stand on their keys, as long as their values, and a level
    is the target."""
    view = frame(panel.places("dot", color=DECODER), pairs(keys, values), alike=False)
    pins = [pairs(key, [0, value]) for key, value in zip(keys, values, strict=True)]
    near(view.read([pin.places for pin in panel.all("line", color=DECODER)]), pins, 0.01)
    near(view.read(panel.places("key")), pairs(keys, 0), 0.01)
    near(view.read(panel.one("line", color=FOUND).places)[:, 1], target, 0.01)
    return view


def said(words):
    """The numbers that words are."""
    return [float(one.text.replace("−", "-")) for one in words]


@of(c14.pins)
def test_pins_stand_on_their_keys_and_are_as_long_as_their_values(*two):
    near(two[0].places("key")[:, 1], two[1].places("key")[0, 1])
    for panel, (keys, values, target, query) in zip(two, TASKS, strict=True):
        view = pinned(panel, keys, values, target)
        near(view.read(panel.one("query").start), [query, 0], 0.01)
        numbered = [words for words in panel.all("words", color=None) if words.text != "query"]
        assert said(numbered) == list(keys)
        near([words.start[0] for words in numbered], panel.places("key")[:, 0])
        assert said(panel.all("words", color=DECODER)) == list(values)
        beside = panel.places("words", color=DECODER) - panel.places("dot", color=DECODER)
        near(beside, [(-6, -14 if value > 0 else 5) for value in values])


def softmax_output(q, keys, values):
    weights = np.exp(np.multiply.outer(q, keys))
    return weights @ values / weights.sum(axis=-1)


def gaussian_output(q, keys, values):
    return np.exp(-(np.subtract.outer(q, keys) ** 2) / 2) @ values


def descended(output, keys, values, target, q):
    """Where the query is after many small steps on half its squared error."""
    for _ in range(20_000):
        slope = (output(q + 1e-5, keys, values) - output(q - 1e-5, keys, values)) / 2e-5
        q = q - 0.1 * (output(q, keys, values) - target) * slope
    return q


def word(panel, *texts):
    """The words of a panel that are one of these texts."""
    (found,) = (words for words in panel.all("words") if words.text in texts)
    return found


@of(c14.between)
def test_a_query_is_held_on_top_of_a_hill_and_the_star_is_where_the_target_is_met(*two):
    kernels = (softmax_output, ATTENTION), (gaussian_output, GAUSSIAN)
    for panel, (output, color), (keys, values, target, start) in zip(
        two, kernels, TASKS, strict=True
    ):
        view = pinned(panel, keys, values, target)
        assert said(panel.all("words", color=DECODER)) == list(values)
        beside = panel.places("words", color=DECODER) - panel.places("key")
        near(beside, [(8, 9 if value > 0 else -18) for value in values])
        grid, q = np.linspace(-2.9, 2.9, 157), np.linspace(-3, 3, 60_001)
        curve, o = panel.one("line", color=color).places, output(q, keys, values)
        near(view.read(curve), pairs(grid, output(grid, keys, values)), 0.01)
        near(view.zero[1], panel.all("line", width=1)[-1].start[1])
        rises = np.flatnonzero(np.diff(np.sign(np.diff(o)))) + 1
        low = next(k for k in rises if o[k] < o[k - 9])
        top = next(k for k in rises if o[k - 9] < o[k] < target)
        near(view.read(word(panel, "mean of all", "little of either").start)[0], q[low], 0.01)
        near(view.read(panel.places("trap")[1]), [q[top], o[top]], 0.01)
        near(view.read(panel.one("query").start), [start, output(start, keys, values)], 0.01)
        near(descended(output, keys, values, target, start), q[top], 0.01)
        # The run goes along the curve, from the triangle into the cross.
        run = [panel.one("line", width=2.5, color=None), panel.one("arrow")]
        way = view.read(np.concatenate([part.places for part in run]))
        near(way[:, 1], output(way[:, 0], keys, values), 0.02)
        along = (way[:, 0] - start) / (q[top] - start)
        assert (np.diff(along) >= 0).all() and 0 < along[0] < 0.3 and 0.7 < along[-1] < 1
        met = q[np.flatnonzero(np.diff(np.sign(o - target)))[0]]
        near(view.read(panel.places("star")[1]), [met, target], 0.01)
    near(softmax_output(0, *TASKS[0][:2]), np.mean(TASKS[0][1]), 1e-12)


@of(c14.between)
def test_the_strip_below_is_the_loss_with_the_trap_in_a_valley_and_the_star_at_zero(*two):
    for panel, output, task in zip(two, (softmax_output, gaussian_output), TASKS, strict=True):
        keys, values, target, _ = task
        view, losses = pinned(panel, keys, values, target), panel.one("line", width=2, color=None)
        grid = np.linspace(-2.9, 2.9, 157)
        loss = (output(grid, keys, values) - target) ** 2 / 2
        strip = frame(losses.places, pairs(grid, loss), alike=False)
        base, *down, _ = panel.all("line", width=1)
        near(strip.zero[1], base.start[1])
        (in_valley, held), (at_zero, reached) = panel.places("trap"), panel.places("star")
        near([line.places for line in down], [(held, in_valley), (reached, at_zero)])
        # A key beside a line down is drawn on it.
        assert all(line.color == GRAY for line in down)
        assert panel.shapes.index(down[-1]) < panel.shapes.index(panel.all("key")[0])
        near(strip.read(at_zero)[1], 0, 0.01)
        trap = strip.read(in_valley)
        near(trap[1], np.interp(trap[0], grid, loss), 0.01)
        beside = abs(grid - trap[0]) < 0.5
        assert loss[beside].min() > trap[1] - 0.01 and losses.places[:, 1].max() < view.zero[1]


def saddle(x, y):
    return (x * y - 1) ** 2 / 2


@of(c15.one_saddle)
def test_the_slices_are_the_saddle_along_its_diagonals(above, slices):
    ridge, across = above.all("line", color=None, width=2)
    ends = [(-1.5, 1.5), (1.5, -1.5), (-1.5, -1.5), (1.5, 1.5)]
    view = frame([*ridge.places, *across.places], ends)
    near(above.one("dot").start, view.zero)
    for valley in above.all("line", color=FOUND):
        near(view.read(valley.places).prod(axis=1), 1, 0.01)
    for level, product in zip(above.all("line", width=1), (-0.4, -0.4, 0.4, 0.4), strict=True):
        near(view.read(level.places).prod(axis=1), product, 0.01)
    near(view.read(above.places("star")), [(1, 1), (-1, -1)], 0.005)
    near([line.dashed for line in (ridge, across)], [True, False])
    bowl, peak = slices.all("line", width=2.5)
    true = []
    for reach, side in ((1.2, -1), (1.9, 1)):
        s = np.linspace(-reach, reach, 81)
        true.append(pairs(s, saddle(s / 2**0.5, side * s / 2**0.5)))
    view = frame([*bowl.places, *peak.places], np.concatenate(true), alike=False)
    assert bowl.dashed and not peak.dashed
    near(slices.one("line", width=1).start[1], view.zero[1])
    near(view.read(slices.one("dot").start), [0, saddle(0, 0)], 0.005)
    near(view.read(slices.places("star")), [(2**0.5, 0), (-(2**0.5), 0)], 0.005)


@of(c15.right_angles)
def test_random_directions_have_their_true_angles_and_the_sector_is_what_the_turn_leaves(*fans):
    sector = 36  # 90 less the 54 degrees of the page: tests/claims/test_15_landscapes.py
    for panel, p in zip(fans, (2, 114), strict=True):
        drawn = np.random.default_rng(0).standard_normal((30, p))
        angles = np.degrees(np.arctan2((drawn[:, 1:] ** 2).sum(1) ** 0.5, abs(drawn[:, 0])))
        lines, down = panel.all("line", filled=False), panel.one("arrow")
        near([turn(line.way, down.way) for line in lines], angles, 0.1)
        near([line.start for line in lines], down.start)
        near(lengths(lines), lengths(lines)[0])
        corner, *rim, _ = panel.one("line", filled=True).places
        near([turn(place - corner, down.way) for place in rim], np.linspace(0, sector, 30), 0.1)
        near(corner, down.start)
        assert turn(down.way, (0, 1)) == 0
        assert (angles < sector).sum() > 8 if p == 2 else angles.min() > 75


@of(c16.task)
def test_a_mark_is_what_a_word_counts_and_the_label_is_the_sign_of_their_sum(sentences, networks):
    value = {"good": 1, "great": 1, "bad": -1, "awful": -1}
    rows = np.reshape(sentences.all("words")[:15], (3, 5))
    marks, flips = sentences.all("dot", "ring"), sentences.all("arrow")
    for *sentence, label in rows:
        total, sign = 0, 1
        for word, following in zip(sentence, [*sentence[1:], label], strict=True):
            if word.text == "not":
                near(flips.pop(0).places[:, 0], [word.start[0] - 6, following.start[0] - 9])
            if word.text in value:
                mark, counts = marks.pop(0), sign * value[word.text]
                near(mark.start, word.start - (0, 15))
                assert (mark.kind == "dot") == (counts > 0)
                total += counts
            sign = -1 if word.text == "not" else 1
        assert label.text == {1: "+1", -1: "−1"}[np.sign(total)]
        assert label.start[1] == sentence[0].start[1]
    assert not marks and not flips
    colors = {"softmax": ATTENTION, "Gaussian": GAUSSIAN}
    for box, words in zip(networks.all("line", width=2), colors, strict=True):
        middle = (box.places[0] + box.places[2]) / 2
        near(networks.one("words", text=words).start + (0, 5), middle)
        assert box.color == colors[words]


@of(c16.pairs)
def test_differences_are_those_of_the_joined_dots_and_have_the_interval_of_student(
    clouds, joined, apart
):
    first, second = joined.places("dot").reshape(6, 2, 2).swapaxes(0, 1)
    near(clouds.places("dot"), joined.places("dot"))
    near([line.places for line in joined.all("line")], np.stack([first, second], axis=1))
    rises = (second - first)[:, 1]
    dots, zero = apart.places("dot", width=4), apart.one("line").start[0]
    across = dots[:, 0] - zero
    near(across / across.mean(), rises / rises.mean(), 0.02)
    reach = student.ppf(0.975, 5) * across.std(ddof=1) / 6**0.5
    near(apart.one("bar").places[:, 0] - zero, across.mean() + np.array([-reach, reach]), 0.2)
    near(apart.one("dot", width=7).start[0] - zero, across.mean())
    assert rises.min() > 0 and across.mean() > reach
    overlap = min(first[:, 1].max(), second[:, 1].max()) - max(
        first[:, 1].min(), second[:, 1].min()
    )
    assert overlap > 0.8 * np.ptp(first[:, 1])


RADII = {"star": 9, "query": 8, "key": 7, "trap": 5}


def gap(box, shape):
    """How far words are from a line or a sign; where they lie on it, at most zero."""
    if shape.kind in ("line", "bar", "arrow"):
        legs = zip(shape.places[:-1], shape.places[1:], strict=True)
        places = np.concatenate([np.linspace(*leg, 40) for leg in legs])
        radius = shape.width / 2
    else:
        places, radius = shape.places, RADII.get(shape.kind, shape.width)
    away = np.maximum(np.maximum(box[0] - places, places - box[1]), 0)
    return np.linalg.norm(away, axis=1).min() - radius


@pytest.mark.parametrize("picture", sorted(HELD, key=repr), ids=lambda made: made.__qualname__)
def test_a_line_is_solid_or_dashed_in_one_way_or_dotted(picture):
    dashes = re.findall('stroke-dasharray="([^"]+)"', picture(*GIVEN.get(picture, ())).data)
    assert {*dashes} <= {DASHES, DOTS, "2 2.5"}  # the last one is the outline of a sample


@pytest.mark.parametrize("picture", sorted(HELD, key=repr), ids=lambda made: made.__qualname__)
def test_words_lie_on_nothing_and_end_within_their_panel(picture):
    for panel in panels(picture(*GIVEN.get(picture, ()))):
        words = panel.all("words")
        for k, one in enumerate(words):
            assert one.box[0][0] > -1 and one.box[1][0] < 261, one.text
            for shape in panel.shapes:
                if shape.kind not in ("words", "shade"):
                    assert gap(one.box, shape) > 0, (one.text, shape)
            for other in words[:k]:
                apart = np.maximum(one.box[0] - other.box[1], other.box[0] - one.box[1])
                assert apart.max() > 0, (one.text, other.text)
