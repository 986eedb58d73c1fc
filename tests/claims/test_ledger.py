"""What the page ledger says, held against what its cells leave."""


from claims.page import Page

page = Page("ledger")


@page.after("check-all")
def test_check_all(rows):
    assert all(row["holds"] and row["twins_fail"] for row in rows)
