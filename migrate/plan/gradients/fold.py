"""Guards whose two arms are one: ``if fp16: (scaled) else: (plain)``.

A disabled GradScaler is an exact no-op, so where the plain arm is the scaled one without scaling,
the scaled arm serves both. Proved statement by statement; anything else keeps its ``if``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from ...facts.once import once, once_each
from ...facts.sites import Scale
from ...facts.torchs import spelled_out
from ...flow.objects import Obj
from ...nodes import walk
from ...units.ownership import owns_all
from ...units.unit import Context, Unit
from ..schedule import Schedule
from .attacks import scaled_at_times


@dataclass(frozen=True, eq=False)
class Fold:
    """``stmt`` is replaced by its ``arm``; ``parameters`` say what a ``master_params`` call becomes in there."""

    stmt: ast.If
    arm: str
    parameters: dict[ast.Call, str]
    loose: bool = False  # the arms clip different sets of parameters


def folds(ctx: Context, unit: Unit, schedule: Schedule) -> list[Fold]:
    """Every guard of the unit that folds into one path."""
    found: list[Fold] = []
    scales = {s.with_: s for s in unit.scales if s.with_ is not None}
    around = [above for with_ in scales if isinstance(above := ctx.m.parent[with_], ast.If)]
    for node in ctx.m.in_order((*around, *(outer for outer in _around_clips(ctx) if isinstance(outer, ast.If)))):
        if node.orelse and not ctx.m.is_elif(node):
            if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and ctx.m.is_elif(node.orelse[0]):
                continue
            for arm, other in (("body", node.orelse), ("orelse", node.body)):
                fold = _fold(ctx, schedule, scales, node, arm, getattr(node, arm), other)
                if fold is not None:
                    found.append(fold)
                    break
    return found


def _fold(
    ctx: Context,
    schedule: Schedule,
    scales: dict[ast.With, Scale],
    stmt: ast.If,
    arm: str,
    amp: list[ast.stmt],
    plain: list[ast.stmt],
) -> Fold | None:
    aliases = {scales[s].alias for s in amp if isinstance(s, ast.With) and s in scales}
    amp = [s for s in amp if not _only_imports(ctx, s) and not _only_drops(s, aliases)]
    amp = [s for stmt in amp for s in (stmt, *_moved_out(ctx, schedule, stmt))]
    if len(amp) != len(plain) or not any(_has_amp(ctx, scales, s) for s in amp):
        return None
    parameters: dict[ast.Call, str] = {}
    loose = False
    for one, other in zip(amp, plain, strict=True):
        scale = scales.get(one) if isinstance(one, ast.With) else None
        if scale is not None:
            if not _same_backward(schedule, scale, other) or scaled_at_times(ctx, stmt, scale):
                return None
        elif (alike := _alike(ctx, one, other)) is None or not (alike.owned or one in schedule.moved):
            return None
        else:
            loose |= not alike.owned
            parameters |= alike.parameters if alike.owned else {}
    return Fold(stmt, arm, parameters, loose)


def _only_imports(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether a statement only brings Apex in: its import, or a try around it."""
    if stmt in ctx.facts.imports:
        return True
    return isinstance(stmt, ast.Try) and all(s in ctx.facts.imports for s in stmt.body) and not stmt.orelse


def _only_drops(stmt: ast.stmt, aliases: set[str | None]) -> bool:
    """``del scaled_loss``: what is deleted has no name any more."""
    return isinstance(stmt, ast.Delete) and all(isinstance(t, ast.Name) and t.id in aliases for t in stmt.targets)


def _has_amp(ctx: Context, scales: dict[ast.With, Scale], stmt: ast.stmt) -> bool:
    if isinstance(stmt, ast.With) and stmt in scales:
        return True
    return stmt in _around_clips(ctx)


@once
def _around_clips(ctx: Context) -> frozenset[ast.AST]:
    """What a call of ``amp.master_params`` stands in."""
    return frozenset(outer for call in ctx.master_params for outer in ctx.m.ancestors(call))


def _moved_out(ctx: Context, schedule: Schedule, stmt: ast.stmt) -> list[ast.stmt]:
    """Clips that stood in a with block and move away from it, as if they stood behind it."""
    within = isinstance(stmt, ast.With)
    return [clip for clip in ctx.m.in_order(schedule.moved) if within and ctx.m.parent[clip] is stmt]


def only_backward(scale: Scale, moved: Collection[ast.stmt] = ()) -> ast.Call | None:
    """The backward call of a with block that holds nothing else, but for clips that move away."""
    with_ = scale.with_
    body = [stmt for stmt in with_.body if stmt not in moved] if with_ is not None else []
    if with_ is None or len(body) != 1 or len(with_.items) != 1:
        return None
    stmt = body[0]
    if not (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call)):
        return None
    call = stmt.value
    if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
        if isinstance(call.func.value, ast.Name) and call.func.value.id == scale.alias:
            return call
    return None


def _same_backward(schedule: Schedule, scale: Scale, other: ast.stmt) -> bool:
    """Whether ``other`` is the with block's backward without scaling."""
    call = only_backward(scale, schedule.moved)
    if call is None or scale.loss is None or not isinstance(other, ast.Expr) or not isinstance(other.value, ast.Call):
        return False
    plain = other.value
    if not isinstance(plain.func, ast.Attribute) or plain.func.attr != "backward":
        return False
    same = ast.dump(plain.func.value) == ast.dump(scale.loss)
    mine = [ast.dump(a) for a in (*call.args, *call.keywords)]
    return same and mine == [ast.dump(a) for a in (*plain.args, *plain.keywords)]


@dataclass(frozen=True, eq=False)
class _Alike:
    """Two statements that do the same: ``parameters`` says what serves both for ``master_params``, ``owned`` whether
    the two are proved to be the same parameters."""

    parameters: dict[ast.Call, str]
    owned: bool


@once_each
def _alike(ctx: Context, one: ast.stmt, other: ast.stmt) -> _Alike | None:
    """What two statements of two arms have in common; each unit asks of all that clip."""
    return _Alike({}, True) if ast.dump(one) == ast.dump(other) else _same_clip(ctx, one, other)


def _same_clip(ctx: Context, one: ast.stmt, other: ast.stmt) -> _Alike | None:
    """Two clips alike but for ``amp.master_params(optimizer)`` and ``model.parameters()``."""
    mine = [
        n
        for n in walk(one)
        if isinstance(n, ast.Call) and any(x.endswith(".master_params") for x in ctx.v.apex_names(n.func))
    ]
    if len(mine) != 1:
        return None
    theirs = [
        n
        for n in walk(other)
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "parameters"
    ]
    if len(theirs) != 1:
        return None
    text_one = ctx.m.src(one).replace(ctx.m.written(mine[0]), "PARAMETERS")
    text_other = ctx.m.src(other).replace(ctx.m.written(theirs[0]), "PARAMETERS")
    if "".join(text_one.split()) != "".join(text_other.split()) and not _one_name(ctx, one, text_one, text_other):
        return None
    func = theirs[0].func
    assert isinstance(func, ast.Attribute)
    held: frozenset[Obj] = ctx.v.of(mine[0].args[0]) if mine[0].args else frozenset()
    return _Alike({mine[0]: ctx.m.src(theirs[0])}, owns_all(ctx, held, func.value))


def _one_name(ctx: Context, stmt: ast.stmt, one: str, other: str) -> bool:
    """Whether two statements are the same but for how they spell names of torch: ``clip_grad_norm_`` is imported."""
    try:
        trees = ast.parse(one), ast.parse(other)
    except SyntaxError:
        return False
    mine, theirs = (spelled_out(ctx.m, ctx.m.file(stmt), tree) for tree in trees)
    return mine == theirs
