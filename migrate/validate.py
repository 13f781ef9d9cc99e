"""What the judge's verdict means for the plans of a module.

A difference that a unit announces is what its report says; some others are worth a look, and make it *review*;
any other makes the module's units *manual*, with the path.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple

from .facts.module import Module
from .facts.scopes import Block
from .judge.judge import judge
from .judge.sides import Switch
from .judge.verdict import Difference, Verdict
from .nodes import walk
from .plan.backends.foreign import chosen
from .plan.backends.sides import sides
from .plan.gradients.exits import clears
from .plan.plan import Plan
from .plan.regions.tight import own_autocast
from .plan.schedule import NO_CHECKS, Schedule
from .rewrite.trace import Run
from .units.unit import Context, Step, Unit

# Differences that a rule's review announces, by the rule.
_ANNOUNCED: dict[str, frozenset[str]] = {
    "APX021": frozenset({"skip", "skip-late", "scale-time"}),
    "APX041": frozenset({"skip"}),
    "APX052": frozenset({"skip"}),
    "APX060": frozenset({"no-gradients", "skip", "scale-time"}),
    "APX071": frozenset({"scale-time"}),
}
# Worth a look, and then the unit is *review*: what ran in half precision and goes on in float32, or the reverse; a
# loss scale that is read between an overflow and update(); a good step that Apex left out, as the gradients of an
# overflow had been thrown away before; a plain backward that the scaler serves too. The rule, and what a reader may do.
_REMEDY = "to keep the casts, put it under torch.autocast"
_NO_BACKWARD = "Apex did nothing where there was no backward, the native side raises"
_OPPOSITE = "where that matters, leave it out of the region"
_REVIEWED = {
    "loss-casts": ("APX031", _REMEDY),
    "eval-casts": ("APX031", _REMEDY),
    "skip-late": ("APX060", "one step more is taken then"),
    "scale-time": ("APX071", "where that matters, read it behind update()"),
    "scaled-shown": ("APX071", "where that matters, look at the loss itself"),
    "half": ("APX032", "`.float()` on what is half keeps it"),
    "scale-gained": ("APX042", "the same gradients, but a step whose gradients overflow is left out"),
}
def validate(ctx: Context, plans: Sequence[Plan], texts: Sequence[str], runs: Sequence[Run]) -> Verdict:
    """Compare a program with its new text on every path; what is announced is no difference."""
    units = [plan.unit for plan in plans]
    levels = {call: read.levels for unit in units for call, read in unit.options.items()}
    kinds = frozenset[str]().union(*(_announces(rule, said) for unit in units for _, rule, said in unit.reviews))
    evaluations = [site for unit in units for site, rule, _ in unit.reviews if rule == "APX031"]

    # blocks of an autocast of the file's own, of which the review says that it alone decides
    own = [site for site in evaluations if isinstance(site, (ast.With, ast.AsyncWith)) and own_autocast(site)]

    # a native side of the program's own says what runs under autocast where Apex was
    served = all(plan.backend is not None or plan.unit.served or plan.unit.beside_native for plan in plans)
    reviewed = dict(_REVIEWED)
    if served:
        reviewed["casts"] = ("APX031", _REMEDY)
    if all(plan.unit.beside_native for plan in plans):
        reviewed["no-gradients"] = ("APX060", _NO_BACKWARD)

    def announced(difference: Difference, node: ast.AST | None) -> bool:
        if difference.kind in ("eval-casts", "loss-casts") and ctx.settings.eval == "fp32":
            return True  # asked for
        if difference.kind == "casts" and node in ctx.m.parent and any(ctx.m.inside(node, one) for one in own):
            return True
        if difference.kind == "skip-late" and _accumulates(ctx.m, units):
            unit = _nearest(ctx.m, units, node)
            note = (node or unit.line_node, "APX060", difference.message)
            if note not in unit.infos:
                unit.infos.append(note)
            return True
        if (worth := a_look(difference)) is not None:
            return said(worth[0], node or _nearest(ctx.m, units, node).line_node)
        return difference.kind in kinds

    def a_look(difference: Difference) -> tuple[str, str] | None:
        """The rule, and what a reader may do, of a difference that is only worth a look."""
        stops = difference.message.startswith("update() is called with nothing")  # of the kind of others that are
        return reviewed.get(difference.kind) if not stops else None

    def said(rule: str, node: ast.AST) -> bool:
        """Whether a review of a rule stands by a node already."""
        sites = [site for unit in units for site, other, _ in unit.reviews if other == rule]
        if rule == "APX032":
            return any(_same_function(ctx.m, node, site) for site in sites)
        if rule == "APX031":
            return node in sites or any(_same_function(ctx.m, node, site) for site in evaluations)
        return any(_same_statement(ctx.m, node, site) for site in sites)

    def allows(difference: Difference, node: ast.AST | None) -> bool:
        if node not in ctx.m.parent:  # of the new text
            node = None
        if announced(difference, node):
            return True
        worth = a_look(difference)
        if worth is None:
            return False
        rule, remedy = worth
        if difference.message.endswith("now under autocast"):
            remedy = _OPPOSITE
        unit = _nearest(ctx.m, units, node)
        unit.review(node or unit.line_node, rule, f"{difference.message}: {remedy}")
        return True

    def marked() -> Callable[[], None]:
        before = [unit.reviews.copy() for unit in units]

        def go_back() -> None:
            for unit, reviews in zip(units, before, strict=True):
                unit.reviews[:] = reviews

        return go_back

    return judge(
        ctx.m,
        ctx.v,
        ctx.facts,
        texts,
        runs,
        maybe_o0=lambda call: bool(levels.get(call, frozenset({"?"})) & {"O0", "?"}),
        scaled=ctx.settings.dtype == "float16",
        moved=frozenset(stmt for plan in plans for stmt in _moved(ctx.m, plan)),
        rescaled=frozenset(node for plan in plans for node in _rescaled(ctx.m, plan.schedule)),
        dropped=frozenset(node for plan in plans for node in _dropped(plan)),
        scales=served or (ctx.settings.dtype == "float16" and any(map(_scales, units))),
        patched=not all(read <= {"O0", "O2", "O3"} for read in levels.values()) or not levels,
        switch=_switch(ctx, units),
        stops=_stops(ctx, units),
        announced=announced,
        allows=allows,
        marked=marked,
    )


def _switch(ctx: Context, units: Sequence[Unit]) -> Switch | None:
    """The fact that is told to the judge of two sides behind one switch: which condition chooses which."""
    found = sides(ctx) if any(unit.beside_native for unit in units) else None
    return Switch(*astuple(found.switch)) if found is not None else None


def _stops(ctx: Context, units: Sequence[Unit]) -> frozenset[ast.If]:
    """The arms of Apex's behind a library's switch, where a run that chooses it stops."""
    found = chosen(ctx) if any(unit.foreign for unit in units) else None
    return frozenset(found.stops) if found is not None else frozenset()


def _announces(rule: str, message: str) -> frozenset[str]:
    """The differences that one review announces: that something raises without gradients, only one that says so."""
    found = _ANNOUNCED.get(rule, frozenset())
    return found if NO_CHECKS in message else found - {"no-gradients"}


def _accumulates(m: Module, units: Sequence[Unit]) -> bool:
    """Whether several backwards make one step, by a counter, and no window is thrown away that one can see: then the
    two count overflows at another pace anyway."""
    steps = [step for unit in units for step in unit.steps]
    around = [s for step in steps for s in (*m.spine(step.anchor), *step.within)]
    tests = [s.test for s in around if isinstance(s, ast.If)]
    if not any(map(_counts, tests)) or _drops_a_round(m, units):
        return False
    return any(map(_steps_at_the_end, tests)) or not any(_drops_the_rest(m, step) for step in steps)


def _counts(test: ast.AST) -> bool:
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in walk(test))


def _steps_at_the_end(test: ast.expr) -> bool:
    """``(i + 1) % accumulate == 0 or i + 1 == len(loader)``: no window is open behind the loop."""
    either = [n for n in walk(test) if isinstance(n, ast.BoolOp) and isinstance(n.op, ast.Or)]
    return any(any(map(_counts, n.values)) and not all(map(_counts, n.values)) for n in either)


def _drops_the_rest(m: Module, step: Step) -> bool:
    """Whether gradients are cleared once a round of the loop around the step's, ahead of it or behind it: what is left
    of a window at its end is thrown away."""
    loops = m.loops(step.anchor)
    if not loops:
        return False
    here = m.function(step.anchor)
    each = [stmt for kind in (ast.Expr, ast.Assign, ast.Delete) for stmt in m.own(here, kind)]
    outside = [stmt for stmt in each if not m.inside(stmt, loops[0]) and clears(stmt)]
    # what stands outside of all loops of a function runs again where the function does, and that is what an epoch is
    return any(m.loops(stmt) or len(loops) == 1 for stmt in outside) and not _flushes(m, step, loops[0])


def _flushes(m: Module, step: Step, loop: ast.stmt) -> bool:
    """Whether the same optimizer is stepped behind the loop as well."""
    block, index = m.place[loop]
    text = m.src(step.call)
    return any(text in m.src(stmt) for stmt in block.body[index + 1 :])


def _drops_a_round(m: Module, units: Sequence[Unit]) -> bool:
    """Whether gradients are thrown away in the midst: by a handler of an exception, or ahead of ``continue``."""
    functions = {m.function(scale.call) for unit in units for scale in unit.scales}
    leaves = (ast.Continue, ast.Break, ast.Return, ast.Raise)
    return any(
        (isinstance(block.owner, ast.ExceptHandler) or _left_early(block, leaves))
        and isinstance(stmt, (ast.Expr, ast.For, ast.Assign, ast.Delete))
        and m.function(stmt) in functions
        and clears(stmt)
        for stmt, (block, _) in m.place.items()
    )


def _left_early(block: Block, leaves: tuple[type[ast.stmt], ...]) -> bool:
    """Whether a block is an arm that ends in the next round, or behind the loop."""
    return isinstance(block.owner, ast.If) and isinstance(block.body[-1], leaves)


def _nearest(m: Module, units: Sequence[Unit], node: ast.AST | None) -> Unit:
    """The unit that has a site in the function of a node, else the first."""
    here = m.function(node) if node is not None else None
    return next((u for u in units if any(m.function(s.call) is here for s in u.sites)), units[0])


def _rescaled(m: Module, schedule: Schedule) -> list[ast.AST]:
    """Readers to whom the size of gradients is all one, or for which a rule made up for it."""
    calls = schedule.rescaled_clips
    stmts = [m.statement(node) for node in (*calls, *schedule.divided)]
    return [*schedule.scaled_clips, *schedule.scale_free, *calls, *stmts]


def _moved(m: Module, plan: Plan) -> set[ast.stmt]:
    """Clips that moved under the step's condition, and what did the same in arms that went."""
    found = set(plan.schedule.moved)
    for fold in plan.folds:
        if any(m.inside(clip, fold.stmt) for clip in plan.schedule.moved):
            found.update(fold.stmt.orelse if fold.arm == "body" else fold.stmt.body)
    return found


def _scales(unit: Unit) -> bool:
    """Whether Apex scales losses of a unit: switched off, under O0, O3 and a static scale of 1 it does not."""
    return any(
        not read.unscaled and read.levels - {"O0"} and not any(term.value is False for _, term in read.enabled)
        for read in unit.options.values()
    )


def _dropped(plan: Plan) -> Iterator[ast.AST]:
    """What saved or loaded amp's state and goes: no way from the scaler to it is known, or nothing scales a loss."""
    for stmt in (*plan.idle, *(plan.handed.dropped if plan.handed is not None else ())):
        yield from walk(stmt)


def _same_function(m: Module, one: ast.AST, other: ast.AST) -> bool:
    return one in m.parent and m.function(one) is m.function(other)


def _same_statement(m: Module, one: ast.AST, other: ast.AST) -> bool:
    return one in m.parent and m.statement(one) is m.statement(other)
