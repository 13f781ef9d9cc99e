"""Operations of networks that autocast runs in another type than O1 did: said once, as nothing has to be done."""

from __future__ import annotations

import ast
from collections.abc import Collection

from ...facts.names import called_name, last_name
from ...facts.once import once
from ...facts.usual_names import home
from ...flow.arguments import default_of
from ...knowledge.host import GIVES_VALUES, HOST_MODULES
from ...knowledge.operations import (
    BESIDE_NUMBER,
    FAR_FILL,
    FILLS,
    HALF_NOT_AS_GIVEN,
    HALF_NOT_FLOAT,
    IN_PLACE,
    LARGEST_HALF,
    LINALG_PRODUCT,
    MULTIPLY_WITHIN,
    SPREADS,
)
from ...units.beside_numbers import PROMOTING_CALLS, beside_number
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage
from .spread import of_float32, wide
from .torchs import of_torch

_WIDER = frozenset("float float32 double float64 bfloat16".split())
_LINALG = f"linalg.{LINALG_PRODUCT}"
_Operation = ast.Call | ast.AugAssign | ast.BinOp
_WORDS = (
    (HALF_NOT_FLOAT, "in float16 under autocast, O1 gave float32"),
    (HALF_NOT_AS_GIVEN | {_LINALG}, "in float16 under autocast, O1 left the type as it was given"),
    (frozenset({IN_PLACE}), "in float16 under autocast, O1 made a new float32 tensor where the right side was one"),
    (
        frozenset({FAR_FILL}),
        "with a value that float16 has none for, an error where what is filled is half, as a product over a tensor "
        "without dimensions is (`scores / self.scale`), of which O1 made float32",
    ),
    (
        frozenset({BESIDE_NUMBER}),
        "of a half result and a float32 tensor without dimensions: in float16, O1 made float32 of it",
    ),
)


def tell_policy(ctx: Context, unit: Unit, coverage: Coverage, written: Collection[ast.AST]) -> None:
    """Names the operations whose results have another type under autocast than under O1, but for those that are
    ``written`` anew, with float32, or named by themselves."""
    if not unit.by_functions:
        return
    lines = dict[str, int]()
    for node, name in _operations(ctx):
        if name not in lines and node not in written:
            if coverage.may_within(node):
                lines[name] = node.lineno
    anew = {called_name(node) for node in written if isinstance(node, ast.Call)}
    found = lines.keys() | (ctx.facts.elsewhere.operations - anew)
    told = [
        f"{', '.join(_said(name, lines) for name in sorted(names & found))}: {what}"
        for names, what in _WORDS
        if names & found
    ]
    if told:
        text = f"types of results in the networks: {'; '.join(told)}. Where that matters, put `.float()` there"
        unit.infos.append((unit.line_node, "APX037", text))


@once
def _operations(ctx: Context) -> list[tuple[_Operation, str]]:
    """All of those operations in the program, in order, and what each is called."""
    nodes: list[_Operation] = [*ctx.m.all(ast.Call), *ctx.m.all(ast.AugAssign)]
    nodes += [node for node in ctx.m.all(ast.BinOp) if _beside_number(ctx, node)]
    named = ((node, _operation(ctx, node)) for node in sorted(nodes, key=ctx.m.start))
    return [(node, name) for node, name in named if name is not None]


def _beside_number(ctx: Context, node: ast.BinOp | ast.Call) -> bool:
    """Whether something that may be half is computed with a float32 tensor without dimensions."""
    operand = beside_number(ctx.v, node)
    return operand is not None and not wide(ctx, operand, ctx.m.statement(node))


def _operation(ctx: Context, node: _Operation) -> str | None:
    """The operation that a node is, if it is one of those: not of an array."""
    if isinstance(node, ast.BinOp):
        return BESIDE_NUMBER
    if isinstance(node, ast.AugAssign):
        part = node.value.value if isinstance(node.value, ast.Subscript) else node.value
        of_self = isinstance(part, ast.Attribute) and ast.unparse(part).startswith("self.")
        return IN_PLACE if of_self and isinstance(node.target, ast.Name) and not _only_number(ctx, part) else None
    if isinstance(node.func, ast.Attribute) and last_name(node.func.value) in HOST_MODULES:
        return None
    name = called_name(node)
    if name in PROMOTING_CALLS:
        return BESIDE_NUMBER if _beside_number(ctx, node) else None
    if name in FILLS and any(map(far, [*node.args, *(k.value for k in node.keywords)])):
        return FAR_FILL
    if (name in SPREADS and of_float32(ctx, node)) or (name in MULTIPLY_WITHIN and not of_torch(ctx.m, node.func)):
        return None
    if name == LINALG_PRODUCT and home(node.func) == "linalg" and of_torch(ctx.m, node.func):
        return _LINALG
    return name if name in HALF_NOT_FLOAT | HALF_NOT_AS_GIVEN else None


def _only_number(ctx: Context, part: ast.expr) -> bool:
    """Whether an attribute is only ever given numbers of Python's: they leave the type as it is."""
    given = [ctx.m.parent[n] for n in ctx.m.attributes(last_name(part)) if isinstance(n.ctx, ast.Store)]
    values = [stmt.value for stmt in given if isinstance(stmt, (ast.Assign, ast.AnnAssign, ast.AugAssign))]
    return len(values) == len(given) > 0 and all(value is not None and _number(ctx, value) for value in values)


def _number(ctx: Context, value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=int() | float()):
            return True
        case ast.UnaryOp(operand=inner):
            return _number(ctx, inner)
        case ast.BinOp(left=left, right=right):
            return _number(ctx, left) and _number(ctx, right)
        case ast.Call(func=ast.Name(id=name)):
            return name in GIVES_VALUES
        case ast.Name(id=name):
            scope = ctx.m.binding_scope(name, ctx.m.scope(value))
            given = default_of(scope.node, name) if scope is not None and name in scope.params else None
            return given is not None and _number(ctx, given)
        case _:
            return False


def far(node: ast.expr) -> bool:
    """Whether a number is written here that float16 has no value for: as a constant, or as the least that float32
    has."""
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    match inner:
        case ast.Attribute(value=ast.Call(args=[kind]) as call, attr="min" | "max") if called_name(call) == "finfo":
            return last_name(kind) in _WIDER
        case ast.Constant(value=int() | float() as number):
            return number > LARGEST_HALF
        case _:
            return False


def _said(name: str, lines: dict[str, int]) -> str:
    return f"`{name}`" + (f" (line {lines[name]})" if name in lines else "")
