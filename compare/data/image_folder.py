"""A folder of images, laid out as torchvision's ImageFolder reads it: `train/CLASS/*.jpg` and `test/CLASS/*.jpg`.

Classes are sorted by name, the images of a class too. An image is a .jpg, .jpeg or .png file; other
files are left alone, and so is everything whose name begins with a dot.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import torch
from PIL import Image, UnidentifiedImageError

from ..errors import UserError
from .images import SIDE, Images, Progress, Source

SPLITS = ("train", "test")

_SUFFIXES = (".jpg", ".jpeg", ".png")
_CHUNK = 256
"""Images one thread decodes at a time, and between two calls of `progress`."""
_THREADS = 8
"""Files wait for the disk side by side; decoding itself gains nothing from more than one thread."""

Listing = dict[str, list[Path]]
"""The images of each class of one split."""


def find(folder: Path) -> Source | None:
    """The source in `folder`, or None if it has neither `train` nor `test`.

    Raises UserError for a split or a class that is missing or empty, and for images where none belong.
    """
    present = [split for split in SPLITS if (folder / split).is_dir()]
    if not present:
        return None
    for split, other in (SPLITS, SPLITS[::-1]):
        if split not in present:
            raise UserError(f"{folder} has a folder {other} but no folder {split}: an image folder needs both.")
    train, test = (_listing(folder / split) for split in SPLITS)
    for classes, others, split, other in ((train, test, *SPLITS), (test, train, *SPLITS[::-1])):
        if alone := sorted(classes.keys() - others.keys()):
            raise UserError(
                f"The class {alone[0]} is in {folder / split} but not in {folder / other}: both need the same classes."
            )
    files = tuple(file for listing in (train, test) for found in listing.values() for file in found)
    return Source(folder, files, partial(_read, folder.name, train, test))


def _listing(split: Path) -> Listing:
    entries = _entries(split)
    if stray := next((entry for entry in entries if entry.is_file() and _is_image(entry)), None):
        raise UserError(f"{stray.path} lies in no class: an image folder is {split.name}/CLASS/*.jpg.")
    listing = {entry.name: _images(Path(entry.path)) for entry in entries if entry.is_dir()}
    if not listing:
        raise UserError(f"{split} holds no folder: an image folder is {split.name}/CLASS/*.jpg.")
    return listing


def _images(folder: Path) -> list[Path]:
    entries = _entries(folder)
    if deeper := next((entry for entry in entries if entry.is_dir()), None):
        raise UserError(f"{deeper.path} is a folder inside a class: the images have to lie in {folder} itself.")
    found = [Path(entry.path) for entry in entries if _is_image(entry)]
    if not found:
        raise UserError(f"The class {folder} is empty: it holds no .jpg or .png image.")
    return found


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda entry: entry.name)


def _is_image(entry: os.DirEntry[str]) -> bool:
    return entry.name.lower().endswith(_SUFFIXES)


def _read(name: str, train: Listing, test: Listing, progress: Progress | None) -> Images:
    files = [[file for found in listing.values() for file in found] for listing in (train, test)]
    pixels = torch.from_numpy(_decode([*files[0], *files[1]], progress))
    labels = [
        torch.repeat_interleave(torch.tensor([len(found) for found in listing.values()])) for listing in (train, test)
    ]
    return Images(
        train_images=pixels[: len(files[0])],
        train_labels=labels[0],
        test_images=pixels[len(files[0]) :],
        test_labels=labels[1],
        classes=tuple(train),
        description=f"image folder {name}",
    )


def _decode(files: Sequence[Path], progress: Progress | None) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """uint8, filesx3x32x32."""
    pixels = np.empty((len(files), 3, SIDE, SIDE), dtype=np.uint8)

    def chunk(start: int) -> int:
        part = files[start : start + _CHUNK]
        for index, file in enumerate(part, start):
            pixels[index] = _image(file)
        return start + len(part)

    with ThreadPoolExecutor(_THREADS) as threads:
        # In order: of several bad images it is always the first that is named.
        for done in threads.map(chunk, range(0, len(files), _CHUNK)):
            if progress is not None:
                progress(done, len(files))
    return pixels


def _image(file: Path) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """uint8, 3x32x32."""
    try:
        with Image.open(file) as image:
            if image.mode != "RGB" or image.size != (SIDE, SIDE):
                width, height = image.size
                raise UserError(f"{file} is {width}x{height} {image.mode}: every image has to be {SIDE}x{SIDE} RGB.")
            return np.asarray(image).transpose(2, 0, 1)
    # Pillow raises SyntaxError and ValueError too for some damaged files.
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        why = "no image Pillow knows" if isinstance(error, UnidentifiedImageError) else str(error)
        raise UserError(f"{file} cannot be read as an image ({why}): replace or remove it.") from error
