"""Six pairs of pictures."""

from pathlib import Path

import numpy
from PIL import Image

made = numpy.random.default_rng(0)
for side in ("A", "B"):
    folder = Path("made", f"train_{side}")
    folder.mkdir(parents=True)
    for number in range(6):
        Image.fromarray(made.integers(0, 256, (64, 64, 3), dtype=numpy.uint8)).save(folder / f"{number}.png")
