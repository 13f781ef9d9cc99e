"""Scopes, statements and positions of a module."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.facts.scopes import Scope
from tests.asking import marked


def name_of(scope: Scope | None) -> str:
    if scope is None:
        return "nowhere"
    return getattr(scope.node, "name", "lambda" if isinstance(scope.node, ast.Lambda) else "module")


#: Where the name `x` of the marked line belongs.
BOUND = {
    "x = 1\nx  # ?": "module",
    "x  # ?": "nowhere",
    "x = 1\ndef f():\n    x  # ?": "module",
    "x = 1\ndef f(x):\n    x  # ?": "f",
    "def f(*x):\n    x  # ?": "f",
    "def f(**x):\n    x  # ?": "f",
    "def f(*, x):\n    x  # ?": "f",
    "def f():\n    for x in y: pass\n    x  # ?": "f",
    "def f():\n    with y as x: pass\n    x  # ?": "f",
    "def f():\n    import x.y\n    x  # ?": "f",
    "def f():\n    import y as x\n    x  # ?": "f",
    "def f():\n    from y import x\n    x  # ?": "f",
    "def f():\n    def x(): pass\n    x  # ?": "f",
    "def f():\n    class x: pass\n    x  # ?": "f",
    "def f():\n    try: pass\n    except E as x: pass\n    x  # ?": "f",
    "def f():\n    del x\n    x  # ?": "f",
    "def f():\n    (x := 1)\n    x  # ?": "f",
    "def f():\n    global x\n    x = 1\ndef g():\n    x  # ?": "module",
    "def f():\n    global x\n    x = 1\n    x  # ?": "module",
    "def f():\n    x = 1\n    def g():\n        x  # ?": "f",
    "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n        x  # ?": "f",
    "class C:\n    x = 1\n    x  # ?": "C",
    "class C:\n    x = 1\n    def f(self):\n        x  # ?": "nowhere",
}


@pytest.mark.parametrize("text", BOUND)
def test_where_a_name_belongs(text: str) -> None:
    m = Module(text)
    (stmt,) = marked(m)
    assert name_of(m.binding_scope("x", m.scope(stmt))) == BOUND[text]


def test_what_belongs_to_the_outer_scope() -> None:
    m = Module("@d\ndef f(a: t = b) -> r:\n    c\nclass C(B):\n    e\ng = lambda x=h: i\n")
    names = {n.id: name_of(m.scope(n)) for n in m.nodes if isinstance(n, ast.Name)}
    assert names["c"] == "f" and names["e"] == "C" and names["i"] == "lambda"
    assert {names[one] for one in "dtbrBgh"} == {"module"}


CLASS = """
class C:
    def method(self): pass
    @staticmethod
    def static(x): pass
    @classmethod
    def of_class(cls): pass
    def nothing(): pass
    by = lambda self: 1
def function(self): pass
"""


def test_what_a_method_calls_its_instance() -> None:
    m = Module(CLASS)
    scopes = {name_of(s): s for s in m.scope_of.values() if s.is_function}
    assert {name: m.self_name(s) for name, s in scopes.items()} == {
        "method": "self",
        "static": None,
        "of_class": None,
        "nothing": None,
        "lambda": None,
        "function": None,
    }
    assert {name for name, s in scopes.items() if m.class_name(s)} == {"of_class"}
    assert {name for name, s in scopes.items() if m.class_of(s)} == {*scopes} - {"function"}


TREE = """\
def f():
    for i in x:
        while y:
            if z:
                a()  # ?
            else:
                b()
        def g():
            c()
        later = lambda: d
class C:
    e = 1
"""


def test_statements_around() -> None:
    m = Module(TREE)
    (stmt,) = marked(m)
    assert [type(s).__name__ for s in m.spine(stmt)] == ["Expr", "If", "While", "For"]
    assert [type(s).__name__ for s in m.loops(stmt)] == ["While", "For"]
    assert m.loops(m.loops(stmt)[0]) == m.loops(stmt)[1:]
    assert [type(n).__name__ for n in m.ancestors(stmt)] == ["If", "While", "For", "FunctionDef", "Module"]
    names = {n.id: n for n in m.nodes if isinstance(n, ast.Name)}
    assert name_of(m.function(names["c"])) == "g" and name_of(m.function(names["d"])) == "f"
    assert m.loops(names["c"]) == []
    assert isinstance(m.statement(names["d"]), ast.Assign)
    assert m.inside(names["d"], m.statement(names["d"])) and not m.inside(m.statement(names["d"]), names["d"])
    assert m.body_of(m.scope(names["d"])) == []
    attribute = next(n for n in m.nodes if isinstance(n, ast.Name) and n.id == "e")
    assert name_of(m.function(attribute)) == "module" and name_of(m.scope(attribute)) == "C"


def test_elif() -> None:
    m = Module("if a:\n    pass\nelif b:\n    pass\nelse:\n    if c:\n        pass\n")
    a, b, c = (n for n in m.nodes if isinstance(n, ast.If))
    assert [m.is_elif(one) for one in (a, b, c)] == [False, True, False]


def test_positions_count_characters() -> None:
    m = Module("é = 'ü'; x = 1\r\nif x:\r\n\ty = 2 # c\r\n")
    x, y = m.tree.body[1], m.tree.body[2].body[0]  # type: ignore[attr-defined]
    assert m.src(x) == "x = 1" and m.src(y) == "y = 2"
    assert m.line_text(3) == "\ty = 2 # c" and m.indent(y) == "\t"
    assert [m.owns_lines(s) for s in (m.tree.body[0], x, y)] == [False, False, True]
    assert m.unit(m.files[0]) == "\t"
    one = Module("x = 1")
    assert one.unit(one.files[0]) == "    "


def test_decorators_count_to_the_first_line() -> None:
    m = Module("@a\n@b\ndef f():\n    pass\n")
    assert m.first_line(m.tree.body[0]) == 1 and m.last_line(m.tree.body[0]) == 4


@pytest.mark.parametrize("text", ["x =", "x = '\0'"])
def test_what_does_not_parse(text: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        Module(text)
