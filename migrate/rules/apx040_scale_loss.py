"""``with amp.scale_loss(loss, optimizer) as scaled_loss`` becomes ``scaler.scale(loss).backward()``.

Statements that stood in the block behind the backward saw scaled gradients, and still do. A guard
``if fp16: … else: loss.backward()`` whose arms are alike folds into one path, because a disabled
scaler scales by nothing. A loss with more than one element is cast to float32 first, as Apex did:
a float16 loss times 65536 is infinite. ``scale_loss(…) if fp16 else nullcontext(loss)`` is the scaled
loss in both arms. Where the context has a name or is handed back, ``nullcontext`` holds the scaled loss;
entered on an ``ExitStack``, the scaled loss stands for itself. With ``delay_overflow_check`` Apex let an overflow of
that backward pass; a ``GradScaler`` never does.

Source: apex/amp/handle.py at tag 25.05; torch/amp/grad_scaler.py (scale).
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass

from ..facts.names import last_name
from ..facts.once import once_each
from ..facts.scopes import Scope
from ..facts.sites import Scale, on_stack
from ..nodes import walk
from ..plan.gradients.fold import only_backward
from ..plan.premises.premises import plain_context
from ..plan.scale_names import scale_name
from ..units.unit import Context
from .common import Plan, Stage, Work

ID = "APX040"
STAGE = Stage.UNIT
BEFORE = """\
if args.fp16:
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
else:
    loss.backward()
"""
AFTER = """\
scaler.scale(loss).backward()
"""
NOTES = {
    "APX041": "Several optimizers share one `scale_loss`: each skips its steps on its own.",
    "APX042": "A plain backward beside a scaled one is scaled too.",
}


def apply(plan: Plan, work: Work) -> None:
    """Rewrite every scaled backward, then fold the guards around them."""
    for scale in plan.unit.scales if not (plan.unit.served or plan.unit.foreign or plan.unit.beside_native) else ():
        _backward(plan, work, scale)
    _drop_names(plan.ctx, work)
    for fold in plan.folds:
        work.draft.unwrap(fold.stmt, fold.arm)
        for call, text in fold.parameters.items():
            work.draft.replace(call, text)
        work.note(plan.unit.number, ID, fold.stmt, "one path for both arms of the guard: a disabled scaler is a no-op")


def _drop_names(ctx: Context, work: Work) -> None:
    """A name of the program's own for ``scale_loss`` goes, as nobody calls it any more."""
    for use, dotted in ctx.facts.uses.items():
        if dotted.endswith(".scale_loss"):
            for stmt in scale_name(ctx, use) or ():
                if not work.draft.gone(stmt):
                    work.draft.delete(stmt)
                    work.note(None, ID, stmt, "another name of scale_loss, which nothing calls any more")


def _backward(plan: Plan, work: Work, scale: Scale) -> None:
    m, draft = work.m, work.draft
    with_ = scale.with_
    assert scale.loss is not None
    if with_ is None:
        _plain(plan, work, scale)
        return
    if scale.item is None:
        _apart(plan, work, scale)
        return
    last = m.last_line(with_.items[-1].context_expr)
    work.note_lines(
        plan.unit.number, ID, with_.lineno, max(last, m.last_line(with_)), "the loss is scaled by the GradScaler"
    )
    hoisted = next((h.name for h in plan.planner.hoists if h.expr is scale.loss), None)
    loss = hoisted or " ".join(m.src(scale.loss).split())
    uses, begin = _uses(plan.ctx, m.function(with_), scale.alias or ""), m.start(with_)
    if uses.with_gradient > begin:
        loss = (
            f"{loss}.float()"
            if isinstance(scale.loss, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
            else f"({loss}).float()"
        )
    scaled = f"{plan.scaler_at[scale.call]}.scale({loss})" if plan.scaled else loss
    inside = [n for n in uses.between(begin, m.end(with_)) if m.inside(n, with_)]
    rebound = scale.alias is not None and scale.alias == m.src(scale.loss)
    behind = uses.after(begin)
    single = len(inside) == 1 and (behind == 1 or (uses.outside < begin and not rebound))
    single = single and (hoisted is not None or not _changes_before(plan.ctx, scale.loss, with_, inside[0]))
    call = only_backward(scale)
    if single:
        _drop(work, scale)
    if call is not None and single and not _comments(work, with_):
        assert isinstance(call.func, ast.Attribute)
        tail = m.text[m.end(call.func.value) : m.end(call)]
        draft.rewrite(with_, scaled + tail)
        _close_up(work, with_)
        return
    if single:
        draft.replace(inside[0], scaled)
    elif scale.alias is not None and behind:
        line = f"{scale.alias} = {scaled}"
        if _items_that_go(plan, with_) == with_.items:
            draft.before(with_, line)
        else:
            draft.before(with_.body[0], line)
    going = _items_that_go(plan, with_)
    if scale.item is going[0]:  # those of other losses go with it
        if going == with_.items:
            draft.unwrap(with_)
            _close_up(work, with_)
        else:
            _drop_items(work, with_, going)


def _changes_before(ctx: Context, loss: ast.expr, with_: ast.With, use: ast.Name) -> bool:
    """Whether what the loss is made of may be another one by the time that the scaled loss is used: Apex scaled it as
    the block was entered (``loss = loss / 2`` ahead of the backward changed nothing)."""
    m = ctx.m
    repeated = [loop for loop in m.loops(use) if m.inside(loop, with_)]
    own = m.statement(use)
    ahead = [n for stmt in with_.body for n in walk(stmt) if isinstance(n, (ast.Name, ast.Attribute, ast.Call))]
    ahead = [n for n in ahead if m.start(n) < m.start(own) or any(m.inside(n, loop) for loop in repeated)]
    parts = list(walk(loss))
    named = {n.id for n in parts if isinstance(n, ast.Name)} | {n.attr for n in parts if isinstance(n, ast.Attribute)}
    held_elsewhere = any(isinstance(n, (ast.Attribute, ast.Subscript)) for n in parts)
    for node in ahead:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()):
                if name in named:
                    return True
            case ast.Call(func=ast.Attribute(value=base, attr=method)) if method.endswith("_"):
                if any(isinstance(n, (ast.Name, ast.Attribute)) and last_name(n) in named for n in walk(base)):
                    return True
            case ast.Call() if any(isinstance(n, ast.Call) for n in parts) or (held_elsewhere and ctx.v.callees(node)):
                return True
            case _:
                pass
    return False


def _apart(plan: Plan, work: Work, scale: Scale) -> None:
    """A context that is entered under a name or on a stack: nothing is left to be done at the end of the block."""
    assert scale.loss is not None and scale.whole is not None
    hoisted = next((h.name for h in plan.planner.hoists if h.expr is scale.loss), None)
    loss = hoisted or " ".join(work.m.src(scale.loss).split())
    scaled = f"{plan.scaler_at[scale.call]}.scale({loss})" if plan.scaled else loss
    entered = on_stack(work.m, scale.whole)
    if entered is not None:
        work.draft.replace(entered, scaled)
    else:
        work.draft.replace(scale.whole, f"{plain_context(plan.ctx, scale)}({scaled})")
    work.note(plan.unit.number, ID, scale.call, "the loss is scaled by the GradScaler")


def _drop(work: Work, scale: Scale) -> None:
    """``del scaled_loss`` goes with the name."""
    m = work.m
    for stmt in m.own(m.function(scale.call), ast.Delete):
        if work.draft.gone(stmt):
            continue
        kept = [t for t in stmt.targets if not (isinstance(t, ast.Name) and t.id == scale.alias)]
        if len(kept) < len(stmt.targets):
            work.draft.rewrite(stmt, *([f"del {', '.join(m.src(t) for t in kept)}"] if kept else []))


def _plain(plan: Plan, work: Work, scale: Scale) -> None:
    """A backward that was not scaled, and whose gradients the same step takes."""
    assert scale.loss is not None
    if plan.scaled:
        loss = next((h.name for h in plan.planner.hoists if h.expr is scale.loss), work.m.src(scale.loss))
        work.draft.replace(scale.loss, f"{plan.scaler_at[scale.call]}.scale({' '.join(loss.split())})")
    work.note(plan.unit.number, "APX042", scale.call, "this loss is scaled as well")


@dataclass(frozen=True)
class _Uses:
    """Where a function reads a scaled loss's name, in order, and the last places where something is special there."""

    names: list[ast.Name]
    starts: list[int]
    with_gradient: int  # it runs backward with a gradient of its own, so it is no scalar
    outside: int  # it stands in no block that gives a scaled loss this name: any later block's reads are its own

    def after(self, place: int) -> int:
        """How many there are behind a place."""
        return len(self.starts) - bisect_right(self.starts, place)

    def between(self, begin: int, end: int) -> list[ast.Name]:
        return self.names[bisect_right(self.starts, begin) : bisect_right(self.starts, end)]


@once_each
def _uses(ctx: Context, function: Scope, name: str) -> _Uses:
    """Each of many losses with one name asks for them."""
    m = ctx.m
    blocks = {s.with_ for s in ctx.facts.scales if s.with_ is not None and s.alias == name}
    names = sorted(_read_in(ctx, name).get(function.node, ()), key=m.start)
    return _Uses(
        names,
        [m.start(n) for n in names],
        max((m.start(n) for n in names if _has_gradient_argument(n, m.parent)), default=-1),
        max((m.start(n) for n in names if blocks.isdisjoint(m.ancestors(n))), default=-1),
    )


@once_each
def _read_in(ctx: Context, name: str) -> dict[ast.AST, list[ast.Name]]:
    """The reads of a name by the functions and classes that they stand in."""
    found: dict[ast.AST, list[ast.Name]] = defaultdict(list)
    for node in ctx.m.named(name):
        scope = ctx.m.scope(node) if isinstance(node.ctx, ast.Load) else None
        while scope is not None:
            found[scope.node].append(node)
            scope = scope.parent
    return found


def _has_gradient_argument(use: ast.Name, parent: dict[ast.AST, ast.AST]) -> bool:
    above = parent[use]
    call = parent.get(above)
    if not (isinstance(above, ast.Attribute) and above.attr == "backward" and isinstance(call, ast.Call)):
        return False
    if call.args and not (isinstance(call.args[0], ast.Constant) and call.args[0].value is None):
        return True
    return any(k.arg == "gradient" for k in call.keywords)


def _close_up(work: Work, with_: ast.stmt) -> None:
    """A comment behind a block that was set out to stand below that of its header: two blanks are before it now."""
    text, end = work.m.text, work.m.end(with_)
    gap = len(text[end:]) - len(text[end:].lstrip(" "))
    if gap > 2 and text[end + gap : end + gap + 1] == "#":
        work.draft.cut(end + 2, end + gap)


def _comments(work: Work, stmt: ast.stmt) -> bool:
    """Whether comments stand in a statement, or deeper below it, on lines of their own."""
    m = work.m
    last = m.last_line(stmt)
    below = m.line_text(last + 1) if last < len(m.starts) else ""
    deeper = len(below) - len(below.lstrip()) > len(m.indent(stmt)) and below.lstrip().startswith("#")
    return deeper or any(m.line_text(n).lstrip().startswith("#") for n in range(stmt.lineno, last + 1))


def _items_that_go(plan: Plan, with_: ast.With) -> list[ast.withitem]:
    """The items of a with header that scale a loss."""
    mine = {s.item for s in plan.unit.scales if s.with_ is with_}
    return [item for item in with_.items if item in mine]


def _drop_items(work: Work, with_: ast.With, going: list[ast.withitem]) -> None:
    """Take some of several items out of a with header, each with the comma behind it, or ahead of it at the end."""
    m = work.m
    starts = [m.start(i.context_expr) for i in with_.items]
    ends = [m.end(i.optional_vars or i.context_expr) for i in with_.items]
    last = max(n for n, item in enumerate(with_.items) if item not in going)
    for n, item in enumerate(with_.items):
        if item in going:
            work.draft.cut(*((starts[n], starts[n + 1]) if n < last else (ends[n - 1], ends[n])))
