"""Regions of one unit that lie in a region of another.

Each unit plans its regions by itself: a generator's may reach over a block in which the loss of a discriminator's
networks is computed, too. One header is enough where both ask the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ...facts.module import Module
from ...facts.scopes import Scope
from ..plan import Plan
from .marks import Region


def within(m: Module, plans: Sequence[Plan]) -> frozenset[Region]:
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


def _deeper(m: Module, inner: Region, outer: Region) -> bool:
    return any(m.inside(inner.stmts()[0], stmt) for stmt in outer.stmts())


def _shorter(inner: Region, outer: Region) -> bool:
    """Of one block: what a network of the other unit hands on, and the loss that is computed with it."""
    return outer.first <= inner.first and inner.last <= outer.last and len(inner.stmts()) < len(outer.stmts())
