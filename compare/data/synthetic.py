"""Images made from a fixed seed, for machines without the real ones.

Each class has a pattern of coarse coloured blocks, the same when mirrored, with noise over it: a network
learns the classes in a few dozen steps, and crops and flips leave them recognisable. Only integers are
used, so the images are the same on every machine.
"""

from __future__ import annotations

import re

import torch
from torch import Tensor

from ..errors import UserError
from .images import SIDE, Images

SYNTHETIC = "synthetic"
TRAIN = 2048
TEST = 512

_CLASSES = 10
_BLOCK = 8
_CONTRAST = 48
_NOISE = 64
_SEED = 20


def sizes(source: str) -> tuple[int, int] | None:
    """Training and test images that `synthetic` or `synthetic:TRAIN,TEST` asks for, None for another source."""
    if source == SYNTHETIC:
        return TRAIN, TEST
    if not source.startswith(f"{SYNTHETIC}:"):
        return None
    found = re.fullmatch(rf"{SYNTHETIC}:([1-9]\d*),([1-9]\d*)", source)
    if found is None:
        raise UserError(f"{source} names no data: write {SYNTHETIC}, or {SYNTHETIC}:{TRAIN},{TEST} for other numbers.")
    return int(found[1]), int(found[2])


def synthetic(train: int = TRAIN, test: int = TEST) -> Images:
    """`train` and `test` images of ten classes, in turn."""
    generator = torch.Generator().manual_seed(_SEED)
    cells = SIDE // _BLOCK
    half = torch.randint(0, 2, (_CLASSES, 3, cells, cells // 2), generator=generator)
    patterns = torch.cat([half, half.flip(-1)], dim=-1).mul(2 * _CONTRAST).add(128 - _CONTRAST)
    patterns = patterns.repeat_interleave(_BLOCK, dim=-2).repeat_interleave(_BLOCK, dim=-1)

    def made(count: int) -> tuple[Tensor, Tensor]:
        labels = torch.arange(count) % _CLASSES
        images = torch.randint(-_NOISE, _NOISE + 1, (count, 3, SIDE, SIDE), generator=generator, dtype=torch.int16)
        return images.add_(patterns[labels].to(torch.int16)).clamp_(0, 255).to(torch.uint8), labels

    return Images(
        *made(train),
        *made(test),
        classes=tuple(f"class {index}" for index in range(_CLASSES)),
        description=f"synthetic images ({train} training, {test} test, {_CLASSES} classes)",
    )
