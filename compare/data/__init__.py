"""The images: decoded once into one file, kept on the device, augmented there.

`prepare` decodes a source and returns its file, `load` returns the images of a source or of such a
file, `download` fetches CIFAR-10, and `batches.Batches` makes training batches of them.
"""

from __future__ import annotations

from .batches import Batches
from .cache import load, prepare
from .cifar10 import download
from .images import Images, Progress
from .synthetic import SYNTHETIC, synthetic

__all__ = ["SYNTHETIC", "Batches", "Images", "Progress", "download", "load", "prepare", "synthetic"]
