"""Images as JPEG files in memory, so that decoding them costs what it costs a user."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torchvision.io import ImageReadMode, decode_jpeg, encode_jpeg

QUALITY = 95
"""Of 1 to 100. At 95 a file keeps what a network can learn from an image; the lower it is, the less there is to
decode."""


@dataclass(frozen=True, eq=False)
class Jpegs:
    """The files of many images. Two tensors, which worker processes share instead of copying them."""

    content: Tensor
    """uint8, all files one after another."""
    ends: Tensor
    """int64, N: where each of them ends."""

    def __len__(self) -> int:
        return len(self.ends)

    def decoded(self, index: int) -> Tensor:
        """uint8, 3 x height x width, RGB."""
        start = int(self.ends[index - 1]) if index else 0
        image: Tensor = decode_jpeg(self.content[start : int(self.ends[index])], ImageReadMode.RGB)
        return image


def encoded(images: Tensor) -> Jpegs:
    """The files of `images` (uint8, Nx3xHxW, RGB), N of one or more: about 25 microseconds each at 32x32."""
    files = [encode_jpeg(image, QUALITY) for image in images]
    lengths = torch.tensor([len(file) for file in files])
    return Jpegs(torch.cat(files), lengths.cumsum(0))
