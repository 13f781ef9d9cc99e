"""The plain data that the stages of a migration hand to each other.

Nothing in here holds a syntax node or knows about files: spans, names and decisions only,
so that results travel between processes and are compared in tests.
Lines are counted from 1, columns and offsets from 0, in characters of the decoded text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from .facts.elsewhere import NOWHERE, Elsewhere


class Applicability(str, Enum):
    """How much of a unit's migration is proved; a unit is as good as its worst site."""

    SAFE = "safe"
    REVIEW = "review"
    MANUAL = "manual"

    @property
    def rank(self) -> int:
        return ("safe", "review", "manual").index(self.value)


class Importable(str, Enum):
    """Who may import a file's names beside the tree that it is in."""

    NOWHERE = "nowhere"  # nobody: it is a script's, or a script
    LISTED = "listed"  # of a package that nothing in the tree runs: whoever has it, what the package hands on
    ALL = "all"  # of one that is installed: whoever has it, any name


def worst(*found: Applicability) -> Applicability:
    """The worst of several applicabilities; safe where there is none."""
    return max(found, key=lambda one: one.rank, default=Applicability.SAFE)


class Severity(str, Enum):
    """What a finding asks for: work by hand, a look, or nothing."""

    MANUAL = "manual"
    REVIEW = "review"
    INFO = "info"


@dataclass(frozen=True)
class Settings:
    """What the user chose, from the command line and ``[tool.apex2native]``."""

    dtype: Literal["float16", "bfloat16"] = "float16"
    device_type: str = "cuda"
    target_torch: tuple[int, int] = (2, 4)
    eval: Literal["autocast", "fp32"] = "autocast"
    safe_only: bool = False
    keep_fused: bool = False


@dataclass(frozen=True)
class Outside:
    """What files outside of its program have to do with one file.

    ``exported`` are names that other files import from it (``*``: all). ``spelled`` says whether one of them reads an
    attribute called ``amp``, ``scalers`` which attributes with `scaler` in their names they have, ``elsewhere``
    what those that it imports make of networks. ``later`` is one that it imports which may run a model in another
    thread or in a generator. ``counted``: one that runs in its process asks groups of parameters for the step
    that Apex's Adam counted there; ``spoken`` is what such files ask objects (``name``, ``name=`` where it is set) and
    groups of parameters (``"name"``) for of what Apex's optimizers had; ``*`` where one hands optimizers on."""

    exported: frozenset[str] = frozenset()
    spelled: bool = True
    scalers: frozenset[str] = frozenset()
    elsewhere: Elsewhere = field(default=NOWHERE, hash=False)
    later: str | None = None
    counted: bool = False
    spoken: frozenset[str] = frozenset()
    switched: frozenset[str] = frozenset()  # names and attributes that say "apex", and are set in files near this
    own: frozenset[str] = frozenset()  # the dotted names of its imports that lead to files of the tree
    importable: Importable = Importable.NOWHERE  # who may import from here whose calls are not in the tree
    packaged: frozenset[str] = frozenset()  # names that the `__init__` of a package takes from here
    uncast: frozenset[str] = frozenset()  # names that programs without amp take from here, and run without casts
    unread: frozenset[str] = frozenset()  # of `amp` and `apex` what nobody reads who takes all from here by a star


ALONE = Outside()


class Leads(Enum):
    """Who initializes the amp of a program that does not do so itself."""

    UNKNOWN = "unknown"
    MIGRATED = "migrated"  # others, all of which are migrated: what is cast here goes with them
    NOBODY = "nobody"  # nobody who is known, and nothing else of the tree needs Apex's amp


@dataclass(frozen=True)
class Standing:
    """What became of the other programs of a tree, for one that is looked at anew because of it.

    ``stays`` says why its units do: a file of its process that could not be put together with it still needs Apex."""

    leads: Leads = Leads.UNKNOWN
    stays: str | None = None
    answered: bool = False  # who asks here whether Apex's amp is there may be told that it is: nobody needs it any more
    scattered: bool = False  # no import joins the files of this program: a library's runner does


UNSETTLED = Standing()


@dataclass(frozen=True)
class FileText:
    """One file of a program: its text (decoded, without BOM, newlines as they are) under the name that reports give it.

    ``links`` say which files of the program (by number) the dotted names that it imports lead to."""

    text: str
    name: str = ""
    outside: Outside = ALONE
    links: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """One place that was (or, in a dry run, would be) rewritten. Lines are those of the old text."""

    rule: str
    unit: int | None
    line: int
    end_line: int
    applicability: Applicability
    message: str
    cell: int | None = None


@dataclass(frozen=True)
class Finding:
    """Something the user has to know. ``lines`` are further places with the same words."""

    rule: str
    severity: Severity
    line: int
    end_line: int
    message: str
    unit: int | None = None
    suggestion: str | None = None
    lines: tuple[int, ...] = ()
    cell: int | None = None


# ---------------------------------------------------------------- edits by position


@dataclass(frozen=True)
class Replace:
    """Characters ``start`` to ``end`` (offsets into the old text) become ``text``.

    Offsets are half-open; an insertion has ``start == end``. Replacements never overlap.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class DeleteLines:
    """Whole lines ``first`` to ``last`` (both included) go."""

    first: int
    last: int


@dataclass(frozen=True)
class InsertLines:
    """New whole lines before line ``before`` (one past the last line appends at the end).

    ``lines`` carry their own indentation, as it would be if nothing were reindented;
    ``inside`` says whether a `Reindent` that begins at ``before`` (or, with ``after_previous``,
    one that ends at the line above) moves them too.
    """

    before: int
    lines: tuple[str, ...]
    inside: bool = True
    after_previous: bool = False


@dataclass(frozen=True)
class Reindent:
    """Lines ``first`` to ``last`` that begin with ``old`` begin with ``new`` instead.

    Lines that start inside a string literal, blank lines and lines with less indentation
    (hanging parentheses, a comment at the margin) stay as they are. Ranges nest or are
    disjoint; they never cross.
    """

    first: int
    last: int
    old: str
    new: str


Edit = Replace | DeleteLines | InsertLines | Reindent


# ---------------------------------------------------------------- results


@dataclass(frozen=True)
class UnitSummary:
    """A training unit as the report counts it."""

    number: int
    applicability: Applicability
    line: int


class Waits(Enum):
    """What a file needs amp for."""

    TRAINING = "training"  # a unit that stays, or what has no counterpart
    CASTS = "casts"  # there is no unit, and all are casts that can be rewritten
    STATE = "state"  # there is no unit, and amp's state is saved and loaded
    SCALES = "scales"  # a class that scales what it is called with


@dataclass(frozen=True)
class Need:
    """The first line of a file that still needs amp to be initialized, and what of its program is left of amp."""

    line: int
    waits: Waits = Waits.TRAINING


@dataclass(frozen=True)
class ModuleResult:
    """What became of one module's text. ``new_text`` is None where nothing changes."""

    new_text: str | None
    changes: tuple[Change, ...] = ()
    findings: tuple[Finding, ...] = ()
    units: tuple[UnitSummary, ...] = ()
    parsed: bool = True
    needs: Need | None = None  # amp, which has to be initialized for it, here or in another file
    asks: bool = False  # amp is imported, if at all, to ask whether it is there
    origin: tuple[int, ...] = ()  # for each line of the new text, the one of the old that it came from


TOGETHER = "the units of a file are migrated together"  # said of a unit that stays for another one's sake


def by_hand(results: Iterable[ModuleResult | FileResult]) -> bool:
    """Whether a unit of a program is left by hand."""
    return any(unit.applicability is Applicability.MANUAL for one in results for unit in one.units)


@dataclass(frozen=True)
class FileResult:
    """What became of one file of the tree. ``path`` is as the report prints it."""

    path: str
    status: Literal["changed", "unchanged", "unparseable"]
    changes: tuple[Change, ...] = ()
    findings: tuple[Finding, ...] = ()
    units: tuple[UnitSummary, ...] = ()
    needs: Need | None = None  # amp, which has to be initialized for it, here or in another file
    asks: bool = False  # amp is imported, if at all, to ask whether it is there
    old: bytes = field(default=b"", repr=False)
    new: bytes | None = field(default=None, repr=False)
