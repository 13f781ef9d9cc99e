"""What a run comes to."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from ..state import Key


@dataclass(eq=False)
class Event:
    """Something that both programs have to do: ``kind`` and what it is about."""

    kind: str
    node: ast.AST
    about: Any = None
    closure: bool = False  # a step is handed something, which may run a backward
    puts: frozenset[Key] = frozenset()  # the optimizers whose gradients a reader puts there, from elsewhere
