"""How far two arms are apart at a first step from equal weights: logits, loss and gradients, before and after
training."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..records import Started, Step0
from ..results import Step0Difference
from .material import Material

INITIAL = ("speed", "train")
"""Kinds of task that begin with the initial weights."""
TRAINED = ("after",)
"""Those that begin with trained ones."""


def step0_differences(
    material: Material, arm: str, baselines: Iterable[str], kinds: Sequence[str] = INITIAL
) -> tuple[Step0Difference, ...]:
    """The difference to each baseline, with the yardstick: what the same arm, run again, differs from itself by."""
    found = []
    for baseline in dict.fromkeys(baselines):
        difference = _difference(material, arm, baseline, kinds)
        if difference is not None:
            own = [_difference(material, one, one, kinds) for one in dict.fromkeys((arm, baseline))]
            logits = [one.logits for one in own if one is not None]
            gradients = [one.gradients for one in own if one is not None and one.gradients is not None]
            found.append(
                replace(
                    difference,
                    logits_noise=max(logits, default=None),
                    gradients_noise=max(gradients, default=None),
                )
            )
    return tuple(found)


def _difference(material: Material, arm: str, baseline: str, kinds: Sequence[str]) -> Step0Difference | None:
    """Median over blocks and seeds of the relative difference to the baseline at the first step, from equal weights.

    With the arm itself as the baseline it is that of its two runs in a block: the yardstick of the others.
    """
    own = _first_steps(material, arm, kinds, replica=int(arm == baseline))
    other = _first_steps(material, baseline, kinds)
    both = [(own[key], other[key]) for key in sorted(own.keys() & other.keys())]
    if not both:
        return None
    logits = _known(_relative(a.logits, b.logits) for (a, _), (b, _) in both)
    gradients = _known(_relative(a.gradients, b.gradients) for (a, _), (b, _) in both if a.gradients and b.gradients)
    losses = _known(_relative([a.loss], [b.loss]) for (a, _), (b, _) in both)
    if not logits:
        return None
    return Step0Difference(
        baseline=baseline,
        logits=statistics.median(logits),
        gradients=statistics.median(gradients) if gradients else None,
        same_weights=all(a.initial_weights == b.initial_weights for (_, a), (_, b) in both),
        same_order=all(a.order == b.order for (_, a), (_, b) in both),
        loss=statistics.median(losses) if losses else None,
    )


def _first_steps(
    material: Material, arm: str, kinds: Sequence[str], replica: int = 0
) -> dict[tuple[str, int, int], tuple[Step0, Started]]:
    """By kind, block and seed."""
    found = {}
    for kind in kinds:
        for run in material.of(arm, material.main(kind), replica=replica):
            step0, started = run.last(Step0), run.last(Started)
            if step0 is not None and started is not None:
                found[kind, run.task.block, run.task.seed] = (step0, started)
    return found


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _relative(values: Sequence[float], reference: Sequence[float]) -> float | None:
    """Norm of the difference over the norm of the reference; None where it cannot be had."""
    if len(values) != len(reference):
        return None
    norm = math.hypot(*reference)
    distance = math.hypot(*(a - b for a, b in zip(values, reference, strict=True)))
    return distance / norm if norm > 0 and math.isfinite(distance / norm) else None
