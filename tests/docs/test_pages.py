from __future__ import annotations

import re

from migrate import explain
from tests.docs.pages import FOLDER, pages


def test_the_committed_pages_are_those_of_the_rules() -> None:
    """`make docs` writes them."""
    assert {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")} == pages()


def test_the_index_leads_to_every_number() -> None:
    known = explain.pages()
    numbers = {name for page in known for name in (page.id, *page.notes)}
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| \[(APX\d{3})\]", text, re.M)) == numbers


def test_links_lead_somewhere() -> None:
    for path in FOLDER.glob("*.md"):
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.S)
        for link in re.findall(r"\]\((?!https?://)([^)]+)\)", prose):
            assert (path.parent / link).exists(), f"{path.name}: {link}"


def test_what_looks_like_markup_stands_in_code() -> None:
    """A `<name>` in a docstring would vanish on the page."""
    for path in FOLDER.glob("*.md"):
        prose = re.sub(r"```.*?```|`[^`]*`|<!--.*?-->", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert "<" not in prose, path.name
