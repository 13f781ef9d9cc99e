"""The annotated syntax tree of one program."""

from __future__ import annotations

from dataclasses import dataclass

from migrate.facts.module import Module
from migrate.flow.values import Values
from migrate.judge.program.callees import Callees
from migrate.judge.program.marks import Marks
from migrate.judge.program.naming import Naming
from migrate.judge.program.scaling import Scaling


@dataclass(frozen=True, eq=False)
class AnnotatedTree:
    """A program's syntax, and what is known of its nodes: what they hold, are called, have a part in and run."""

    m: Module
    v: Values
    naming: Naming
    marks: Marks
    callees: Callees
    scaling: Scaling
