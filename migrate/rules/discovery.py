"""The rules are the modules ``apxNNN_…`` of this package: one each, found by their names, in the order of their ids."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from .. import rules as all_rules
from ..units.unit import Context
from .common import Plan, Stage, Work

_MODULE = re.compile(r"apx\d{3}_\w+")


@dataclass(frozen=True)
class Rule:
    """One rule. What it is applied to is a `Plan` in the stage of units, the file's `Context` in the others."""

    id: str
    stage: Stage
    apply: Callable[[Any, Work], None]


def modules(package: ModuleType = all_rules) -> tuple[ModuleType, ...]:
    """The modules of all rules, sorted by their number."""
    names = sorted(one.name for one in pkgutil.iter_modules(package.__path__) if _MODULE.fullmatch(one.name))
    return tuple(importlib.import_module(f"{package.__name__}.{name}") for name in names)


@cache
def rules() -> tuple[Rule, ...]:
    """All rules that there is something to apply of."""
    return tuple(Rule(one.ID, one.STAGE, one.apply) for one in modules() if one.STAGE is not Stage.TOOL)


def apply_rules(stage: Stage, subject: Plan | Context, work: Work) -> None:
    """Apply all rules of one stage; its subject is what `Stage` says."""
    for rule in rules():
        if rule.stage is stage:
            rule.apply(subject, work)
