"""What the workloads on the session's images have in common: their batches, whatever network trains on them."""

from __future__ import annotations

from ..data import Batches, Images
from . import Setting


def on_device(images: Images, setting: Setting) -> Batches:
    """Batches made on the device: nothing of a loader is in a step. Raises UserError where there are too few images."""
    return Batches(
        images,
        setting.batch,
        setting.seed,
        setting.device,
        rank=setting.rank,
        world=setting.world,
        steps=setting.epoch_steps,
    )
