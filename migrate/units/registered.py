"""``amp.register_float_function(torch, "sigmoid")``, of a function that autocast runs in the type that it is handed.

Apex put a function of its own in the place of torch's: whoever called it got float32, the file itself, a layer
(``nn.Sigmoid``) or a library. Natively the calls that the program writes get ``.float()``, which is the same for them;
what else calls it is named."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from ..facts.module import Module
from ..facts.once import once
from ..knowledge.operations import AS_HANDED
from .unit import Context

_HOMES = ("torch", "torch.nn.functional")
_TAIL = "register_float_function"
_SERVES = frozenset({"batch_norm"})  # functions of torch that their likes in torch.nn.functional look up when called
_SIZES = re.compile(r"(?<=Norm)[123]d$")


@dataclass(frozen=True, eq=False)
class Registered:
    """One registration: the statement's call, what its function's calls are handed, and who else may call it."""

    call: ast.Call
    operands: tuple[ast.expr, ...]
    layers: tuple[ast.Call, ...]
    handed_on: tuple[ast.expr, ...]


def registered(ctx: Context, call: ast.Call) -> Registered | None:
    """What becomes of a registration, where its function's calls can be told."""
    m = ctx.m
    if len(call.args) != 2 or call.keywords or not isinstance(m.parent[call], ast.Expr):
        return None
    home, name = _dotted(m, call.args[0]), call.args[1]
    if home not in _HOMES or not isinstance(name, ast.Constant) or name.value not in AS_HANDED:
        return None
    operands: list[ast.expr] = []
    handed_on: list[ast.expr] = []
    for node in m.all(ast.Attribute):
        if node.attr != name.value or _dotted(m, node) not in _names(home, node.attr):
            continue
        above = m.parent[node]
        if not (isinstance(above, ast.Call) and above.func is node):
            handed_on.append(node)
            continue
        operand = next((k.value for k in above.keywords if k.arg == "input"), above.args[0] if above.args else None)
        if operand is None or isinstance(operand, ast.Starred):
            return None
        operands.append(operand)
    layer = str(name.value).replace("_", "")
    layers = [c for c in m.all(ast.Call) if isinstance(c.func, (ast.Name, ast.Attribute)) and _layer(c.func) == layer]
    return Registered(call, tuple(operands), tuple(layers), tuple(handed_on))


@once
def all_registered(ctx: Context) -> list[Registered]:
    """All of a program, in order."""
    calls = [ctx.m.parent[use] for use, dotted in ctx.facts.uses.items() if dotted.endswith(_TAIL)]
    found = [registered(ctx, call) for call in calls if isinstance(call, ast.Call)]
    return [one for one in found if one is not None]


@once
def handed_float(ctx: Context) -> frozenset[ast.AST]:
    """The calls whose operand gets ``.float()``."""
    operands = [operand for one in all_registered(ctx) for operand in one.operands]
    above = [ctx.m.parent[operand] for operand in operands]
    return frozenset(ctx.m.parent[n] if isinstance(n, ast.keyword) else n for n in above)


def _layer(func: ast.Name | ast.Attribute) -> str:
    """The name of a function that a class of torch.nn would have: of ``nn.LeakyReLU`` "leakyrelu", of ``BatchNorm2d``
    "batchnorm"."""
    name = func.id if isinstance(func, ast.Name) else func.attr
    return _SIZES.sub("", name).lower() if name[:1].isupper() else ""


def _names(home: str, name: str) -> set[str]:
    """The names by which a program calls a function: one of torch's serves `torch.nn.functional` too."""
    return {f"{home}.{name}"} | ({f"torch.nn.functional.{name}"} if name in _SERVES else set())


def _dotted(m: Module, expr: ast.expr) -> str | None:
    """The full name of a module or of what it holds, by the file's imports."""
    if isinstance(expr, ast.Attribute):
        home = _dotted(m, expr.value)
        return None if home is None else f"{home}.{expr.attr}"
    if not isinstance(expr, ast.Name):
        return None
    for alias in m.declared(expr.id):
        if not isinstance(alias, ast.alias):
            continue
        stmt = m.parent[alias]
        if isinstance(stmt, ast.ImportFrom):
            return f"{stmt.module}.{alias.name}"
        return alias.name if alias.asname else alias.name.split(".")[0]
    return None
