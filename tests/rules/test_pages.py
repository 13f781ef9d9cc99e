"""Every rule is documented where it is written, and ``explain`` shows it."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import migrate.rules
from migrate import explain

_RULE = re.compile(r"apx\d{3}_\w+")
NAMES = sorted(one.name for one in pkgutil.iter_modules(migrate.rules.__path__) if _RULE.fullmatch(one.name))
#: What the tool says about itself and about files: there is no Apex behind it, so no source and no example.
OWN = {"APX000", "APX001", "APX190"}


@pytest.fixture(params=NAMES)
def rule(request: pytest.FixtureRequest) -> ModuleType:
    return importlib.import_module(f"migrate.rules.{request.param}")


def test_there_are_rules() -> None:
    assert len(NAMES) >= 12


def test_the_id_is_that_of_the_file(rule: ModuleType) -> None:
    assert re.fullmatch(r"APX\d{3}", rule.ID)
    assert rule.__name__.rsplit(".", 1)[1].startswith(f"{rule.ID.lower()}_")


def test_the_page_says_what_why_and_where_from(rule: ModuleType) -> None:
    page = inspect.getdoc(rule) or ""
    title, _, text = page.partition("\n")
    assert title.strip().endswith("."), "the first line is a sentence"
    assert text.startswith("\n") and text.strip(), "a blank line, then why"
    if rule.ID not in OWN:
        assert re.search(r"^Source: \S", page, re.M), "a line `Source: …`"


def test_the_examples_are_python(rule: ModuleType) -> None:
    assert isinstance(rule.BEFORE, str) and isinstance(rule.AFTER, str)
    if rule.ID in OWN:
        return
    assert rule.BEFORE.strip(), "an example"
    for text in (rule.BEFORE, rule.AFTER):
        assert text == "" or text.endswith("\n")
        ast.parse(text)


def test_explain_shows_the_page(rule: ModuleType) -> None:
    shown = explain.page_text(rule.ID.lower(), explain.pages())
    title, _, text = (inspect.getdoc(rule) or "").partition("\n")
    assert shown.startswith(f"{rule.ID}  {title.strip()}\n")
    assert text.strip() in shown
    for part in (rule.BEFORE, rule.AFTER):
        for line in part.splitlines():
            assert line in shown


def test_explain_lists_every_rule() -> None:
    ids = [line[:6] for line in explain.listing(explain.pages()).splitlines()]
    assert ids == sorted(ids)
    assert {name.split("_")[0].upper() for name in NAMES} < set(ids)


def test_the_command() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "migrate", "explain", "APX040"], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("APX040  ") and "Source: " in run.stdout


def test_every_id_that_a_finding_may_have_has_a_page() -> None:
    package = Path(migrate.rules.__path__[0]).parent
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.py")]
    used = {id for text in texts for id in re.findall(r'"(APX\d{3})"', text)}
    known = explain.pages()
    for id in used:
        assert explain.page_text(id, known).startswith(f"{id}  ")
        assert f"\n{id}  " in "\n" + explain.listing(known)


def test_the_docs_list_the_same_findings() -> None:
    docs = (Path(migrate.rules.__path__[0]).parents[1] / "docs" / "rules.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (APX\d{3}) \| (APX\d{3}) \| (.+?) \|$", docs, re.M)
    assert rows == [(id, page.id, said) for page in explain.pages() for id, said in page.notes.items()]
