"""Figures of the built pages get their pictures (book/_ext/pictures.py)."""

import re

import pytest

from mhabook._render import figure_html
from scripts import load

pictures = load("book/_ext/pictures.py")

LIVE = '<figure class="mha-fallback"><figcaption>b</figcaption><p class="mha-alt">{}</p></figure>'
DRAWN = (
    '<svg class="main-svg" width="7" height="3" viewBox="0 0 7 3"><clipPath id="clip1"/><clipPath id="clip1x"/>'
    '<g clip-path="url(#clip1x)"/><path style="fill: url(\'#clip1\')"/></svg>'
)

MADE = {"svg": DRAWN, "phone": 634}


def page():
    """A page with a plotly figure and a live one, before it has pictures."""
    return figure_html({"data": [], "layout": {"meta": {"alt": 'a "line"'}}}) + LIVE.format(
        "3 &lt; 4"
    )


def test_every_figure_has_a_picture_that_says_its_words():
    made = pictures.placed(page(), [MADE, MADE])
    assert re.findall(
        '<svg class="mha-picture" role="img" aria-label="(.*?)" viewBox="0 0 7 3">', made
    ) == ["a &quot;line&quot;", "3 &lt; 4"]
    plotly, live = made.split('<figure class="mha-fallback">')
    assert '<div class="mha-drawing" style="height: 450px; --phone: 634px"><svg ' in plotly, (
        "its room on a phone"
    )
    assert (
        '</svg><noscript><p class="mha-alt" aria-hidden="true">a &quot;line&quot;</p></noscript></div>'
        in plotly
    )
    assert live.startswith("<figcaption>b</figcaption><svg") and live.endswith("</svg></figure>")


def test_a_live_figures_picture_keeps_its_room():
    around = {"above": "<p>controls</p>", "below": "<p>result</p>", "heights": [450, 780]}
    plotly, live = pictures.placed(page(), [MADE, MADE | around]).split(
        '<figure class="mha-fallback">'
    )
    above, picture, below = re.split(
        "(<svg.*</svg>)", live.removeprefix("<figcaption>b</figcaption>")
    )
    assert above == '<div class="mha-around" inert aria-hidden="true"><p>controls</p></div>'
    assert picture.startswith('<svg style="--desk: 450px; --phone: 780px" class="mha-picture"')
    assert below == '<div class="mha-around" inert aria-hidden="true"><p>result</p></div></figure>'
    assert "mha-around" not in plotly


def test_no_two_pictures_of_a_page_share_a_name():
    made = pictures.placed(page(), [MADE, MADE])
    names = re.findall(r'<clipPath id="([^"]+)', made)
    assert len(set(names)) == 4
    assert re.findall(r"url\('?#([^')]+)", made) == [names[1], names[0], names[3], names[2]]


def test_a_picture_leaves_out_what_nobody_sees():
    path = '<path class="js-line crisp" d="M0.25,1.75L-3.123,4" style="opacity: 1; stroke: red; fill-opacity: 0.1"/>'
    text = '<text class="gtitle" x="1.2345" style="font-family: A; font-size: 7px" transform="scale(0.8765)">a</text>'
    drawn = DRAWN.replace("</svg>", f'<g class="gridlayer x">{path}</g>{text}</svg>')
    made = pictures.picture(drawn, 0, "a")
    assert (
        '<g class="gridlayer"><path d="M0.2,1.7L-3.1,4" style="stroke: red; fill-opacity: 0.1"/></g>'
        in made
    )
    assert (
        '<text class="gtitle" x="1.23" style="font-size: 7px" transform="scale(0.8765)">a</text>'
        in made
    )


@pytest.mark.parametrize("count", [1, 3])
def test_a_page_with_another_number_of_pictures_is_refused(count):
    with pytest.raises(ValueError, match=f"2 figures, and {count} pictures"):
        pictures.placed(page(), [MADE] * count)


def test_without_a_browser_a_line_says_so_and_the_words_stay(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "gone"))
    before = page()
    (tmp_path / "a.html").write_text(before)
    pictures.main(tmp_path)
    assert re.fullmatch(".*no Chromium.*alt text\n", capsys.readouterr().out)
    assert (tmp_path / "a.html").read_text() == before
