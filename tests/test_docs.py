"""What the documentation says is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from migrate import explain
from migrate.engine import migrate_module
from migrate.model import Settings

PROJECT = Path(__file__).resolve().parent.parent
README = PROJECT / "README.md"
RULES = PROJECT / "docs" / "rules.md"
PAGES = [README, PROJECT / "SECURITY.md", *sorted((PROJECT / "docs").glob("*.md"))]

_LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
_CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
_ROW = re.compile(r"^\| (APX\d{3}) \| (?!APX)(.*) \|$", re.MULTILINE)
_SUBCASE = re.compile(r"^\| (APX\d{3}) \| APX\d{3} \|", re.MULTILINE)
_RULE_ID = re.compile(r"\"(APX\d{3})\"")


def test_the_example_of_the_readme_is_what_comes_out() -> None:
    before, after = _CODE.findall(README.read_text(encoding="utf-8"))[:2]
    assert migrate_module(before, Settings()).new_text == after


def test_every_rule_stands_in_the_list() -> None:
    rows = _ROW.findall(RULES.read_text(encoding="utf-8"))
    assert rows == [(page.id, page.title.replace("``", "`")) for page in explain.pages()]


def test_every_number_in_the_code_stands_in_the_list() -> None:
    sources = sorted((PROJECT / "migrate").rglob("*.py"))
    used = {name for source in sources for name in _RULE_ID.findall(source.read_text(encoding="utf-8"))}
    text = RULES.read_text(encoding="utf-8")
    assert used == {name for name, _ in _ROW.findall(text)} | set(_SUBCASE.findall(text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = _LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
