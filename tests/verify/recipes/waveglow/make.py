"""Eight sounds of a tenth of a second."""

import wave
from pathlib import Path

import numpy

made = numpy.random.default_rng(0)
names = [f"{number}.wav" for number in range(8)]
for name in names:
    with wave.open(name, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(22050)
        sound.writeframes(made.normal(0, 3000, 2400).astype("<i2").tobytes())
Path("train_files.txt").write_text("\n".join(names) + "\n")
