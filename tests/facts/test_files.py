"""A program of several files: one text, a scope for each, names that go from file to file."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.files import FENCE
from migrate.facts.module import Module
from migrate.flow.values import Values

HELPERS = "LIMIT = 3\n\n\ndef save(model):\n    return model\n"


def _reads(m: Module, name: str) -> ast.Name:
    return next(n for n in m.all(ast.Name) if n.id == name and isinstance(n.ctx, ast.Load))


def test_lines_and_offsets_go_through_all_files() -> None:
    m = Module("a = 1\n", "é = 2\nb = é", "c = b\n", links=[{}, {}, {}])
    assert m.text == f"a = 1\n{FENCE}é = 2\nb = é\n{FENCE}c = b\n"
    assert [(f.first, f.fence) for f in m.files] == [(1, 2), (3, 5), (6, 7)]
    for file in m.files:
        for stmt in file.tree.body:
            assert m.file(stmt) is file
            assert m.src(stmt) in file.text
            assert m.line_text(stmt.lineno) == m.src(stmt)
    assert m.tree.body == [stmt for file in m.files for stmt in file.tree.body]


def test_an_empty_file_has_no_line_of_its_own() -> None:
    m = Module("", "x = 1\n", links=[{}, {}])
    assert (m.files[0].first, m.files[0].fence) == (1, 1)
    assert m.files[1].tree.body[0].lineno == 2
    assert m.src(m.files[1].tree.body[0]) == "x = 1"


def test_one_file_is_what_it_was() -> None:
    m = Module("x = 1")
    assert m.text == "x = 1" and m.tree is m.files[0].tree and m.roots == m.files and m.reached(m.files[0]) == m.files


def test_an_imported_name_is_the_other_files_own() -> None:
    m = Module(HELPERS, "from helpers import LIMIT, save\nsave(LIMIT)\n", links=[{}, {"helpers": 0}])
    call = m.all(ast.Call)[0]
    assert m.binding_scope("save", m.scope(call)) is m.files[0].scope
    assert m.binding_scope("LIMIT", m.scope(call)) is m.files[0].scope
    assert Values(m).callees(call) == [m.files[0].tree.body[1]]


def test_stars_that_go_in_circles() -> None:
    """A package and its parts take everything from each other: such a program was no program, without a word."""
    m = Module(
        "from .b import *\nfrom .c import *\n",
        "from . import *\n",
        HELPERS,
        "from pack import *\nsave(nothing)\n",
        links=[{".b": 1, ".c": 2}, {".": 0}, {}, {"pack": 0}],
    )
    assert m.binding_scope("save", m.files[3].scope) is m.files[2].scope
    assert m.binding_scope("save", m.files[1].scope) is m.files[2].scope
    assert m.binding_scope("nothing", m.files[3].scope) is None


def test_names_that_are_handed_on_and_stars() -> None:
    m = Module(
        HELPERS,
        "from helpers import save\n",
        "from pack import *\nsave(1)\n",
        links=[{}, {"helpers": 0}, {"pack": 1}],
    )
    assert m.binding_scope("save", m.files[2].scope) is m.files[0].scope
    assert Values(m).callees(m.all(ast.Call)[0]) == [m.files[0].tree.body[1]]


@pytest.mark.parametrize(
    "importing",
    [
        "import helpers\nhelpers.save(1)\n",
        "import helpers as h\nh.save(1)\n",
        "from pack import helpers\nhelpers.save(1)\n",
        "from helpers import save as keep\nkeep(1)\n",
        "def f():\n    from helpers import save\n    save(1)\n",
        "try:\n    from helpers import save\nexcept ImportError:\n    save = None\nsave(1)\n",
    ],
)
def test_ways_to_call_a_function_of_another_file(importing: str) -> None:
    m = Module(HELPERS, importing, links=[{}, {"helpers": 0, "pack.helpers": 0}])
    call = next(c for c in m.all(ast.Call) if c.args)
    assert Values(m).callees(call) == [m.files[0].tree.body[1]]


def test_what_a_function_rebinds_is_copied_not_shared() -> None:
    source = "amp = None\n\n\ndef load():\n    global amp\n    amp = 1\n"
    m = Module(source, "from helpers import amp\nprint(amp)\n", links=[{}, {"helpers": 0}])
    assert m.binding_scope("amp", m.scope(_reads(m, "print"))) is m.files[1].scope
    assert [c.original for c in m.copied] == ["amp"]


def test_names_of_one_spelling_are_apart() -> None:
    m = Module("args = 1\n", "args = 2\nprint(args)\n", links=[{}, {}])
    assert m.binding_scope("args", m.scope(_reads(m, "args"))) is m.files[1].scope


def test_a_class_inherits_across_files() -> None:
    base = "class Base:\n    def step(self):\n        pass\n"
    for importing in ("from base import Base\nclass Sub(Base):\n", "import base\nclass Sub(base.Base):\n"):
        m = Module(base, f"{importing}    pass\nSub().step()\n", links=[{}, {"base": 0}])
        call = next(c for c in m.all(ast.Call) if isinstance(c.func, ast.Attribute))
        assert Values(m).callees(call) == [m.all(ast.FunctionDef)[0]]


def test_imports_in_a_circle_end() -> None:
    m = Module("from b import f\n", "from a import f\n", "from a import *\nf()\n", links=[{"b": 1}, {"a": 0}, {"a": 0}])
    assert Values(m).callees(m.all(ast.Call)[0]) == []
    assert m.roots == [m.files[2]]


def test_where_a_run_begins() -> None:
    main = 'from helpers import save\nif __name__ == "__main__":\n    save(1)\n'
    own = HELPERS + 'if __name__ == "__main__":\n    save(2)\n'
    m = Module(own, main, "import helpers\n", links=[{}, {"helpers": 0}, {"helpers": 0}])
    assert m.roots == m.files
    first, second = (c for c in m.all(ast.Call))
    assert m.idle(first) and not m.idle(second)
