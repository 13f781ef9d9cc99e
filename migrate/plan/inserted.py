"""Names that are free, and where in the text of a call one more argument goes."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right

from ..facts.module import Module
from ..facts.scopes import Scope
from ..units.translate import partial_of, receiver
from ..units.unit import Context

_COMMENTED = re.compile(r",\s*#")
_COMMON_NAMES = ("scaler", "grad_scaler", "amp_scaler", "loss_scaler")


def free_name(m: Module, name: str, taken: set[str]) -> str:
    """A name that stands nowhere in the module, neither as a variable, function or class nor as an attribute."""
    used = m.words | taken
    candidates = _COMMON_NAMES if name == "scaler" else (name, f"grad_{name}", f"amp_{name}")
    for candidate in candidates:
        if candidate not in used:
            return candidate
    number = 2
    while f"{name}_{number}" in used:
        number += 1
    return f"{name}_{number}"


def call_offset(ctx: Context, call: ast.Call, scope: Scope, after: str | None, name: str, text: str) -> tuple[int, str]:
    """Where in the text of a call the scaler is handed on, and what to write there."""
    m = ctx.m
    node = scope.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    for keyword in call.keywords:
        if after is not None and keyword.arg == after:
            return behind(m, m.start(keyword), m.end(keyword.value), f"{name}={text}")
    if after is not None and not is_vararg(node, after):
        positional = [p.arg for p in (*node.args.posonlyargs, *node.args.args)]
        index = positional.index(after) - receiver(ctx, call, scope)
        part = partial_of(ctx, call)
        if part is not None:
            index -= len(part.args) - 1
        if 0 <= index < len(call.args):
            return behind(m, m.start(call.args[index]), m.end(call.args[index]), text)
    every: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    if not every:
        return m.end(call) - 1, f"{name}={text}"
    last = max(every, key=m.end)
    return behind(m, m.start(last), m.end(last), f"{name}={text}")


def behind(m: Module, start: int, end: int, text: str) -> tuple[int, str]:
    """One more item of a list behind the one from ``start`` to ``end``, and where it is written: on a line of its own
    where each has one, below the comment of that."""
    line = bisect_right(m.starts, start)
    row, at = m.line_text(line), m.starts[line - 1]
    indent = row[: len(row) - len(row.lstrip())]
    rest = row[end - at :].strip()
    if start - at != len(indent) or not (end - at <= len(row) and (rest in ("", ",") or _COMMENTED.match(rest))):
        return end, f", {text}"
    return (end, f",\n{indent}{text}") if rest in ("", ",") else (at + len(row), f"\n{indent}{text},")


def is_vararg(node: ast.AST, name: str) -> bool:
    """Whether a function takes any number of arguments under a name: ``*optimizers``."""
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
        node.args.vararg is not None and node.args.vararg.arg == name
    )


def has_default(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    a = node.args
    positional = [*a.posonlyargs, *a.args]
    named = {p.arg for p in positional[len(positional) - len(a.defaults) :]}
    named |= {p.arg for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None}
    return name in named
