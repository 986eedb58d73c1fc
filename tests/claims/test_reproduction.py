"""What the page reproduction says, held against the stored tables that its cells read."""

from page import Page

page = Page("reproduction")
UNQUOTED = {
    "what the page does": ("title", "overview", "settings"),
    "how long a command takes, which depends on the machine": ("remake",),
}


@page.after("outcomes")
def test_every_outcome_has_the_numbers_behind_its_status(outcomes):
    assert outcomes
    assert {id for id, outcome in outcomes.items() if not outcome.holds} == set()
