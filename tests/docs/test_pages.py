from __future__ import annotations

from tests.docs.pages import FOLDER, pages


def test_the_committed_pages_are_those_of_the_rules() -> None:
    """`make docs` writes them."""
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")} == pages()
