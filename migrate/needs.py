"""Who still needs Apex's amp, and for what: all that settles programs with each other asks it here."""

from __future__ import annotations

from collections.abc import Iterable

from .model import FileResult, ModuleResult, Waits

Results = Iterable[ModuleResult | FileResult]


def needed(results: Results) -> bool:
    """Whether a file of these still needs amp."""
    return any(one.needs is not None for one in results)


def waits(results: Results, *kinds: Waits) -> bool:
    """Whether a file of these still needs amp for what is of one of some kinds."""
    return any(one.needs is not None and one.needs.waits in kinds for one in results)


def unused(results: Results) -> bool:
    """Whether what a file of these needs amp for does nothing before somebody else initializes it."""
    return waits(results, Waits.CASTS, Waits.STATE, Waits.SCALES)
