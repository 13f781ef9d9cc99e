"""The numbers of training units.

Programs are solved in processes of their own, and each counts its units from 1 on. Where several are told of together
those of the later ones follow; over the whole tree that is when all are there, in the order of the files' names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from .model import Change, FileResult, Finding, ModuleResult
from .outcome import Analysed

Result = TypeVar("Result", ModuleResult, FileResult)
_OfUnit = TypeVar("_OfUnit", Change, Finding)


def moved(result: Result, by: int) -> Result:
    """The same with units whose numbers are higher by so many."""
    return replace(
        result,
        changes=tuple(_moved(one, by) for one in result.changes),
        findings=tuple(_moved(one, by) for one in result.findings),
        units=tuple(replace(unit, number=unit.number + by) for unit in result.units),
    )


def _moved(item: _OfUnit, by: int) -> _OfUnit:
    return item if item.unit is None else replace(item, unit=item.unit + by)


def last(results: Iterable[ModuleResult | FileResult]) -> int:
    """The last number of a unit in the files of a program."""
    return max((unit.number for one in results for unit in one.units), default=0)


def numbered(files: Sequence[Analysed]) -> Iterator[Analysed]:
    """The files of a tree with units counted through all of them, and what is told of each in order."""
    programs: defaultdict[str, list[FileResult]] = defaultdict(list)
    for one in files:
        programs[one.program].append(one.result)
    numbers = 0
    begins: dict[str, int] = {}
    for one in files:
        yield replace(one, result=_in_order(moved(one.result, begins.get(one.program, numbers))))
        if not one.program:
            numbers += last([one.result])
        elif one.program not in begins:
            begins[one.program] = numbers
            numbers += last(programs[one.program])


def _in_order(result: FileResult) -> FileResult:
    changes, findings = sorted(result.changes, key=_place), sorted(result.findings, key=_place)
    return replace(result, changes=tuple(changes), findings=tuple(findings))


def _place(item: Change | Finding) -> tuple[int, int, int, str, str]:
    return (item.cell or 0, item.line, item.end_line, item.rule, item.message)
