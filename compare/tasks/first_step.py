"""The first step of a process: what the arms compute from equal weights on an equal batch."""

from __future__ import annotations

from torch import Tensor

from ..measure.gradients import GradientProbe
from ..records import Step0
from .prepared import Prepared

LOGITS = 1280
"""Logits recorded at step 0: those of 128 images of ten classes."""
FIRST_STEP_ATTEMPTS = 40
"""The loss scale starts at 2**16 and is halved by each overflow: more skips in a row are no longer that."""


def first_step(prepared: Prepared, batch: tuple[Tensor, Tensor]) -> Step0:
    """Logits and gradients from the weights that the process began with.

    The forward is one of training (batch statistics): with the running statistics of an untrained network the
    values would grow from layer to layer and say little.
    """
    arm, recipe = prepared.arm, prepared.recipe
    logits = arm.evaluate(batch[0]).float().reshape(-1)[:LOGITS].cpu().tolist()
    attempts = 0
    with GradientProbe(prepared.job.optimizer) as probe:
        while probe.norm is None and attempts < FIRST_STEP_ATTEMPTS:
            attempts += 1
            for _ in range(recipe.accumulate):
                loss = prepared.step(batch)
    return Step0(logits, probe.sample, float(loss), attempts)
