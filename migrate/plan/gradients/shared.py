"""Steps behind one backward of optimizers that share parameters: each step of a GradScaler divides the gradients of its
optimizer by the scale, so theirs would be divided twice.

Hundreds of optimizers may step behind one loss, so not every pair of them is looked at: only those that were made of
the same module, or of a part of it, and between which nothing clears the gradients.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from ...facts.scopes import Block, Scope
from ...flow.objects import Obj
from ...units.events import Event
from ...units.ownership import share_parameters, sources
from ...units.unit import Context, Manual
from ..blocks import common, exclusive
from .exits import clears

_Module = tuple[Scope, str]  # a module as the function that makes an optimizer says it


class Taken:
    """The steps that a run has taken, as long as no backward came behind them."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self._number: dict[Event, int] = {}
        self._of: dict[Obj, list[Event]] = defaultdict(list)
        self._whole: _Index = defaultdict(lambda: defaultdict(dict))
        self._parts: _Index = defaultdict(lambda: defaultdict(dict))  # by the modules that theirs are parts of
        self._made_of: dict[Obj, list[_Module]] = {}
        self._cleared: dict[Block, list[int]] = {}

    def add(self, event: Event) -> None:
        """One more step."""
        self._number[event] = len(self._number)
        for obj in event.objects:
            self._of[obj].append(event)
        here, at = self._place(event)
        for module in self._modules(event):
            self._whole[module][here][event] = at
            for outer in _around(module):
                self._parts[outer][here][event] = at

    def forget(self, objects: frozenset[Obj]) -> None:
        """A backward gives these optimizers other gradients."""
        for event in {event for obj in objects for event in self._of.get(obj, ())}:
            here, _ = self._place(event)
            for obj in event.objects:
                self._of[obj].remove(event)
            for module in self._modules(event):
                self._whole[module][here].pop(event, None)
                for outer in _around(module):
                    self._parts[outer][here].pop(event, None)

    def of(self, objects: frozenset[Obj]) -> list[Event]:
        """Those of some optimizers."""
        return [event for obj in objects for event in self._of.get(obj, ())]

    def check(self, event: Event) -> None:
        """Raise Manual where a further step would divide gradients that one of them has divided."""
        found = {one for module in self._modules(event) for one in self._related(event, module)}
        for earlier in sorted(found, key=self._number.__getitem__):
            _check_pair(self.ctx, earlier, event)

    def _related(self, event: Event, module: _Module) -> Iterator[Event]:
        """Steps of optimizers that have parameters of a module, as far as their gradients may still be there."""
        here, _ = self._place(event)
        every = [(self._whole, one) for one in (module, *_around(module))]
        for index, one in [*every, (self._parts, module)]:
            for scope, earlier in index.get(one, {}).items():
                yield from earlier if scope is not here else self._not_cleared(earlier, event)

    def _not_cleared(self, earlier: dict[Event, int], event: Event) -> Iterator[Event]:
        """Of steps of one function, in order, those between which and a further step nothing clears gradients. What
        clears those of one step clears those of all that stand ahead of it in the block, too."""
        assert event.step is not None
        first, limit = next(iter(earlier.values()), 0), None
        for one, at in reversed(earlier.items()):
            if limit is not None and at >= limit:
                if first >= limit:
                    return
                continue
            assert one.step is not None
            if one.step.stmt is event.step.stmt and self._cleared_by_itself(event.step.stmt):
                continue
            tops = common(self.ctx, one.step.stmt, event.step.stmt)
            if tops is not None and self._clears_between(*tops):
                owner = self.ctx.m.block(tops[0]).owner
                limit = self.ctx.m.start(owner) if isinstance(owner, ast.stmt) else 0
            else:
                yield one

    def _cleared_by_itself(self, step: ast.stmt) -> bool:
        """Whether a function clears gradients with each backward that a step stands behind: then it does so from one
        call of it to the next, ``fit(model, first)`` and then ``fit(model, second)``. What is cleared at times only
        leaves gradients behind, which the next one would take over with the scale of another scaler."""
        m = self.ctx.m
        for stmt in m.spine(step):
            block = m.block(stmt)
            clearing = self._counted(block)[-1] - clears(stmt)
            if clearing and any(m.inside(call, one) for one in block.body for call in m.calls("backward")):
                return True
        return False

    def _counted(self, block: Block) -> list[int]:
        """How many statements of a block clear gradients, ahead of each of them and in all."""
        if block not in self._cleared:
            self._cleared[block] = counted = [0]
            for stmt in block.body:
                counted.append(counted[-1] + clears(stmt))
        return self._cleared[block]

    def _clears_between(self, first: ast.stmt, last: ast.stmt) -> bool:
        """Whether gradients are cleared from one statement of a block on, ahead of another."""
        block, at = self.ctx.m.place[first]
        counted = self._counted(block)
        return counted[self.ctx.m.index(last)] > counted[at]

    def _place(self, event: Event) -> tuple[Scope, int]:
        return self.ctx.m.function(event.node), self.ctx.m.start(event.node)

    def _modules(self, event: Event) -> list[_Module]:
        """The modules of which a step's optimizers have all parameters."""
        found: list[_Module] = []
        for obj in self.ctx.v.in_order(event.objects):
            if obj not in self._made_of:
                made = sources(self.ctx, obj)
                self._made_of[obj] = [(self.ctx.m.function(base), ast.unparse(base)) for base in made]
            found += self._made_of[obj]
        return found


_Index = defaultdict[_Module, defaultdict[Scope, dict[Event, int]]]


def _around(module: _Module) -> list[_Module]:
    """The modules that one is a part of, as it is said."""
    scope, text = module
    return [(scope, text[:at]) for at, letter in enumerate(text) if letter == "."]


def _check_pair(ctx: Context, earlier: Event, event: Event) -> None:
    """Raise Manual where two steps behind one backward divide the same gradients."""
    m = ctx.m
    pair = None if earlier.objects & event.objects else share_parameters(ctx, earlier.objects, event.objects)
    if pair is None or exclusive(ctx, earlier.node, event.node) or earlier.step is None or event.step is None:
        return
    raise Manual(
        event.node,
        f"`{m.src(pair)}` belongs to two optimizers that step behind the same backward: each step of a GradScaler "
        "divides the gradients of its optimizer by the scale, so these would be divided twice",
        f"let one optimizer own `{m.src(pair)}` (parameter groups may have different options), or clear the gradients "
        "between the two steps and run a backward for each",
    )
