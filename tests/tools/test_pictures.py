"""Figures of the built pages get their pictures (book/_ext/pictures.py), without a browser."""

import json
import re
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup

import mhalib as mha
from livegrad.live.frames import panels
from mhabook._render import figure_html
from scripts import load

pictures, rooms = load("book/_ext/pictures.py"), load("book/_ext/rooms.py")
STATES = '<script type="application/vnd.jupyter.widget-state+json">{}</script>'
ALT = 'a "line" < a curve'


@pytest.fixture(scope="module")
def room():
    with rooms.Rooms() as made:
        yield made


@pytest.fixture
def live(monkeypatch):
    """A live figure, as a page of the book has it."""
    monkeypatch.setenv("LIVEGRAD_FIGURES", "book")
    return mha.live.heads(mha.data.tokenized_mixture(n=12, T=5, d=4, M=2, zeta=0.2, seed=0))


def state(figure):
    """The states of a page that shows a live figure."""
    kept = {"spec": figure.spec, "values": figure.values, "_esm": figure._esm}
    return STATES.format(json.dumps({"state": {"m": {"state": kept}}}).replace("<", r"\u003c"))


def still_figure(*names):
    frame = panels(*names)
    for k in range(len(names)):
        frame.add_scatter(x=[1, 2], y=[2, 1], row=1, col=k + 1)
    return figure_html(frame.update_layout(meta={"alt": ALT}).to_plotly_json())


def test_a_still_figure_has_a_picture_that_says_its_words_and_its_room_on_a_phone(room):
    made, quiet = pictures.placed(f"<p>{still_figure('one', 'two')}</p>", room)
    box = BeautifulSoup(made, "html.parser").select_one(".mha-figure .mha-drawing")
    picture = box.select_one("svg.mha-picture[role=img]")
    assert picture["aria-label"] == ALT and picture["viewbox"] == "0 0 700 440"
    assert box["style"] == "height: 440px; --phone: 595px"
    assert box.select_one("noscript p").get_text() == ALT
    assert len(quiet) == 1 and quiet[0]["layout"]["height"] == 440


def test_a_live_figure_has_its_picture_in_place_of_its_words_and_its_room(room, live):
    made, quiet = pictures.placed(live.fallback() + state(live), room)
    box = BeautifulSoup(made, "html.parser").select_one(".mha-fallback")
    assert not quiet and not box.select(".mha-alt, script")
    above, picture, below = box.find_all(["div", "svg"], recursive=False)
    assert picture["aria-label"] == live.spec["figure"]["layout"]["meta"]["alt"]
    assert re.fullmatch(r"--desk: 440px; --phone: \d+px", picture["style"])
    assert above.has_attr("inert") and below["aria-hidden"] == "true"
    labels = [label.get_text() for label in below.select("label")]
    assert labels == [control.label for control in live.controls.values()]
    ends = live.drawn()
    assert f"attention score {ends['attention_score'][-1]:.3g}" in below.get_text()


def test_a_figure_that_cannot_train_stops_the_build(room, live):
    spec = live.spec | {"model": "of nobody"}
    with pytest.raises(ValueError, match="a live figure could not train: .*This figure"):
        room.around({"spec": spec, "values": live.values, "_esm": live._esm})


def test_what_stands_around_a_figure_has_no_names_and_stands_as_it_is_set(room, live):
    around = room.around({"spec": live.spec, "values": live.values, "_esm": live._esm})
    assert not re.search(r' (id|for|data-[\w-]+)="', around["above"] + around["below"])
    sliders = BeautifulSoup(around["below"], "html.parser").select("input[type=range]")
    assert sliders
    for slider, control in zip(
        sliders, (one for one in live.controls.values() if one.kind == "slider"), strict=True
    ):
        assert int(slider["value"]) == control.values.index(control.value)


def test_no_two_pictures_of_a_page_share_a_name(room):
    made, _ = pictures.placed(still_figure("one", "two") + still_figure("three"), room)
    names = re.findall(r'<clipPath id="([^"]+)', made)
    assert len(names) == len(set(names)) == 3
    assert re.findall(r"url\(#([^)]+)", made) == names


def test_a_built_book_is_filled_once_and_its_still_figures_are_files_too(tmp_path):
    page = tmp_path / "book" / "a.html"
    page.parent.mkdir()
    page.write_text(still_figure("one"))
    assert pictures.fill(tmp_path) == 1 and pictures.fill(tmp_path) == 0
    assert ElementTree.parse(tmp_path / "figures" / "a-1.svg").getroot().get("viewBox")


def test_what_cannot_be_drawn_is_named_with_its_page(tmp_path):
    cloud = {"data": [{"type": "scatter3d"}], "layout": {"meta": {"alt": "a cloud"}}}
    (tmp_path / "a.html").write_text(figure_html(cloud))
    with pytest.raises(ValueError, match=r"a\.html: .*of the type scatter3d.*: a cloud"):
        pictures.fill(tmp_path)
