"""What a project takes from an index of packages: the packages of which it asks for a version."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress

from .reading import read

_SAY_SO = ("setup.py", "setup.cfg", "pyproject.toml", "requirements.txt", "requirement.txt", "environment.yml")
_VERSION = rb"""[ \t]*(?:[=<>~!]=|[=<>])\s*["']?\d"""
_PINNED = re.compile(
    rb"""(?:^|["'-])[ \t]*([A-Za-z][\w.-]{0,80}?)[ \t]{0,40}(?:\[[\w, -]{0,200}\])?""" + _VERSION, re.MULTILINE
)


class Requirements:
    """What the projects of a tree ask for, read once each."""

    def __init__(self) -> None:
        self._of: dict[str, frozenset[str]] = {}

    def pin(self, package: str, folder: str, apart: str) -> bool:
        """Whether a project around ``folder`` asks for a version of ``package``, and ``apart`` lies in none of it: such
        a project is not run with what another one of the tree has under that name (a copy with changes of its own)."""
        return any(package in self._asked_for(one) for one in _around(folder, apart))

    def _asked_for(self, folder: str) -> frozenset[str]:
        if folder not in self._of:
            self._of[folder] = frozenset(_pinned(folder))
        return self._of[folder]


def _around(folder: str, apart: str) -> Iterator[str]:
    """The folders around one that are not around the other."""
    shared = os.path.commonpath([folder, apart])
    while folder != shared:
        yield folder
        folder = os.path.dirname(folder)


def _pinned(folder: str) -> Iterator[str]:
    for name in _SAY_SO:
        with suppress(OSError):  # it is not there, or no file, or larger than any is
            for package in _PINNED.findall(read(os.path.join(folder, name))):
                yield package.decode().replace("-", "_")
