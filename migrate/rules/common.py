"""What every rule is handed, and how it reports."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum

from ..facts.module import Module
from ..model import Finding, Severity
from ..parts.sites import Sites
from ..plan.home.places import Parameter
from ..plan.plan import Plan
from ..plan.regions.marks import Region
from ..rewrite.draft import Draft
from ..rewrite.templates import Templates


class Stage(Enum):
    """When a rule's ``apply(subject, work)`` runs, in this order, and on what."""

    UNIT = "each unit that is rewritten; the subject is its plan"
    CASTS = "the file's casts, where their units are migrated; the subject is the file's context"
    FILE = "the file, whatever became of its units; the subject is its context"
    PARTS = "the file, once amp is settled in it: Apex's other parts; the subject is its context"
    TIDY = "the file, once it is known what goes; the subject is its context"
    REPORT = "findings only, once the text is settled; the subject is the file's context"
    TOOL = "never: what the tool says about itself and about files, where there is nothing to apply"


@dataclass(frozen=True)
class Noted:
    """A place that a rule rewrote; the unit's applicability is added when the unit is done."""

    rule: str
    line: int
    end_line: int
    message: str
    review: bool = False  # one of a part that is no unit's, with a difference that is named


@dataclass(eq=False)
class Work:
    """One module's wishes and notes while its units are written."""

    m: Module
    draft: Draft
    templates: list[Templates]  # of each file
    noted: list[tuple[int | None, Noted]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    wrapped: set[ast.stmt] = field(default_factory=set)
    migrated: bool = False  # a unit of the file is rewritten
    flags: bool = False  # what held amp holds a flag now
    texts: tuple[str, ...] | None = None  # what becomes of each file, once that is settled
    untouched: str = ""  # why a use of amp that nothing names is still there
    sites: Sites | None = None  # of Apex's parts, once amp is settled
    defined: set[tuple[int, str]] = field(default_factory=set)  # classes that files (by number) got written out
    replaced: set[ast.expr] = field(default_factory=set)  # uses of theirs that are torch's now
    placed: dict[Region, Region | None] = field(default_factory=dict)  # what regions are beside those of other units
    made: dict[int, list[tuple[ast.stmt, list[str]]]] = field(default_factory=dict)  # scalers of units, by block
    handed: dict[tuple[ast.AST, str], Parameter] = field(default_factory=dict)  # by function and name, first come
    given: set[tuple[ast.Call, str]] = field(default_factory=set)  # calls that hand such a one on
    natives: dict[tuple[ast.stmt, ast.alias], str] = field(default_factory=dict)  # imports in the place of Apex's

    def native_lines(self, stmt: ast.stmt) -> list[str]:
        """What an import of Apex becomes, where torch's takes the place of all that is left of it."""
        names = stmt.names if isinstance(stmt, (ast.Import, ast.ImportFrom)) else []
        return [self.natives[stmt, alias] for alias in names if (stmt, alias) in self.natives]

    def native(self, node: ast.AST) -> Templates:
        """How native AMP is written in the file that a node stands in."""
        return self.templates[self.m.file(node).number]

    def note(self, unit: int | None, rule: str, node: ast.AST, message: str, *, review: bool = False) -> None:
        """Record that ``rule`` rewrote ``node``."""
        line = node.lineno  # type: ignore[attr-defined]
        self.noted.append((unit, Noted(rule, line, self.m.last_line(node), message, review)))

    def note_lines(self, unit: int | None, rule: str, first: int, last: int, message: str) -> None:
        """Record that ``rule`` rewrote a run of lines."""
        self.noted.append((unit, Noted(rule, first, last, message)))

    def note_header(
        self, unit: int | None, rule: str, node: ast.FunctionDef | ast.AsyncFunctionDef, message: str
    ) -> None:
        """Record that ``rule`` rewrote the header of a function."""
        last = max(node.lineno, node.body[0].lineno - 1)
        self.noted.append((unit, Noted(rule, node.lineno, last, message)))

    def find(
        self,
        unit: int | None,
        rule: str,
        severity: Severity,
        node: ast.AST,
        message: str,
        suggestion: str | None = None,
    ) -> None:
        """Record something the user has to know about ``node``."""
        line = node.lineno  # type: ignore[attr-defined]
        self.findings.append(
            Finding(rule, severity, line, self.m.last_line(node), message, unit=unit, suggestion=suggestion)
        )


__all__ = ["Noted", "Plan", "Stage", "Work"]
