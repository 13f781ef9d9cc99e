"""Regions of one unit that lie in a region of another, or reach into it.

Each unit plans its regions by itself: a generator's may reach over a block in which the loss of a discriminator's
networks is computed, too. One header is enough where both ask the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ...facts.module import Module
from ...facts.scopes import Scope
from ..plan import Plan
from .marks import Region


def placed(m: Module, plans: Sequence[Plan]) -> dict[Region, Region | None]:
    """What becomes of regions beside those of other units: None of one that another one makes needless, and what one is
    that others reach into. Of one that is not here nothing does."""
    inner = _within(m, plans)
    return {**dict.fromkeys(inner), **_grown(plans, inner)}


def _within(m: Module, plans: Sequence[Plan]) -> frozenset[Region]:
    """The regions that another unit's region around them makes needless."""
    by_function: dict[Scope, list[tuple[Plan, Region]]] = defaultdict(list)
    for plan in plans:
        for region in plan.planner.regions:
            by_function[m.function(region.stmts()[0])].append((plan, region))
    return frozenset(
        inner
        for every in by_function.values()
        for mine, inner in every
        for other, outer in every
        if other is not mine
        and mine.enabled_at.get(inner) == other.enabled_at.get(outer)
        and (_shorter(inner, outer) if inner.block is outer.block else _deeper(m, inner, outer))
    )


def _grown(plans: Sequence[Plan], inner: frozenset[Region]) -> dict[Region, Region | None]:
    """The regions that reach into one of another unit in their block, or begin where it ends, and ask the same: the
    first of them, with what it is then, and the others, which it makes needless; ``inner`` lie in another one."""
    by_block: dict[int, list[tuple[Plan, Region]]] = defaultdict(list)
    for plan in plans:
        for region in plan.planner.regions:
            if region not in inner:
                by_block[id(region.block.body)].append((plan, region))
    found: dict[Region, Region | None] = {}
    for every in by_block.values():
        every.sort(key=lambda one: one[1].first)
        (mine, first), latest = every[0], every[0][0]
        whole = first
        for other, region in every[1:]:
            reaches = whole.first < region.first <= whole.last + 1 <= region.last
            if other is not latest and reaches and mine.enabled_at.get(first) == other.enabled_at.get(region):
                whole = found[first] = replace(whole, last=region.last)
                found[region] = None
            else:
                mine, first, whole = other, region, region
            latest = other
    return found


def _deeper(m: Module, inner: Region, outer: Region) -> bool:
    return any(m.inside(inner.stmts()[0], stmt) for stmt in outer.stmts())


def _shorter(inner: Region, outer: Region) -> bool:
    """Of one block: what a network of the other unit hands on, and the loss that is computed with it."""
    return outer.first <= inner.first and inner.last <= outer.last and len(inner.stmts()) < len(outer.stmts())
