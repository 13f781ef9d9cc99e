"""What becomes of statements in which no training happens: they bind names, and nothing else."""

from __future__ import annotations

import ast
from textwrap import dedent, indent

import pytest

from migrate.facts.module import Module
from migrate.facts.sites import collect
from migrate.flow.values import Values
from migrate.judge.code import Op
from migrate.judge.program.program import Program

HEAD = """\
from apex import amp


def train(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
"""
TAIL = """\
    for x in batches:
        with amp.scale_loss(model(x).sum(), optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""
BINDS = {
    "x = 1": ["bind x"],
    "x += 1": ["havoc x"],
    "del x": ["havoc x"],
    "x: int": ["havoc x"],
    "import x": ["import x"],
    "pass": [],
    "def x():\n    pass": ["define x"],
    "while late():\n    x = self.y = 1": ["havoc x", "havoc self.y"],
    "try:\n    import x\nexcept ImportError:\n    x = None": ["import x", "havoc x"],
    "for i in late():\n    from x import y\n    def f():\n        z = 1": ["havoc i", "import y", "define f"],
    "with late():\n    class C:\n        z = 1": ["define C"],
    "while late():\n    if late():\n        x = 1\n    else:\n        x = y = 2": ["havoc x", "havoc y"],
}


def named(node: ast.AST) -> str:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return node.names[0].name
    return getattr(node, "name", None) or ast.unparse(node)


def compiled(text: str) -> tuple[Module, ast.FunctionDef, list[Op]]:
    m = Module(HEAD + indent(dedent(text), "    ") + "\n" + TAIL)
    v = Values(m)
    program = Program.legacy(m, v, collect(m, v))
    (function,) = (node for node in m.all(ast.FunctionDef) if node.name == "train")
    return m, function, program.code(function).ops


@pytest.mark.parametrize("text", BINDS)
def test_what_is_bound(text: str) -> None:
    m, function, every = compiled(text)
    first, last = m.start(function.body[1]), m.end(function.body[-2])
    ops = [op for op in every if op.kind in ("bind", "havoc", "import", "define")]
    inside = [f"{op.kind} {named(op.node)}" for op in ops if first <= m.start(op.node) < last]
    assert sorted(inside) == sorted(BINDS[text])


def test_a_condition_is_looked_at_once_where_nothing_is_known_of_it() -> None:
    _, _, ops = compiled("if late():\n    x = 1\nelse:\n    x = 2")
    (asked,) = (op for op in ops if op.kind == "known")
    assert asked.target is not None
    behind = ops[asked.target.at :]  # where it goes on then
    assert behind[0].kind == "havoc" and all(op.node is not asked.node for op in behind)
