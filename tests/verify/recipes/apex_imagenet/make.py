"""Sixteen pictures of noise."""

from pathlib import Path

import numpy
from PIL import Image

made = numpy.random.default_rng(0)
for split, count in (("train", 6), ("val", 2)):
    for kind in ("a", "b"):
        folder = Path("data", split, kind)
        folder.mkdir(parents=True)
        for number in range(count):
            pixels = made.integers(0, 256, (64, 80, 3), dtype=numpy.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")
