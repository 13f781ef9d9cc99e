"""Training batches made on the device: nothing of the loader is left to be timed.

The order, the crops and the flips of an epoch are drawn on the CPU from (seed, epoch) alone, and go to
the device in one transfer. They are therefore equal in every arm, on every device, and under any number
of processes: with `world` of them, rank r takes every world-th sample of the same permutation, from
the r-th on, so that their batches of one step, interleaved, are the single process's batch of
`world` times the size, augmentation included.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from ..errors import UserError
from .images import SIDE, Images

MEAN = (0.4914, 0.4822, 0.4465)
"""Mean of CIFAR-10's training images by channel, red, green, blue, on a scale of 0 to 1."""
STD = (0.2470, 0.2435, 0.2616)
"""Their standard deviation."""
PADDING = 4
"""Black pixels on each side of an image before a crop of the old size is taken."""


@dataclass(frozen=True, eq=False)
class Draw:
    """What chance decides in one epoch, for each place of the permutation. All int64, N, on the CPU."""

    order: Tensor
    """Indices of training images."""
    top: Tensor
    """First row of the crop, 0 to 8, in the padded image."""
    left: Tensor
    """First column of the crop, 0 to 8."""
    flip: Tensor
    """1 where the crop is mirrored left to right."""


def draw(samples: int, seed: int, epoch: int) -> Draw:
    """The order and the augmentation of one epoch: a function of its arguments alone."""
    # Hashed, since neighbouring seeds and epochs would otherwise share generators: seed 0 epoch 1, seed 1 epoch 0.
    digest = hashlib.sha256(f"{seed} {epoch}".encode()).digest()
    generator = torch.Generator().manual_seed(int.from_bytes(digest[:4], "little"))
    places = 2 * PADDING + 1
    return Draw(
        order=torch.randperm(samples, generator=generator),
        top=torch.randint(places, (samples,), generator=generator),
        left=torch.randint(places, (samples,), generator=generator),
        flip=torch.randint(2, (samples,), generator=generator),
    )


class Batches:
    """Batches of one data set, for one process.

    `batch` is the number of samples of this process; `steps` cuts the epochs short. Raises UserError
    where the training images are fewer than one batch in all processes together.
    """

    def __init__(
        self,
        images: Images,
        batch: int,
        seed: int,
        device: torch.device,
        *,
        rank: int = 0,
        world: int = 1,
        steps: int | None = None,
    ) -> None:
        self.train_samples = len(images.train_labels)
        self.test_samples = len(images.test_labels)
        self.description = images.description
        whole = self.train_samples // (batch * world)
        if whole == 0:
            raise UserError(
                f"The data have {self.train_samples} training images, fewer than the {batch * world} of one batch: "
                "choose a smaller batch or more data."
            )
        self.steps_per_epoch = whole if steps is None else min(steps, whole)
        self._batch, self._seed, self._rank, self._world = batch, seed, rank, world
        self._device = device
        self._padded = functional.pad(images.train_images.to(device), (PADDING,) * 4)
        self._labels = images.train_labels.to(device)
        self._test_images = images.test_images.to(device)
        self._test_labels = images.test_labels.to(device)
        self._mean, self._std = (torch.tensor(v, device=device).mul_(255).view(1, 3, 1, 1) for v in (MEAN, STD))
        self._channels = torch.arange(3, device=device).view(1, 3, 1, 1)
        self._pixels = torch.arange(SIDE, device=device)

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The batches of epoch `number`, 1 for the first: float32 batchx3x32x32 and int64 batch, on the device.

        A last batch that would not be full is left out.
        """
        drawn = draw(self.train_samples, self._seed, number)
        own = torch.stack([drawn.order, drawn.top, drawn.left, drawn.flip])[:, self._rank :: self._world]
        own = own[:, : self.steps_per_epoch * self._batch].contiguous()
        if self._device.type == "cuda":
            own = own.pin_memory()
        own = own.to(self._device, non_blocking=True)
        for start in range(0, own.shape[1], self._batch):
            index, top, left, flip = own[:, start : start + self._batch]
            yield self._augmented(index, top, left, flip), self._labels[index]

    def test(self, batch: int) -> Iterator[tuple[Tensor, Tensor]]:
        """All test images in their order, `batch` at a time, the last time as many as are left. Not sharded."""
        for start in range(0, self.test_samples, batch):
            yield (
                self._normalised(self._test_images[start : start + batch]),
                self._test_labels[start : start + batch],
            )

    def order_digest(self) -> str:
        """SHA-256 of the order and the augmentation of the first epoch, of all processes together."""
        drawn = draw(self.train_samples, self._seed, 1)
        digest = hashlib.sha256()
        for tensor in (drawn.order, drawn.top, drawn.left, drawn.flip):
            digest.update(tensor.numpy().astype("<i8").tobytes())
        return digest.hexdigest()

    def _augmented(self, index: Tensor, top: Tensor, left: Tensor, flip: Tensor) -> Tensor:
        """Crops of the padded images: one gather, in which a mirrored crop reads its columns from the right."""
        rows = top[:, None] + self._pixels
        columns = left[:, None] + torch.where(flip[:, None].bool(), SIDE - 1 - self._pixels, self._pixels)
        crops = self._padded[
            index[:, None, None, None], self._channels, rows[:, None, :, None], columns[:, None, None, :]
        ]
        return self._normalised(crops)

    def _normalised(self, images: Tensor) -> Tensor:
        return images.to(torch.float32).sub_(self._mean).div_(self._std)
