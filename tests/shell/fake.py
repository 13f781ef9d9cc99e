"""An engine that is easy to foretell, and the command line around it.

``python -m tests.shell.fake ARGUMENTS`` is ``apex2native ARGUMENTS`` with that engine. A line
``import apex`` becomes ``import torch``, one unit each; some words make it misbehave.
"""

from __future__ import annotations

import ast
import os
import sys

from migrate.cli import main
from migrate.model import (
    ALONE,
    UNSETTLED,
    Applicability,
    Change,
    Finding,
    ModuleResult,
    Outside,
    Settings,
    Severity,
    Standing,
    UnitSummary,
)


def engine(text: str, settings: Settings, outside: Outside = ALONE, standing: Standing = UNSETTLED) -> ModuleResult:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return ModuleResult(new_text=None, parsed=False)
    if "CRASH" in text:
        raise KeyError("no such thing")
    if "DIE" in text:
        os._exit(9)
    if "DEEP" in text:
        raise RecursionError
    lines = text.split("\n")
    changes: list[Change] = []
    findings: list[Finding] = []
    units: list[UnitSummary] = []
    for at, line in enumerate(lines):
        if not line.startswith("import apex"):
            continue
        unit = len(units) + 1
        if "MANUAL" in line:
            found = Finding("APX010", Severity.MANUAL, at + 1, at + 1, "a missing fact", unit, "write\nthis")
            findings.append(found)
            units.append(UnitSummary(unit, Applicability.MANUAL, at + 1))
            continue
        lines[at] = line.replace("apex", "torch", 1)
        changes.append(Change("APX010", unit, at + 1, at + 1, Applicability.SAFE, "an import"))
        units.append(UnitSummary(unit, Applicability.SAFE, at + 1))
    new = "\n".join(lines)
    return ModuleResult(new if changes else None, tuple(changes), tuple(findings), tuple(units))


if __name__ == "__main__":
    from tests.shell import fake  # workers of other start methods find it under this name

    sys.exit(main(engine=fake.engine))
