"""Which names a function may still read: what binds one hides it, but where it did not come to that."""

from __future__ import annotations

import pytest

from migrate.judge.code import Code
from migrate.judge.liveness import live_names
from tests.judge.test_compiler import compiled

READS = "if x:\n    optimizer.zero_grad()\n"
IN_TURN = "for i in late():\n    {}\n    if x:\n        optimizer.zero_grad()\n"
IN_HANDLER = "try:\n    {}\nexcept {}:\n    if x:\n        optimizer.zero_grad()\n"
READ_BEFORE = {
    READS: True,
    "x = 1\n" + READS: False,
    IN_TURN.format("from x import x"): False,
    IN_TURN.format("import x.y"): False,
    IN_TURN.format("import y as x"): False,
    IN_TURN.format("import x as y"): True,
    IN_HANDLER.format("import x", "ImportError"): True,
    IN_HANDLER.format("import y", "ImportError as x"): False,
    IN_HANDLER.format("import y", "ImportError as x:\n    z = 1\nexcept ValueError"): True,
    "for x in late():\n    optimizer.zero_grad()\n": False,
    "for x in late():\n    optimizer.zero_grad()\n" + READS: True,
}


@pytest.mark.parametrize("text", READ_BEFORE)
def test_what_is_read_later(text: str) -> None:
    m, function, ops = compiled(text)
    first = m.start(function.body[1])
    number = next(n for n, op in enumerate(ops) if first <= m.start(op.node))
    assert live_names(Code(function, ops)).at(number, "x") is READ_BEFORE[text]
