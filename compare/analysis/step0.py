"""How far two arms are apart before any training: logits and gradients of the first step."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from ..records import Started, Step0
from ..results import Step0Difference
from .material import Material


def step0_difference(material: Material, arm: str, baseline: str) -> Step0Difference | None:
    """Median over the blocks of the relative difference to the baseline at the first step, from equal weights.

    With the arm itself as the baseline it is that of its two runs in a block: the yardstick of the others.
    """
    own, other = _first_steps(material, arm, replica=int(arm == baseline)), _first_steps(material, baseline)
    both = [(own[key], other[key]) for key in own.keys() & other.keys()]
    if not both:
        return None
    logits = [_relative(a.logits, b.logits) for (a, _), (b, _) in both]
    gradients = [_relative(a.gradients, b.gradients) for (a, _), (b, _) in both if a.gradients and b.gradients]
    known = [value for value in logits if value is not None]
    known_gradients = [value for value in gradients if value is not None]
    if not known:
        return None
    return Step0Difference(
        baseline=baseline,
        logits=statistics.median(known),
        gradients=statistics.median(known_gradients) if known_gradients else None,
        same_weights=all(a.initial_weights == b.initial_weights for (_, a), (_, b) in both),
        same_order=all(a.order == b.order for (_, a), (_, b) in both),
    )


def _first_steps(material: Material, arm: str, replica: int = 0) -> dict[tuple[str, int, int], tuple[Step0, Started]]:
    """By kind, block and seed."""
    found = {}
    for kind in ("speed", "train"):
        for run in material.of(arm, material.main(kind), replica=replica):
            step0, started = run.last(Step0), run.last(Started)
            if step0 is not None and started is not None:
                found[kind, run.task.block, run.task.seed] = (step0, started)
    return found


def _relative(values: Sequence[float], reference: Sequence[float]) -> float | None:
    """Norm of the difference over the norm of the reference; None where it cannot be had."""
    if len(values) != len(reference):
        return None
    norm = math.sqrt(math.fsum(value * value for value in reference))
    distance = math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(values, reference, strict=True)))
    return distance / norm if norm > 0 and math.isfinite(distance / norm) else None
