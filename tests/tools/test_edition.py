"""Where the book is read: the address of its pages on the web (book/_ext/edition.py)."""

import pytest

from scripts import load

edition = load("book/_ext/edition.py")


@pytest.mark.parametrize(
    ("repository", "web"),
    [
        ("someone/a-new.home", "https://someone.github.io/a-new.home/"),
        ("someone/someone.github.io", "https://someone.github.io/"),
        ("SomeOne/someone.github.io", "https://SomeOne.github.io/"),
        ("someone/other.github.io", "https://someone.github.io/other.github.io/"),
    ],
)
def test_a_repository_of_its_owners_name_is_the_root_of_the_site(tmp_path, repository, web):
    (tmp_path / "pyproject.toml").write_text(
        f'[project.urls]\nRepository = "https://github.com/{repository}"\n'
    )
    assert edition.web_address(tmp_path) == web
