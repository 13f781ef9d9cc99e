"""Eight spectrograms with a word each."""

from pathlib import Path

import numpy

made = numpy.random.default_rng(0)
lines = []
for number in range(8):
    numpy.save(f"{number}.npy", made.normal(0, 1, (8, 6 + number % 3)).astype("f4"))
    lines.append(f"{number}.npy|some words {'abcdefgh'[number]}")
Path("train.txt").write_text("\n".join(lines) + "\n")
Path("val.txt").write_text("\n".join(lines[:2]) + "\n")
