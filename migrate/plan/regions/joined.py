"""What was marked becomes regions that do not overlap."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ...facts.gradless import no_gradient
from ...facts.module import Module
from ...facts.scopes import Block, Scope
from ...units.compute import Compute
from ...units.unit import Context
from .gradless import Scan, kept_copy
from .marks import SCOPES, Hoist, Marks, Region
from .swapped import Swapped
from .tight import Tight

# Statements without computation that a region takes in, so that it is the whole of a block.
MAX_REST = 2
# Where a cell begins: of a notebook whose cells are one text, or of a script that editors run cell by cell.
_CELL = re.compile(r"^#(?:apex2native:cell | ?%%)", re.M)


class Joined:
    """Makes the regions of one unit of what was marked."""

    def __init__(self, ctx: Context, compute: Compute, scan: Scan, swapped: Swapped) -> None:
        self.ctx, self.compute, self.scan, self.swapped = ctx, compute, scan, swapped
        self.tight = Tight(ctx.m, compute)

    def regions(self, marked: Iterable[Marks], hoists: Sequence[Hoist]) -> list[Region]:
        """Merge what was marked into regions that do not overlap."""
        regions: list[Region] = []
        for marks in marked:
            spans = sorted(marks.spans)
            merged: list[list[int]] = []
            why: list[str] = []
            for low, high, reason in spans:
                if merged and self._joins(marks.block, merged[-1][1], low, high):
                    merged[-1][1] = max(merged[-1][1], high)
                else:
                    merged.append([low, high])
                    why.append(reason)
            for (low, high), reason in zip(merged, why, strict=True):
                parts = self.tight.spans(marks.block, low, high)
                regions += [Region(block, first, last, reason) for block, first, last in parts]
        regions = self._whole_branches(regions)
        for region in regions:
            self._fill_no_grad(region, regions)
        for hoist in hoists:
            self._reach_hoist(hoist, regions)
        regions = outermost(self.ctx.m, [self._whole_chain(region) for region in regions])
        regions = [part for region in regions for part in self._by_gradients(region)]
        return [part for region in regions for part in self._by_cells(region)]

    def _whole_chain(self, region: Region) -> Region:
        """A region that would begin at an ``elif`` begins at its ``if``: nothing can stand around the former."""
        m, stmt = self.ctx.m, region.block.body[region.first]
        if not m.is_elif(stmt):
            return region
        while m.is_elif(stmt):
            stmt = m.statement(m.parent[stmt])
        block, index = m.place[stmt]
        return Region(block, index, index, region.why)

    def _by_cells(self, region: Region) -> list[Region]:
        """Cells of a notebook, or of a script that is read as one (``# %%``), are run one by one: each has a region."""
        m, body = self.ctx.m, region.block.body
        pairs = range(region.first, region.last)
        ends = [at for at in pairs if _CELL.search(m.text, m.end(body[at]), m.start(body[at + 1]))]
        firsts, lasts = [region.first, *(at + 1 for at in ends)], [*ends, region.last]
        spans = zip(firsts, lasts, strict=True)
        return [Region(region.block, first, last, region.why) for first, last in spans] if ends else [region]

    def _by_gradients(self, region: Region) -> list[Region]:
        """A region that runs a model without gradients, and then with them, becomes two: autocast keeps the half copies
        of weights until a region ends, and those that were made without gradients give none in older torch."""
        parts, first, body = list[Region](), region.first, region.block.body
        for at in range(region.first, region.last):
            made = self.scan.runs(body[at : at + 1])
            if not made or not all(run.off for run in made):
                continue
            if kept_copy(self.scan.runs(body[at : region.last + 1])):
                inner = body[at].body if first == at and isinstance(body[at], ast.With) else []  # type: ignore[attr-defined]
                parts.append(
                    Region(self.ctx.m.block(inner[0]), 0, len(inner) - 1, region.why)
                    if inner
                    else Region(region.block, first, at, region.why)
                )
                first = at + 1
        return [*parts, Region(region.block, first, region.last, region.why)] if parts else [region]

    def _whole_branches(self, regions: list[Region]) -> list[Region]:
        """An ``if`` whose arms are regions from end to end is one region, with an ``else`` or an ``elif``."""
        whole = {id(r.block.body): r for r in regions if r.first == 0 and r.last == len(r.block.body) - 1}
        ends = (r.block.owner for r in whole.values() if isinstance(r.block.owner, ast.stmt))
        ifs = {a for owner in ends for a in self.ctx.m.spine(owner) if isinstance(a, ast.If)}
        for stmt in sorted(ifs, key=self.ctx.m.start, reverse=True):
            arms = self._arms(stmt, whole)
            if len(arms) < 2 or any(a is None or a not in regions or a.why != arms[0].why for a in arms):  # type: ignore[union-attr]
                continue
            block, index = self.ctx.m.place[stmt]
            region = Region(block, index, index, arms[0].why)  # type: ignore[union-attr]
            regions = [r for r in regions if r not in arms and not self._beside(r, region)] + [region]
            if len(block.body) == 1:
                whole[id(block.body)] = region
        return regions

    def _arms(self, stmt: ast.If, whole: Mapping[int, Region]) -> list[Region | None]:
        """The region that each arm of an ``if`` is, its ``elif``s told apart; None for one that is none."""
        arms = [whole.get(id(stmt.body))]
        match stmt.orelse:
            case [ast.If() as following] if id(stmt.orelse) not in whole:
                arms += self._arms(following, whole)
            case [_, *_]:
                arms.append(whole.get(id(stmt.orelse)))
            case _:
                pass
        return arms

    def _fill_no_grad(self, region: Region, regions: list[Region]) -> None:
        """Little is left of a ``with torch.no_grad():`` beside a region: all of it is, and its header says so."""
        owner, body = region.block.owner, region.block.body
        if not isinstance(owner, ast.With) or any(r is not region and r.block.body is body for r in regions):
            return
        items = [i.context_expr for i in owner.items]
        if not all(map(no_gradient, items)):
            return
        rest = [*body[: region.first], *body[region.last + 1 :]]
        if len(rest) <= MAX_REST and not any(
            self.compute.weak(s)
            or self.compute.forbidden(s)
            or isinstance(s, SCOPES)
            or hasattr(s, "body")
            or self.tight.of_note(s)
            for s in rest
        ):
            region.first, region.last = 0, len(body) - 1

    def _beside(self, other: Region, region: Region) -> bool:
        """Whether a region of the same block touches ``region``, which then takes it in."""
        if other.block.body is not region.block.body or other.why != region.why:
            return False
        if other.last != region.first - 1 and other.first != region.last + 1:
            return False
        if any(map(self.swapped.swaps, [*other.stmts(), *region.stmts()])):
            return False
        region.first, region.last = min(region.first, other.first), max(region.last, other.last)
        return True

    def _reach_hoist(self, hoist: Hoist, regions: list[Region]) -> None:
        """A region that ends a little above a loss with a line of its own goes on to it."""
        block, index = self.ctx.m.place[hoist.stmt]
        for region in regions:
            above = region.block.body is block.body and region.last < index
            if above and self._joins(block, region.last, index, index):
                region.last = index - 1

    def _joins(self, block: Block, last: int, low: int, high: int) -> bool:
        """Whether what ends at ``last`` and what goes from ``low`` to ``high`` are one region."""
        if low <= last:
            return True
        if any(map(self.swapped.swaps, block.body[last : high + 1])):
            return False
        if low == last + 1:
            return True
        gap = block.body[last + 1 : low]
        return len(gap) <= 2 and not any(
            self.compute.forbidden(s) or isinstance(s, SCOPES) or self.compute.weak(s) for s in gap
        )


def start(m: Module, region: Region) -> int:
    """The offset of its first character."""
    return m.start(region.block.body[region.first])


def end(m: Module, region: Region) -> int:
    """The offset behind its last."""
    return m.end(region.block.body[region.last])


def outermost(m: Module, regions: list[Region]) -> list[Region]:
    """The regions, in order, that do not lie in another block's of the same function."""
    found: list[Region] = []
    around: dict[Scope, list[Region]] = defaultdict(list)
    for region in sorted(regions, key=lambda region: start(m, region)):
        outer = around[m.function(region.block.body[region.first])]
        while outer and end(m, outer[-1]) <= start(m, region):
            outer.pop()
        if all(other.block is region.block for other in outer):
            found.append(region)
        outer.append(region)
    return found
