"""Products that no region holds: beside the model, on weights or on gradients. O1 ran them in float16 wherever they
were called, and they run in float32 now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import called_name, last_name
from ...facts.networks import names_elsewhere
from ...facts.once import once, once_each
from ...facts.scopes import Scope
from ...facts.usual_names import home
from ...knowledge.operations import O1_HALF, O1_HALF_METHODS
from ...units.order import NOT_YET
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage
from ..regions.planner import Planner
from ..regions.uncast import uncast

_MODES = ("train", "eval")
_OF_TENSORS = (".t()", ".grad", ".weight", ".detach()", "torch.", ".mT", ".transpose(-")


def review_products(ctx: Context, unit: Unit, planner: Planner) -> None:
    """Names the products behind ``initialize`` that no region holds, the first of each function."""
    if not any(options.levels & {"O1"} for options in unit.options.values()):
        return  # O2 and O3 cast models alone
    coverage, named = Coverage(ctx, planner), set[ast.AST]()
    for node in sorted(_products(ctx, planner), key=ctx.m.start):
        scope = ctx.m.function(node)
        if scope.node in named or planner.order.states(node) == {NOT_YET} or coverage.autocast(node):
            continue
        if uncast(ctx, node):
            continue  # Apex's casts were off there
        named.add(scope.node)
        unit.review(
            node,
            "APX036",
            f"`{_said(ctx, node)}` computes products outside of the model and its loss: O1 ran them in float16, "
            "and they run in float32 now, or raise where a half result of the model meets float32; to keep the casts, "
            "wrap it in torch.autocast",
        )


def _said(ctx: Context, node: ast.expr) -> str:
    return f"{ctx.m.src(node.func)}(…)" if isinstance(node, ast.Call) else ctx.m.src(node)


def _products(ctx: Context, planner: Planner) -> Iterator[ast.Call | ast.BinOp]:
    """Products of torch around the training, and calls of what computes some in other files."""
    around = planner.compute.around
    yield from (c for scope in around for c in _calls(ctx, scope) if _multiplies(ctx, planner, c))
    yield from (node for node in _of_tensors(ctx) if ctx.m.function(node) in around)


@once
def _of_tensors(ctx: Context) -> list[ast.BinOp]:
    """The products that are written with a sign."""
    return [node for node in ctx.m.all(ast.BinOp) if _tensor(ctx, node)]


def _product(call: ast.Call) -> bool:
    func = call.func
    if not isinstance(func, ast.Attribute):
        return False
    owner = last_name(func.value)
    if home(func) in ("torch", "F", "functional"):
        return func.attr in O1_HALF
    return func.attr in O1_HALF_METHODS and owner not in ("np", "numpy", "linalg")


@once_each
def _calls(ctx: Context, scope: Scope) -> list[ast.Call]:
    """The calls of a function that may be products, whoever asks."""
    calls = ctx.calls_in.get(scope, ())
    return [one for one in calls if _computes(ctx, one) or _watches(ctx, called_name(one)) or _asks_for_a_mode(one)]


def _multiplies(ctx: Context, planner: Planner, call: ast.Call) -> bool:
    """Whether a call is a product, or runs code of another file that computes some, and no network."""
    if _computes(ctx, call):
        return True
    if any(planner.compute.is_model(ctx.v.of(arg)) for arg in call.args):
        return _watches(ctx, called_name(call))
    known = ctx.facts.elsewhere.multiplying
    return _asks_for_a_mode(call) and any(one.partition(".")[2] in _MODES for one in known)


def _asks_for_a_mode(call: ast.Call) -> bool:
    return called_name(call) in _MODES and not call.args


def _computes(ctx: Context, call: ast.Call) -> bool:
    """Whether a call is a product, or runs code of another file that computes some."""
    known = ctx.facts.elsewhere.multiplying
    return _product(call) or bool(known and not known.isdisjoint(names_elsewhere(ctx.v, call)))


@once_each
def _watches(ctx: Context, name: str) -> bool:
    """Whether an object that is made by this name, and handed a model, computes products as it watches that."""
    methods = [one.partition(".")[2] for one in ctx.facts.elsewhere.multiplying if one.startswith(f"{name}.")]
    return name in ctx.facts.elsewhere.plain and bool(methods) and not any(
        method == "__call__" or ctx.m.calls(method) for method in methods
    )


def _made_here(node: ast.expr) -> bool:
    """Whether an operand is made on the CPU, where O1 cast nothing: ``torch.randn(3, 4)``."""
    made = isinstance(node, ast.Call) and ast.unparse(node.func) in ("torch.randn", "torch.rand", "torch.randint")
    return made and isinstance(node, ast.Call) and not any(k.arg == "device" for k in node.keywords)


def _tensor(ctx: Context, node: ast.BinOp) -> bool:
    """Whether a product is one of tensors, as far as its text and its file tell: numpy has the same sign."""
    if not isinstance(node.op, ast.MatMult) or (_made_here(node.left) and _made_here(node.right)):
        return False
    text = ast.unparse(node)
    return any(word in text for word in _OF_TENSORS) or not _knows_numpy(ctx, node)


def _knows_numpy(ctx: Context, node: ast.AST) -> bool:
    """Whether the file of a node imports numpy."""
    imports: list[ast.Import | ast.ImportFrom] = [*ctx.m.all(ast.Import), *ctx.m.all(ast.ImportFrom)]
    return any(
        name.split(".")[0] in ("numpy", "scipy")
        for stmt in imports
        if ctx.m.file(stmt) is ctx.m.file(node)
        for name in ([a.name for a in stmt.names] if isinstance(stmt, ast.Import) else [stmt.module or ""])
    )
