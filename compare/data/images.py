"""What every source of images comes down to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

SIDE = 32
"""Height and width of every image."""

Progress = Callable[[int, int], None]
"""Called with the images decoded so far and the images in all."""


@dataclass(frozen=True, eq=False)
class Images:
    """A data set in memory. N and M are the numbers of training and of test images."""

    train_images: Tensor
    """uint8, Nx3x32x32, RGB."""
    train_labels: Tensor
    """int64, N, an index into `classes`."""
    test_images: Tensor
    """uint8, Mx3x32x32, RGB."""
    test_labels: Tensor
    """int64, M."""
    classes: tuple[str, ...]
    description: str
    """One line for the record: what it is, how many images, and the start of the SHA-256 of its content."""


@dataclass(frozen=True)
class Source:
    """A folder that was recognised, not decoded yet."""

    folder: Path
    files: tuple[Path, ...]
    """Every file that is read, in a fixed order: what the images depend on."""
    read: Callable[[Progress | None], Images]
    """Decodes them; raises UserError where one is not what it should be."""
