"""The map of the course: its boxes, what they show and say, and the arrows between neighbors."""

import re
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
import yaml

from scripts import ROOT, load

course_map = load("book/_ext/course_map.py")
course, thumbnails = course_map.course, course_map.thumbnails
PAGES = course.course()["pages"]
NEEDS = course_map.needs_of(PAGES)
DRAWN = course_map.drawing(PAGES, lambda file: f"{file}.html")
each_layout = pytest.mark.parametrize("kind", course_map.LAYOUTS)


def link_of(file):
    (link,) = re.findall(rf'<a href="{file}\.html".*?</a>', DRAWN)
    return link


def test_a_box_says_the_title_of_its_page_what_it_needs_and_how_long_it_takes():
    for file in PAGES:
        name = course.name_of(file)
        said = dict(re.findall(r'<span class="(\w+)">(.*?)</span>', link_of(file)))
        assert f"<b>{name}</b>" in link_of(file)
        assert said["title"] == course.title(file)
        assert said["minutes"] == f"{course.minutes(file)} min"
        needed = said.get("needs", "needs ").removeprefix("needs ").split(", ")
        assert sorted(needed) == sorted(NEEDS[name] or [""])


@each_layout
def test_boxes_stand_in_the_order_of_the_book_and_each_in_a_seat_of_its_own(kind):
    seats = course_map.seats(course_map.LAYOUTS[kind])
    assert [*seats] == [*NEEDS]
    taken = [
        (seat.part, line, column)
        for seat in seats.values()
        for line in seat.lines
        for column in seat.columns
    ]
    assert len({*taken}) == len(taken)
    for file in PAGES:
        part, lines, columns = seats[course.name_of(file)]
        assert f"/{part}/" in file
        ends = f"{lines.stop + 1} / {columns.stop + 1}"
        assert f"--{kind}: {lines.start + 1} / {columns.start + 1} / {ends};" in link_of(file)


@each_layout
def test_an_arrow_leads_to_a_box_from_each_that_it_touches_and_builds_on(kind):
    drawn = [
        f"{course.name_of(file)} {side} {float(share):.0f}"
        for file in PAGES
        for side, share in re.findall(
            rf'<i class="{kind} (\w+)" style="--along: ([\d.]+)%">', link_of(file)
        )
    ]
    if kind == "phone":
        names = ["tangent", "2", "3", "4", "6", "10", "11", "13"]
        assert drawn == [f"{name} above 50" for name in names]
    else:
        middle = "tangent beside|2 beside|3 beside|4 beside|5 beside|5 above|6 beside|7 above"
        later = "10 beside|11 beside|13 above|14 above|15 above|16 above"
        wide = ["8 above 12", "8 above 38"]  # from 1, and from 5
        assert drawn == [f"{one} 50" for one in middle.split("|")] + wide + [
            f"{one} 50" for one in later.split("|")
        ]


def test_parts_have_the_names_that_they_have_in_the_contents():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    named = re.findall(r'<div class="part \w+"><p>(.*?)</p>', DRAWN)
    assert named == [*course.PARTS.values()]
    assert {*named} <= {part["caption"] for part in parts}


def test_each_box_shows_pictures_on_light_and_on_dark_pages_and_a_chapter_its_own():
    for file in PAGES:
        name = course.name_of(file)
        for theme in ("light", "dark"):
            shown = re.findall(
                rf'<img class="mha-thumbnail only-{theme}" src="_static/ideas/([\w.-]+)" alt="" '
                'width="90" height="60" loading="lazy">',
                link_of(file),
            )
            ideas = thumbnails.IDEAS[name]
            assert shown == [thumbnails.file_of(idea, theme) for idea in ideas] != [], name
        if course.number(file) and name != "17":  # the others have no drawings
            assert {int(idea.chapter[1:3]) for idea in ideas} == {int(name)}


def test_pictures_have_no_words_the_colors_of_their_pages_and_little_weight(tmp_path):
    thumbnails.write(SimpleNamespace(outdir=tmp_path))
    files = sorted(tmp_path.rglob("*.svg"))
    for theme in thumbnails.INK:
        written = [file.read_text("utf-8") for file in files if file.stem.endswith(f"-{theme}")]
        assert len(written) == len({idea for ideas in thumbnails.IDEAS.values() for idea in ideas})
        for drawing in written:
            kinds = {element.tag.split("}")[1] for element in ElementTree.fromstring(drawing)}
            assert kinds <= {"path", "circle", "rect", "polygon"} and kinds
            assert not re.search("var|currentColor", drawing)
        assert sum(map(len, written)) < 50_000
    light, dark = (f"first_the_decoder-2-{theme}.svg" for theme in thumbnails.INK)
    inks = [
        {*re.findall(r"#\w+", (tmp_path / "_static/ideas" / name).read_text("utf-8"))}
        for name in (light, dark)
    ]
    assert inks == [
        {"#222832", "#fff", "#b35900", "#147d57"},
        {"#ced6dd", "#121212", "#f0a030", "#2fb880"},
    ]


def test_a_page_without_a_seat_or_a_picture_is_refused_by_name(monkeypatch):
    more = PAGES | {"book/kernels/18_more": {"needs": []}}
    with pytest.raises(ValueError, match=r"expected a seat .* for each page .*: \['18'\]"):
        course_map.drawing(more, str)
    monkeypatch.delitem(thumbnails.IDEAS, "5")
    with pytest.raises(ValueError, match=r"expected pictures .* for each page .*: \['5'\]"):
        course_map.drawing(PAGES, str)
