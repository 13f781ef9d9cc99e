"""Coroutines: what a call of an ``async def`` makes runs when somebody waits for it, not where it is called."""

from __future__ import annotations

import ast

from ..program.program import Program
from ..state import CastsBlock, State


def left_behind(program: Program, state: State, call: ast.AST, callee: ast.AST) -> bool:
    """Whether a call under autocast makes a coroutine in which a model is called or a loss computed: the region may be
    over by then."""
    if not isinstance(callee, ast.AsyncFunctionDef) or isinstance(program.m.parent.get(call), ast.Await):
        return False
    under = any(isinstance(block, CastsBlock) and block.native for block in state.contexts)
    return under and state.casts and _computes(program, callee, set())


def _computes(program: Program, function: ast.AST, met: set[ast.AST]) -> bool:
    if function in met:
        return False
    met.add(function)
    if any(kind in ("forward", "loss") for _, kind in program.callees.kinds_in.get(function, ())):
        return True
    inner = (c for call in program.callees.calls_in.get(function, ()) for c in program.callees.runs(call))
    return any(_computes(program, one, met) for one in inner)
