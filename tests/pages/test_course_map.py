"""The map of the course: its boxes, what they say, and the arrows between neighbors."""

import re

import pytest
import yaml

from scripts import ROOT, load

course_map = load("book/_ext/course_map.py")
course = course_map.course
PAGES = course.course()["pages"]
NEEDS = course_map.needs_of(PAGES)
DRAWN = course_map.drawing(PAGES, lambda file: f"{file}.html")
each_layout = pytest.mark.parametrize("kind", course_map.LAYOUTS)


def link_of(file):
    (link,) = re.findall(rf'<a href="{file}\.html".*?</a>', DRAWN)
    return link


def test_a_box_says_the_title_of_its_page_what_it_needs_and_how_long_it_takes():
    for file in PAGES:
        name = course_map.name_of(file)
        said = dict(re.findall(r'<span class="(\w+)">(.*?)</span>', link_of(file)))
        assert f"<b>{name}</b>" in link_of(file)
        assert said["title"] == course.title(file)
        assert said["minutes"] == f"{course.minutes(file)} min"
        needed = said.get("needs", "needs ").removeprefix("needs ").split(", ")
        assert sorted(needed) == sorted(NEEDS[name] or [""])


@each_layout
def test_boxes_stand_in_the_order_of_the_book_and_each_in_a_seat_of_its_own(kind):
    seats = course_map.seats(course_map.LAYOUTS[kind])
    assert [*seats] == [*NEEDS] and len({*seats.values()}) == len(seats)
    for file in PAGES:
        part, row, column = seats[course_map.name_of(file)]
        assert f"/{part}/" in file
        assert f"--{kind}: {row} / {column};" in link_of(file)


@each_layout
def test_an_arrow_leads_to_a_box_from_each_neighbor_that_its_page_builds_on(kind):
    drawn = {
        (course_map.name_of(file), side)
        for file in PAGES
        for side in re.findall(rf'<i class="{kind} (\w+)">', link_of(file))
    }
    beside = {(name, "beside") for name in ("tangent", "2", "3", "6", "10", "11", "13")}
    above = {"desk": "5 7", "phone": "5 7 8 14"}[kind].split()
    own = {("4", "beside")} if kind == "desk" else set()
    assert drawn == beside | own | {(name, "above") for name in above}


def test_parts_have_the_names_that_they_have_in_the_contents():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    named = re.findall(r'<div class="part"><p>(.*?)</p>', DRAWN)
    assert named == [*course.PARTS.values()]
    assert {*named} <= {part["caption"] for part in parts}


def test_a_page_without_a_seat_is_refused_by_name():
    more = PAGES | {"book/kernels/18_more": {"needs": []}}
    with pytest.raises(ValueError, match=r"expected a seat for each page .*: \['18'\]"):
        course_map.drawing(more, str)
