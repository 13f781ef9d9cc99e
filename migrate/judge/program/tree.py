"""The annotated syntax tree of one program."""

from __future__ import annotations

from dataclasses import dataclass

from ...facts.module import Module
from ...flow.values import Values
from .callees import Callees
from .marks import Marks
from .naming import Naming
from .scaling import Scaling


@dataclass(frozen=True, eq=False)
class AnnotatedTree:
    """A program's syntax, and what is known of its nodes: what they hold, are called, have a part in and run."""

    m: Module
    v: Values
    naming: Naming
    marks: Marks
    callees: Callees
    scaling: Scaling
