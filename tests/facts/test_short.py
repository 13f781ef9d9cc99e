"""Steps that are written as expressions are read as the statements that they stand for."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module

READ = {
    "[o.step() for o in opts]": "for o in opts:\n    o.step()",
    "[scaler.step(o) for o in opts]": "for o in opts:\n    scaler.step(o)",
    "_ = [o.step() for o in opts]": "for o in opts:\n    o.step()",
    "ok and opt.step()": "if ok:\n    opt.step()",
    "ok and ready(x) and opt.step()": "if ok and ready(x):\n    opt.step()",
    "(a or b) and opt.step()": "if a or b:\n    opt.step()",
    "opt.step() if ok else None": "if ok:\n    opt.step()",
    "opt.step() if (a or b) else 0": "if a or b:\n    opt.step()",
    # as they are
    "opt.step() if ok else skip()": "opt.step() if ok else skip()",
    "(opt.step()) if ok else None": "opt.step() if ok else None",
    "x = opt.step() if ok else None": "x = opt.step() if ok else None",
    "[o.step() for o in opts if o]": "[o.step() for o in opts if o]",
    "[o.step() for a in opts for o in a]": "[o.step() for a in opts for o in a]",
    "[o.zero_grad() for o in opts]": "[o.zero_grad() for o in opts]",
    "x = [o.step() for o in opts]": "x = [o.step() for o in opts]",
    "ok or opt.step()": "ok or opt.step()",
    "ok and (opt.step())": "ok and opt.step()",
    "print(ok and opt.step())": "print(ok and opt.step())",
}


@pytest.mark.parametrize("text", READ)
def test_read(text: str) -> None:
    for around in ("{}\n", "if x:\n    é = 1\n    {}\n", "a = 1; {}\n"):
        m = Module(around.format(text))
        (found,) = [s for s in m.place if m.src(s) == text][:1]
        assert ast.unparse(found) == READ[text]
        assert (found in m.short) is (READ[text].startswith(("if", "for")))
        assert m.text[m.start(found) : m.end(found)] == text
