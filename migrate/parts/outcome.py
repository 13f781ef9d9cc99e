"""What a rule decides about one use of a part of Apex."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ..model import Severity
from ..rules.common import Work
from ..units.unit import Context
from .sites import Site


@dataclass(frozen=True)
class Native:
    """What stands in the place of one use: ``name`` is torch's.

    ``parameters`` are those of Apex's function, ``positional`` those of torch's in order. ``text``, where it is given,
    is what the whole call becomes. ``review`` names a difference, ``info`` something worth knowing."""

    name: str
    parameters: Sequence[str] = ()
    positional: Sequence[str] = ()
    drop: Sequence[str] = ()
    add: Sequence[str] = ()
    text: str | None = None
    spelled: str | None = None  # an expression in the place of the name
    definition: Sequence[str] = ()  # of ``name``, where the file gets one of its own
    template: tuple[str, str] | None = None  # the module and the class that ``definition`` is made of
    said: str = ""
    review: str | None = None
    info: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)  # what becomes of ``**options`` that are handed on
    alias: bool = True  # whether a name of the file's own for Apex's fits torch's as well


@dataclass(frozen=True)
class Stays:
    """Why a use stays, and what to write in its place."""

    message: str
    suggestion: str | None = None
    severity: Severity = Severity.MANUAL


Decide = Callable[[Context, Work, Site], "Native | Stays"]
