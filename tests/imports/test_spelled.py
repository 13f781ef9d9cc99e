"""The one scanner of imports."""

from __future__ import annotations

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
    assert found.whole == (("os", "os"), ("package.engine", "motor"))
    froms = ["a.b", "a.b.c", "a.b.e", ".", ".f", ".h", "x", "within", "within.z"]
    assert found.modules() == [*froms, "os", "package.engine"]
    assert found.stars() == ["x"]
    assert ("motor", "engine") in found.names() and ("d", "c") in found.names()


def test_a_text_without_imports() -> None:
    assert spelled(b"imported = 1\nfrom_ = 2\n") == spelled(b"")
