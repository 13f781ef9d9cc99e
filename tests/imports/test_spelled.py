"""The one scanner of imports."""

from __future__ import annotations

import ast
import itertools

import pytest

from migrate.imports.spelled import From, spelled

TEXT = b"""\
import os, package.engine as motor
from a.b import c as d, \\
    e
from . import (f,  # not g
    h as i)
from x import *; import y
    from within import z
# from never import n
"""


def test_imports_of_every_form() -> None:
    found = spelled(TEXT)
    assert found.froms == (
        From("a.b", (("c", "d"), ("e", ""))),
        From(".", (("f", ""), ("h", "i")), one_line=False),
        From("x", (("*", ""),)),
        From("within", (("z", ""),), top=False),
    )
    assert found.whole == (("os", "os"), ("package.engine", "motor"), ("y", "y"))
    froms = ["a.b", "a.b.c", "a.b.e", ".", ".f", ".h", "x", "within", "within.z"]
    assert found.modules() == [*froms, "os", "package.engine", "y"]
    assert found.stars() == ["x"]
    assert ("motor", "engine") in found.names() and ("d", "c") in found.names()


def test_a_text_without_imports() -> None:
    assert spelled(b"imported = 1\nfrom_ = 2\n") == spelled(b"")


#: Where a statement may stand, and how it may be written.
AHEAD = [
    "", "    ", "\f", "\ufeff", "x = 1; ", "x = ';'; ", "import sys;", "from sys import (\n    path); ",
    "try: ", "if x: ", "if x == '#': ", "def f(a: int): ", "class A: a = 1; ", "else : ",
]  # fmt: skip
FORMS = [
    "import a", "import a.b as c", "import a, b", "import \\\n a", "import a, \\\n    b as c",
    "from a import b", "from a.b import c as d, e", "from a import *", "from . import b", "from .a import b",
    "from.a import b", "from . import(b)", "from .import b", "from \\\n  a \\\n  import b", "from a import \\\n b",
    "from a import b, \\\n  c", "from \\\n  a \\\n  import (  # :) b )\n    c,\n)",
    "from a import (b  # )\n, c)", "from größe import b",
]  # fmt: skip
BEHIND = ["", ";", "; x = 1", "; import z", "  # a, b", "\nimport z"]


def in_tree(text: str) -> tuple[set[From], set[tuple[str, str]]]:
    froms, whole = set(), set()
    for node in ast.walk(ast.parse(text.removeprefix("\ufeff"))):
        if isinstance(node, ast.ImportFrom):
            names = tuple((one.name, one.asname or "") for one in node.names)
            froms.add(From("." * node.level + (node.module or ""), names))
        elif isinstance(node, ast.Import):
            whole |= {(one.name, one.asname or one.name) for one in node.names}
    return froms, whole


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_the_syntax_tree_holds_is_found_however_it_is_written(end: str) -> None:
    """One that is missed hides a caller, who would be left with an old signature."""
    for ahead, form, behind in itertools.product(AHEAD, FORMS, BEHIND):
        text = f"{ahead}{form}{behind}\n"
        text = f"if x:\n{text}" if ahead == "    " else f"if x: y\n{text}" if ahead == "else : " else text
        text = f"{text}except E: pass\n" if ahead == "try: " else text
        try:
            froms, whole = in_tree(text)
        except SyntaxError:
            continue
        found = spelled(text.replace("\n", end).encode())
        assert {From(one.module, one.names) for one in found.froms} == froms, text
        assert set(found.whole) == whole, text


def test_what_only_looks_like_an_import() -> None:
    text = b"""\
x = "a; from b import c"
y = {a: from_b}  # d: import e
z = 'if x: import f'
# if x: import g
from \\
  h \\
  import i
"""
    assert spelled(text).modules() == ["h", "h.i"]
