"""What has to be written so that each function reaches its scaler: plain data."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ...facts.scopes import Scope
from ...facts.sites import Initialize
from ...units.conditions import Term
from ..schedule import Scaler


@dataclass(frozen=True, eq=False)
class Place:
    """A home: a variable of ``scope``, or an attribute of the instances of ``owner``."""

    scope: Scope | None = None
    owner: ast.ClassDef | None = None

    @property
    def key(self) -> object:
        return self.scope if self.scope is not None else self.owner


@dataclass(eq=False)
class Creation:
    """Statements that make a scaler, before or after ``anchor``; ``text`` is how they name it."""

    scaler: Scaler
    anchor: ast.stmt
    text: str
    enabled: Term
    globals: ast.Global | None = None
    before: bool = False  # the anchor itself needs the scaler
    init: Initialize | None = None  # the one whose options it has; None: all of the unit's together
    method: str = ""  # the header of a constructor that the class does not have yet
    renamed: dict[str, str] = field(default_factory=dict)  # texts of the static scale as they read here


@dataclass(frozen=True)
class Outside:
    """What becomes of calls that are not in the tree, which do not hand the scaler on: each has to (``required``), or
    the function does without; ``asked`` is how it says that mixed precision is asked for, where it can."""

    required: bool
    asked: str = ""
    told: bool = False  # somebody else says so


@dataclass(eq=False)
class Parameter:
    """A function takes the scaler behind parameter ``after`` (None: as its last), and its calls hand it on. One that is
    called from outside of the tree, too, takes it as its last in any case."""

    function: Scope
    after: str | None
    name: str
    outside: Outside | None = None
    calls: dict[ast.Call, str] = field(default_factory=dict)

    @property
    def behind(self) -> str | None:
        """The parameter that it is written behind; None: as the last."""
        return self.after if self.outside is None else None


@dataclass(eq=False)
class Homes:
    """All that has to be written so that every function reaches its scaler."""

    creations: list[Creation] = field(default_factory=list)
    parameters: list[Parameter] = field(default_factory=list)
    owners: list[ast.ClassDef] = field(default_factory=list)  # classes whose objects hold one
    kept: list[tuple[ast.stmt, str]] = field(default_factory=list)  # what keeps a scaler that it is handed
    slots: list[tuple[ast.Tuple | ast.List, str]] = field(default_factory=list)  # ``__slots__`` and a name to add
