"""A color says what a thing is: one role has one color on every page, and on a dark page its twin."""

import re
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from figures import PLACES, figure, place_id
from legends import as_drawn, by_name
from mhabook.c17_laboratory.panels import BELOW, PANELS, frame
from mhalib.plots import (
    ATTENTION,
    COLORS,
    DECODER,
    DIVERGING,
    FOUND,
    GAUSSIAN,
    GRAY,
    HEADS,
    HERE,
    INK,
    ORDERED,
    WEIGHTS,
    attention,
    looks,
    matrix,
)
from scripts import ROOT

WORDS = {
    ATTENTION: r"attention|softmax|weight|\bW\b|score|align|head",
    DECODER: r"decoder|value|read|mean|\bU\b",
    FOUND: r"good|target|found|hidden|labeled|relevant|optimum|balanced|minim|uv = 1|met",
    # the second of two: in chapter 16 a network, one with Gaussian kernels
    GAUSSIAN: r"Gaussian|the other",
}
"""Role → words of which the title of a panel, or the name of what has its color, has one."""
KERNELS = WORDS | {ATTENTION: "softmax|the other"}
"""The same where two kernels are compared."""
WAS = r"initial settings|^(1|one) head,|before the step|tokens$"
"""Names of what is gray: an earlier run, one that is kept, tokens before they are weighted."""
SAYS = {
    # not seen in training, or the second of two
    "dash": r"test|left out|plain descent|rows normalized|Adam",
    "dot": r"bound|margin|sum of|infinitely many|derived|eigenvalue|initial settings",
    "triangle-up-open": r"query|start",
    "star": r"minimum|met",
}
"""Dash or symbol → names of what may have it."""
COLORS_CSS = ROOT / "livegrad/live/colors.css"
TWINS = dict(
    re.findall(
        r'\[stroke="(#\w+)"\]\)[^{]*\{ stroke: (#\w+)',
        COLORS_CSS.read_text("utf-8"),
    )
)
PAGES = {"light": "#FFFFFF", "dark": "#121212"}
SOURCES = [
    *(ROOT / "book/mhabook").glob("*/*.py"),
    *(ROOT / "book").glob("*/*.ipynb"),
    *(ROOT / "book").glob("*.ipynb"),
]


def linear(color):
    """Its red, green and blue, as light."""
    share = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def contrast(color, ground):
    """The ratio of WCAG, from 1 to 21."""
    dark, light = sorted(linear(one) @ [0.2126, 0.7152, 0.0722] for one in (color, ground))
    return (light + 0.05) / (dark + 0.05)


def test_no_page_names_a_color_but_by_its_role():
    color = r"color=\d|\bCOLORS\b|#[0-9a-fA-F]{6}\b|rgba?\(\d"
    found = {str(file): re.findall(color, file.read_text("utf-8")) for file in SOURCES}
    found = {file: colors for file, colors in found.items() if colors}
    assert SOURCES and not found, "take a role of mhalib.plots instead"


@cache
def colored(place):
    """(title, name, color, "line" or "marker", dash or symbol) of all that the legend of a figure
    names."""
    found = []
    for (title, name), (trace, *_) in by_name(as_drawn(figure(*place).figure())).items():
        kind = "marker" if "markers" in (trace.get("mode") or "") else "line"
        part = trace.get(kind) or {}
        if isinstance(part.get("color"), str) and trace.get("showlegend") is not False:
            mark = part.get("symbol", "circle") if kind == "marker" else part.get("dash", "solid")
            found.append((title, name, part["color"], kind, mark))
    return found


@pytest.mark.parametrize("place", PLACES, ids=place_id)
def test_a_hue_of_a_live_figure_says_its_role(place):
    roles = KERNELS if place[0].startswith("book/kernels") else WORDS
    for title, name, color, *_ in colored(place):
        assert color in {*COLORS, *HEADS, *ORDERED, HERE["color"], INK, GRAY}, name
        words = roles.get(color, "")
        assert re.search(words, f"{title} {name}"), f"{name}, of {title}, has the color of {words}"


@pytest.mark.parametrize(
    "place", [p for p in PLACES if re.search(r"/\d\d_(?!further)", p[0])], ids=place_id
)
def test_gray_dashes_dots_and_symbols_of_a_chapter_say_one_thing_each(place):
    for _, name, color, kind, mark in colored(place):
        assert color != GRAY or re.search(WAS, name), f"{name} is gray, as what was"
        assert kind == "marker" or mark in {"solid", "dash", "dot"}, name
        assert re.search(SAYS.get(mark, ""), name), f"{name} has the look of {SAYS[mark]}"


@pytest.mark.parametrize("place", PLACES, ids=place_id)
def test_no_two_things_of_a_panel_look_alike(place):
    looks_of = {}
    for title, name, *look in colored(place):
        key = title, *look
        assert key not in looks_of, f"{name} looks as {looks_of[key]}"
        looks_of[key] = name


@pytest.mark.parametrize("page", PAGES)
def test_every_color_stands_out_on_light_and_on_dark_pages(page):
    for color in {*COLORS, *HEADS, *ORDERED}:
        seen = color if page == "light" else TWINS[color]
        least = 4.5 if color in COLORS[:4] or color == INK else 3
        assert contrast(seen, PAGES[page]) >= least, color


def assert_no_grid_shows_through(made):
    for trace in made.select_traces({"type": "heatmap"}):
        if "rgba" in str(trace.colorscale):
            for axis in (trace.xaxis, trace.yaxis):
                named = f"{(axis or 'x')[0]}axis{(axis or '')[1:]}"
                assert made.layout[named].showgrid is made.layout[named].zeroline is False


@pytest.mark.parametrize("place", PLACES, ids=place_id)
def test_no_grid_shows_through_a_map(place):
    assert_no_grid_shows_through(figure(*place).figure())


def test_no_grid_shows_through_a_map_of_the_laboratory_and_of_one_matrix():
    frames = [frame(kind, below) for kind in PANELS for below in BELOW]
    for made in (*frames, attention(np.eye(3)), matrix(np.eye(3), diverging=True)):
        assert_no_grid_shows_through(made)


def test_a_map_of_what_has_a_sign_goes_from_the_page_over_gray_at_zero_to_ink():
    parts = [re.findall(r"[\d.]+", color) for _, color in DIVERGING["colorscale"]]
    covers = [float(each[3]) for each in parts]
    assert covers == sorted(covers) and (covers[0], covers[-1]) == (0, 1)
    assert {hexed(map(int, each[:3])) for each in parts} == {INK}
    assert [at for at, _ in DIVERGING["colorscale"]] == [0, 0.5, 1] and DIVERGING["zmid"] == 0
    css = COLORS_CSS.read_text("utf-8")
    assert f'image[style*="opacity: {DIVERGING["opacity"]:g}"] {{ filter: invert(1)' in css
    assert f'stop[stop-color="rgb(34, 40, 50)"] {{ stop-color: {TWINS[INK]}; }}' in css


def test_the_black_of_a_map_stays_black_among_the_names_where_it_has_a_white_edge():
    (_, fill), *others = re.findall(r"(#111111)(.*) \{ fill", COLORS_CSS.read_text("utf-8"))
    assert not others
    for edge in ("stroke: rgb(255, 255, 255)", '[stroke="white"]'):
        assert edge in fill.split(":not(")[1], edge


def filtered(rgb, brightness, saturate):
    """What the two filters of CSS make of a color, in the order given."""
    rgb = np.minimum(np.array(rgb) * brightness, 255)
    gray = rgb @ [0.213, 0.715, 0.072]
    return np.clip(gray + saturate * (rgb - gray), 0, 255)


def hexed(rgb):
    return "#" + "".join(f"{round(part):02X}" for part in rgb)


@pytest.mark.parametrize("page", PAGES)
def test_a_map_of_weights_goes_from_the_page_to_the_color_of_attention(page):
    """In the figure of the first page one word ends at 0.63 and nine at 0.04."""
    parts = [re.findall(r"[\d.]+", color) for _, color in WEIGHTS["colorscale"]]
    at, cover = [place for place, _ in WEIGHTS["colorscale"]], [float(each[3]) for each in parts]
    assert cover == sorted(cover) and (cover[0], cover[-1]) == (0, 1)
    assert {hexed(map(int, each[:3])) for each in parts} == {ATTENTION}
    color, css = np.array([int(each) for each in parts[0][:3]]), COLORS_CSS.read_text("utf-8")
    if page == "dark":
        selector = rf'image\[style\*="opacity: {WEIGHTS["opacity"]:g}"\] '
        filters = rf"{selector}{{ filter: brightness\(([\d.]+)\) saturate\(([\d.]+)\)"
        color = filtered(color, *map(float, re.search(filters, css).groups()))
        twin = [int(TWINS[ATTENTION][k : k + 2], 16) for k in (1, 3, 5)]
        assert abs(color - twin).max() < 16
    under = np.array([int(PAGES[page][k : k + 2], 16) for k in (1, 3, 5)])
    shares = np.interp([0.63, 0.04], at, cover)[:, None]
    winner, other = (hexed(each) for each in shares * color + (1 - shares) * under)
    assert contrast(winner, other) >= 3 and contrast(winner, PAGES[page]) >= 3
    assert contrast(other, PAGES[page]) < 1.15


def test_the_style_sheets_agree_on_the_twins():
    book = (ROOT / "book/_static/book.css").read_text("utf-8")
    for name, color in zip(("decoder", "attention", "found", "gaussian"), COLORS, strict=False):
        set_to = re.findall(rf"--mha-{name}: (#\w+)", book)
        assert [one.upper() for one in set_to] == [color, TWINS[color]]


@pytest.mark.parametrize(
    "names",
    [
        ["loss", "test loss", "its bound", "bound of the theorem", "1/n", "another", "a third"],
        ["softmax", "Gaussian", "Gaussian, rows normalized", "promise, Gaussian", "attention"],
        [f"H = {2**k}" for k in range(7)],
    ],
)
def test_lines_are_told_apart_by_their_names(names):
    found = looks(names)
    assert all(one != other for one, other in combinations(found, 2))


def test_names_that_differ_in_a_power_of_ten_are_an_order():
    assert looks(["start 10⁻¹", "start 10⁻³"]) == looks(["start 1", "start 3"])


def test_what_names_two_roles_has_the_color_of_neither():
    both, one = looks(["attention and decoder", "attention"])
    assert (both["color"], one["color"]) == (INK, ATTENTION)
