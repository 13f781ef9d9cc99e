"""CIFAR-10 as its author publishes it: seven pickled files in `cifar-10-batches-py`.

The files are unpickled only after their checksums were found right, since a pickle can run code.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torchvision.datasets import CIFAR10
from torchvision.datasets.utils import check_integrity

from ..errors import UserError
from .images import Images, Progress, Source

_TIMEOUT = 60.0
"""Seconds without an answer after which a download is given up; without it a blocked network hangs for ever."""


def find(folder: Path) -> Source | None:
    """The source in `folder`, or None if it holds nothing of CIFAR-10's own files.

    `folder` is `cifar-10-batches-py` itself, by whatever name, or the folder it lies in. Raises UserError
    for a copy that is incomplete or damaged.
    """
    checksums = _checksums()
    for home in (folder / CIFAR10.base_folder, folder):
        if not any((home / name).is_file() for name in checksums):
            continue
        missing = [name for name in checksums if not (home / name).is_file()]
        if missing:
            raise UserError(f"CIFAR-10 in {home} is incomplete: {missing[0]} is missing.")
        return Source(home, tuple(home / name for name in checksums), partial(_read, home))
    return None


def download(root: str | Path) -> Path:
    """Download CIFAR-10 into the folder `root`, unless it is there already, and return `root`.

    torchvision checks the archive and each file in it. Raises UserError where it cannot be had.
    """
    root = Path(root).expanduser().absolute()
    try:
        with _timeout(_TIMEOUT):
            CIFAR10(str(root), download=True)
    except (OSError, HTTPException, RuntimeError) as error:
        # Network, disk and checksum: most of urllib's are OSErrors, torchvision's RuntimeErrors.
        raise UserError(
            f"CIFAR-10 could not be downloaded to {root} ({str(error).rstrip('.')}): "
            "name a folder that holds it with DATA=folder, or DATA=synthetic for made-up images."
        ) from error
    return root


def _checksums() -> dict[str, str]:
    """MD5 of each file that a copy consists of."""
    return dict([*CIFAR10.train_list, *CIFAR10.test_list, (CIFAR10.meta["filename"], CIFAR10.meta["md5"])])


def _read(home: Path, progress: Progress | None) -> Images:
    for name, checksum in _checksums().items():
        if not check_integrity(str(home / name), checksum):
            raise UserError(f"{home / name} is damaged (its checksum is not that of CIFAR-10): fetch it anew.")

    class Here(CIFAR10):  # type: ignore[misc]
        base_folder = home.name

    train, test = (Here(str(home.parent), train=train) for train in (True, False))
    if progress is not None:
        progress(len(train) + len(test), len(train) + len(test))
    return Images(
        *_tensors(train),
        *_tensors(test),
        classes=tuple(train.classes),
        description="CIFAR-10, its own files",
    )


def _tensors(part: Any) -> tuple[Tensor, Tensor]:
    images = torch.from_numpy(part.data).permute(0, 3, 1, 2).contiguous()
    return images, torch.tensor(part.targets, dtype=torch.int64)


@contextmanager
def _timeout(seconds: float) -> Iterator[None]:
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
