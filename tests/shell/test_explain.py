"""The pages of the rules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from migrate import explain
from migrate.errors import UserError
from tests.shell.support import PROJECT, tool, tree


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    rule = (
        '"""A title.\n\nWhat and why.\n"""\n\nID = "APX0%s"\nBEFORE = "old = 1"\nAFTER = """\nnew = 2\n"""\n'
    )
    tree(
        tmp_path,
        {
            "some_rules/__init__.py": "",
            "some_rules/apx020_later.py": rule % "20",
            "some_rules/apx010_first.py": rule % "10",
            "some_rules/helper.py": "raise SystemError\n",
        },
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("some_rules")]:
        monkeypatch.delitem(sys.modules, name)
    import importlib

    return importlib.import_module("some_rules")


def test_pages_come_from_the_modules(package: ModuleType) -> None:
    known = explain.pages(package)
    assert explain.listing(known) == "APX010  A title.\nAPX020  A title.\n"
    assert explain.page_text("apx010", known) == (
        "APX010  A title.\n\nWhat and why.\n\nBefore:\n\n    old = 1\n\nAfter:\n\n    new = 2\n"
    )


def test_an_unknown_rule_names_the_known_ones(package: ModuleType) -> None:
    with pytest.raises(UserError, match=r"no rule APX999; the rules are: APX010, APX020\."):
        explain.page_text("APX999", explain.pages(package))
    with pytest.raises(UserError, match="there are none"):
        explain.page_text("APX999", ())


def test_every_rule_of_the_package_has_a_whole_page() -> None:
    known = explain.pages()
    assert {"APX000", "APX001"} <= {page.id for page in known}
    assert len({page.id for page in known}) == len(known)
    for page in known:
        assert re.fullmatch(r"APX\d{3}", page.id)
        assert page.title and page.text
        assert bool(page.before) == bool(page.after), page.id


def test_the_command() -> None:
    run = tool("explain", "APX001")
    assert run.returncode == 0
    assert run.stdout.startswith("APX001  ")
    assert "APX000" in tool("explain").stdout
    unknown = tool("explain", "APX777")
    assert unknown.returncode == 2
    assert "the rules are: APX000, APX001" in unknown.stderr


def test_a_python_that_forgets_docstrings() -> None:
    words = [sys.executable, "-OO", "-m", "migrate", "explain"]
    run = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == explain.listing(explain.pages())
