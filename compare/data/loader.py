"""Training batches as a user's pipeline makes them: `DataLoader` over JPEG files, decoded and augmented on the CPU.

`batches.Batches` keeps all of this out of a step on purpose. Here it is part of one: worker processes decode, crop,
flip and normalise each image, batches are pinned and copied without waiting. What chance decides is drawn from seed
and epoch alone, the order as for `Batches`, the augmentation from a seed for each image: equal in every arm, whatever
the number of workers.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler
from torchvision.transforms import v2

from ..cores import loader_workers
from ..errors import UserError
from ..home import SCRATCH
from .batches import MEAN, PADDING, STD, draw
from .images import SIDE, Images
from .jpeg import QUALITY, Jpegs, encoded

PREFETCH = 2
"""Batches that each worker makes in advance: torch's own number."""

Key = tuple[int, int]
"""Index of an image, and the seed of its augmentation."""


class Augmented(Dataset[tuple[Tensor, int]]):
    """Training images as float32 3x32x32, decoded and augmented when they are asked for."""

    def __init__(self, files: Jpegs, labels: Tensor) -> None:
        self._files, self._labels = files, labels
        self._transform = v2.Compose(
            [v2.RandomCrop(SIDE, padding=PADDING), v2.RandomHorizontalFlip(), *_normalised()],
        )

    def __getitem__(self, key: Key) -> tuple[Tensor, int]:
        index, seed = key
        # The worker's own generator, which the transforms draw from. `torch.manual_seed` would queue a call for CUDA
        # at every image.
        torch.default_generator.manual_seed(seed)
        return self._transform(self._files.decoded(index)), int(self._labels[index])


class Plain(Dataset[tuple[Tensor, int]]):
    """Test images as float32 3x32x32."""

    def __init__(self, files: Jpegs, labels: Tensor) -> None:
        self._files, self._labels = files, labels
        self._transform = v2.Compose(_normalised())

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        return self._transform(self._files.decoded(index)), int(self._labels[index])


def _normalised() -> list[v2.Transform]:
    return [v2.ToDtype(torch.float32, scale=True), v2.Normalize(list(MEAN), list(STD))]


class Order(Sampler[Key]):
    """The keys of an epoch for one process: `batch` times `steps` of every `world`-th place of the permutation."""

    def __init__(self, samples: int, seed: int, count: int, rank: int, world: int) -> None:
        self.epoch = 1
        self._samples, self._seed, self._count, self._rank, self._world = samples, seed, count, rank, world

    def __iter__(self) -> Iterator[Key]:
        order, seeds = (part[self._rank :: self._world][: self._count] for part in self.drawn(self.epoch))
        return zip(order.tolist(), seeds.tolist(), strict=True)

    def __len__(self) -> int:
        return self._count

    def drawn(self, epoch: int) -> tuple[Tensor, Tensor]:
        """Order and seeds of all processes together, int64."""
        digest = hashlib.sha256(f"{self._seed} {epoch} augmentation".encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest[:4], "little"))
        seeds = torch.randint(2**62, (self._samples,), generator=generator)
        return draw(self._samples, self._seed, epoch).order, seeds


class LoadedBatches:
    """Batches of one data set, for one process, from worker processes that live until `close`.

    `batch` is the number of samples of this process; `steps` cuts the epochs short. Raises UserError where the
    training images are fewer than one batch in all processes together. One epoch is drawn at a time: to begin another
    ends the one before.
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
        workers: int | None = None,
    ) -> None:
        self.train_samples = len(images.train_labels)
        self.test_samples = len(images.test_labels)
        whole = self.train_samples // (batch * world)
        if whole == 0:
            raise UserError(
                f"The data have {self.train_samples} training images, fewer than the {batch * world} of one batch: "
                "choose a smaller batch or more data."
            )
        self.steps_per_epoch = whole if steps is None else min(steps, whole)
        self.workers = workers or loader_workers(int(os.environ.get("LOCAL_WORLD_SIZE", "1")))  # torchrun's
        self.ahead = PREFETCH * self.workers
        """Batches that lie ready when nobody has waited for one for a while."""
        self.description = f"{images.description}, as JPEG (quality {QUALITY}) in memory, {self.workers} loader workers"
        self._device = device
        self._order = Order(self.train_samples, seed, self.steps_per_epoch * batch, rank, world)
        self._test = Plain(encoded(images.test_images), images.test_labels)
        # A user's script leaves the start method to Python, and so does this one.
        self._loader: DataLoader[tuple[Tensor, int]] | None = DataLoader(
            Augmented(encoded(images.train_images), images.train_labels),
            batch_size=batch,
            sampler=self._order,
            num_workers=self.workers,
            prefetch_factor=PREFETCH,
            persistent_workers=True,
            pin_memory=device.type == "cuda",
            worker_init_fn=_in_scratch,
            generator=torch.Generator().manual_seed(seed),
        )

    def epoch(self, number: int) -> Iterator[tuple[Tensor, Tensor]]:
        """The batches of epoch `number`, 1 for the first: float32 batchx3x32x32 and int64 batch, on the device."""
        if self._loader is None:
            raise ValueError("the loader was closed")
        self._order.epoch = number
        yield from map(self._moved, self._loader)

    def test(self, batch: int) -> Iterator[tuple[Tensor, Tensor]]:
        """All test images in their order, `batch` at a time, the last time as many as are left. Not sharded."""
        pinned = self._device.type == "cuda"
        loader = DataLoader(self._test, batch, num_workers=self.workers, pin_memory=pinned, worker_init_fn=_in_scratch)
        yield from map(self._moved, loader)

    def order_digest(self) -> str:
        """SHA-256 of the order and the augmentation's seeds in the first epoch, of all processes together."""
        digest = hashlib.sha256()
        for tensor in self._order.drawn(1):
            digest.update(tensor.numpy().astype("<i8").tobytes())
        return digest.hexdigest()

    def close(self) -> None:
        """End the workers. What was drawn stays valid."""
        # The loader's iterator ends them when nothing refers to it any more.
        self._loader = None

    def _moved(self, batch: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        images, labels = batch
        return images.to(self._device, non_blocking=True), labels.to(self._device, non_blocking=True)


def _in_scratch(worker: int) -> None:
    """In a worker: its temporary files lie where they are removed with the task.

    It hands out its batches through a socket in a temporary folder, and leaves that behind where it is killed.
    """
    folder = os.environ.get(SCRATCH)
    if folder:
        tempfile.tempdir = folder
