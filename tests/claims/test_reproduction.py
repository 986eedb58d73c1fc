"""What the page reproduction says, held against what its cells leave."""


from claims.page import Page

page = Page("reproduction")


@page.after("outcomes")
def test_outcomes(outcomes):
    assert all(outcome.holds for outcome in outcomes.values())
