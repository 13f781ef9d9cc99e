"""Which functions look at gradients, by their text."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.flow.touching import touches


@pytest.mark.parametrize(
    ("said", "does"),
    [
        ("self.weight.grad.norm()", True),
        ("torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)", True),
        ("self.weight.main_grad.sum()", True),
        ("self.weight.grad is not None", False),
        ("len(self.data) // self.grad_accumulation_steps", False),
        ("args.max_grad_norm * 2", False),
        ("self.gradient_checkpointing", False),
        ("self.optimizer.zero_grad()", False),
    ],
)
def test_touches(said: str, does: bool) -> None:
    m = Module(f"def length(self):\n    return {said}\n")
    (function,) = m.all(ast.FunctionDef)
    assert touches(m, function) is does
