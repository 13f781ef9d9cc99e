"""Decoding once: the images of a source, kept in one file that loads at once.

The file lies in `$XDG_CACHE_HOME/apex2native` (else `~/.cache/apex2native`). Its name holds a digest of
the folder's absolute path and of the name, size and time of change of every file in it, so that a
changed folder is decoded anew.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import secrets
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from ..errors import UserError
from . import cifar10, image_folder, synthetic
from .images import Images, Progress, Source

_FORMAT = 1
"""Part of the digest: another one makes every older file unused."""


def default_cache() -> Path:
    """The folder of decoded images where none is named."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "apex2native"


def prepare(source: str, cache: Path | None = None, *, progress: Progress | None = None) -> Path | None:
    """The file with the decoded images of `source`, made now if there is none; None for synthetic images.

    `source` is `synthetic`, a folder with CIFAR-10's own files (or `cifar-10-batches-py` itself), or an
    image folder. `cache` is the folder the file lies in. `progress` is called while images are decoded, in
    this thread. Raises UserError with one sentence for a source that is none of these.
    """
    if synthetic.sizes(source) is not None:
        return None
    folder = Path(source).expanduser().absolute()
    try:
        found = _find(folder)
        target = (cache or default_cache()).expanduser().absolute() / f"{folder.name[:40]}-{_digest(found)[:16]}.pt"
        if target.exists():
            return target
        images = _described(found.read(progress))
    except OSError as error:
        raise UserError(f"The data in {folder} cannot be read ({error}).") from error
    _write(images, target)
    return target


def recognise(source: str) -> None:
    """Raise UserError with one sentence for a source that is no synthetic one and no folder of images. Decodes
    nothing."""
    if synthetic.sizes(source) is not None:
        return
    folder = Path(source).expanduser().absolute()
    try:
        _find(folder)
    except OSError as error:
        raise UserError(f"The data in {folder} cannot be read ({error}).") from error


def load(source: str, cache: Path | None = None) -> Images:
    """The images of `source`, decoded now if they never were. They are mapped into memory, not read.

    `cache` is the folder of decoded images, or the very file that `prepare` returned: then the source is
    not looked at again. Raises UserError as `prepare` does, and for a file that cannot be read.
    """
    if (numbers := synthetic.sizes(source)) is not None:
        return synthetic.synthetic(*numbers)
    file = cache if cache is not None and cache.is_file() else prepare(source, cache)
    assert file is not None
    try:
        stored: dict[str, Any] = torch.load(file, mmap=True, weights_only=True)
        return Images(**{**stored, "classes": tuple(stored["classes"])})
    except (OSError, RuntimeError, ValueError, TypeError, KeyError, EOFError, pickle.UnpicklingError) as error:
        raise UserError(f"The decoded images in {file} cannot be read: delete that file and run again.") from error


def _find(folder: Path) -> Source:
    if not folder.exists():
        raise UserError(f"The data folder {folder} does not exist.")
    if not folder.is_dir():
        raise UserError(f"{folder} is a file: the data have to be a folder.")
    if not any(folder.iterdir()):
        raise UserError(f"The data folder {folder} is empty.")
    found = cifar10.find(folder) or image_folder.find(folder)
    if found is None:
        raise UserError(
            f"{folder} holds no data that is known: it needs CIFAR-10's own files (cifar-10-batches-py), "
            "or images as train/CLASS/*.jpg and test/CLASS/*.jpg."
        )
    return found


def _digest(source: Source) -> str:
    digest = hashlib.sha256(f"{_FORMAT}\n{source.folder}\n".encode())
    for file in source.files:
        status = file.stat()
        digest.update(f"{file.relative_to(source.folder)}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _described(images: Images) -> Images:
    """With the numbers and a digest of the content, which no record of a path can stand for."""
    digest = hashlib.sha256()
    for tensor in (images.train_images, images.train_labels, images.test_images, images.test_labels):
        digest.update(tensor.contiguous().numpy().data)
    return replace(
        images,
        description=f"{images.description} ({len(images.train_labels)} training, {len(images.test_labels)} test, "
        f"{len(images.classes)} classes, SHA-256 {digest.hexdigest()[:12]})",
    )


def _write(images: Images, target: Path) -> None:
    """Atomic: a reader finds the whole file or none, also where two processes write it at once."""
    content = io.BytesIO()  # in memory first: torch's own writer turns a full disk into a message no one can read
    torch.save({**vars(images), "classes": list(images.classes)}, content)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content.getbuffer())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise UserError(
            f"The decoded images cannot be written to {target.parent} ({error.strerror}): "
            "make room, or set XDG_CACHE_HOME to a folder that can be written."
        ) from error
    except BaseException:  # an interruption
        temporary.unlink(missing_ok=True)
        raise
