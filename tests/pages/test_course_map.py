"""The map of the course, for a desk and for a phone: its boxes, and lines that pass through none."""

import re
from itertools import combinations, pairwise

import pytest
import yaml

from scripts import ROOT, load

course_map = load("book/_ext/course_map.py")
course = course_map.course
PAGES = course.course()["pages"]
NEEDS = course_map.needs_of(PAGES)
LAYOUTS = {"desk": course_map.DESK, "phone": course_map.PHONE}
DRAWN = {
    kind: course_map.drawing(layout, PAGES, lambda file: f"{file}.html", kind)
    for kind, layout in LAYOUTS.items()
}
each_map = pytest.mark.parametrize("kind", LAYOUTS)


def box_of(layout, name):
    """Left, top, right, bottom."""
    row, column = layout.seats[name]
    x, y = layout.left(column), layout.tops[row]
    return x, y, x + course_map.WIDE, y + course_map.HIGH


def link_of(drawn, file):
    (link,) = re.findall(rf'<a href="{file}\.html".*?</a>', drawn)
    return re.findall(r"<text([^>]*)>(.*?)</text>", re.sub("</?tspan[^>]*>", "", link))


@each_map
def test_what_a_page_needs_is_where_lines_to_it_come_from_or_is_said_in_its_box(kind):
    lines, _ = course_map.routes(LAYOUTS[kind], NEEDS)
    joined = {name: {line.start for line in lines if line.end == name} for name in NEEDS}
    for file in PAGES:
        name = course_map.name_of(file)
        said = re.findall(
            r"needs ([^|]*)", "|".join(words for _, words in link_of(DRAWN[kind], file))
        )
        own = {*said[0].split(", ")} if said else course_map.beneath(joined, name)
        assert {*NEEDS[name]} <= own <= course_map.beneath(NEEDS, name)
    assert len(lines) == DRAWN[kind].count("<g data-from=")
    assert [len(joined[name]) for name in ("1", "3", "17")] == [2, 2, 0]


@each_map
def test_a_line_passes_through_no_box_and_along_no_line_from_another(kind):
    layout = LAYOUTS[kind]
    lines, _ = course_map.routes(layout, NEEDS)
    for line in lines:
        points = [layout.point(node) for node in line.nodes]
        for name in NEEDS.keys() - {line.start, line.end}:
            left, top, right, bottom = box_of(layout, name)
            for (x, y), (across, down) in pairwise(points):
                assert (
                    max(x, across) <= left
                    or min(x, across) >= right
                    or (max(y, down) <= top or min(y, down) >= bottom)
                ), f"the line from {line.start} to {line.end} through {name}"
    steps = {line: {frozenset(pair) for pair in pairwise(line.nodes)} for line in lines}
    for one, other in combinations(lines, 2):
        assert one.start == other.start or not steps[one] & steps[other]


@each_map
def test_a_line_begins_at_the_edge_of_its_box_and_its_head_ends_at_the_other(kind):
    layout = LAYOUTS[kind]

    def touches(point, name):
        (x, y), (left, top, right, bottom) = point, box_of(layout, name)
        return (x in (left, right) and top < y < bottom) or (
            y in (top, bottom) and left < x < right
        )

    for line in course_map.routes(layout, NEEDS)[0]:
        start, head = re.findall(r'd="M(\S+) ([-\d.]+)', course_map.bent(layout, line))
        assert touches([float(n) for n in start], line.start)
        assert touches([float(n) for n in head], line.end)


def test_a_map_fits_its_screen_and_boxes_stand_in_the_order_of_the_book():
    assert course_map.DESK.size[0] <= 690 and course_map.DESK.size[1] < 650
    assert course_map.PHONE.size[0] <= 366
    for layout in LAYOUTS.values():
        assert sorted(layout.seats, key=layout.seats.get) == [*NEEDS]


@each_map
def test_a_part_stands_on_its_own_ground(kind):
    layout = LAYOUTS[kind]
    grounds = [ground for ground, _ in course_map.grounds(layout)]
    for folder, ground in zip(layout.rows, grounds, strict=True):
        x, y, wide, high = (
            float(n) for n in re.findall(r' (?:x|y|width|height)="([-\d.]+)"', ground)
        )
        for file in PAGES:
            left, top, right, bottom = box_of(layout, course_map.name_of(file))
            within = x < left and right < x + wide and y < top and bottom < y + high
            assert within == (f"/{folder}/" in file)


@each_map
def test_the_map_has_the_titles_and_times_of_pages_and_the_names_that_parts_have_in_the_contents(
    kind,
):
    for file in PAGES:
        words = link_of(DRAWN[kind], file)
        title = " ".join(word for look, word in words if "minutes" not in look)
        assert title == f"{course.number(file)} {course.title(file)}".strip()
        assert words[-1][1] == f"{course.minutes(file)} min"
        assert all(len(word) <= course_map.LETTERS for _, word in words)
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
    assert {*course.PARTS.values()} <= {part["caption"] for part in parts}
    named = " ".join(re.findall(r'class="part"[^>]*>(.*?)</text>', DRAWN[kind])).replace(" ·", "")
    assert named == " ".join(course.PARTS.values()).replace(" ·", "")


def test_a_page_without_a_seat_is_refused_by_name():
    more = PAGES | {"book/kernels/18_more": {"needs": []}}
    with pytest.raises(ValueError, match=r"expected a seat for each page .*: \['18'\]"):
        course_map.drawing(course_map.DESK, more, str, "desk")
