"""ResNet50 on CIFAR-10 with a user's input pipeline: what a loader leaves of the speed is what is to be seen."""

from __future__ import annotations

from dataclasses import replace

from ..data import load
from ..data.loader import LoadedBatches
from . import Job, Setting, resnet50_cifar10


def build(setting: Setting) -> Job:
    """The job of `resnet50_cifar10`, its batches from a `DataLoader`. Raises UserError for wrong data and stems."""
    images = load(setting.data, setting.cache)
    batches = LoadedBatches(
        images,
        setting.batch,
        setting.seed,
        setting.device,
        rank=setting.rank,
        world=setting.world,
        steps=setting.epoch_steps,
    )
    job = resnet50_cifar10.job(setting, batches, classes=len(images.classes))
    return replace(job, ahead=batches.ahead, close=batches.close)
