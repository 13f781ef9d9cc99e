"""What of a program has a part in training, as far as it has been found."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


@dataclass(eq=False)
class Marks:
    """Filled in by the rooms beside this one, in the order `Program` says."""

    kind: dict[ast.AST, str] = field(default_factory=dict)  # a call, or an attribute that runs code: what it is
    readers: set[ast.stmt] = field(default_factory=set)  # of gradients
    ends: set[ast.stmt] = field(default_factory=set)  # blocks at whose end some are read
    rounds: set[ast.stmt] = field(default_factory=set)  # loops that read some from one round to the next
    around: set[ast.stmt] = field(default_factory=set)  # readers that do so before what they call, and behind it
    guarded: set[ast.stmt] = field(default_factory=set)  # those that do so where an exception leaves what they call
    puts: set[ast.stmt] = field(default_factory=set)  # readers that put gradients there that come from elsewhere
    clearers: set[ast.stmt] = field(default_factory=set)
    asked: set[ast.Attribute] = field(default_factory=set)  # gradients of tensors that no optimizer holds
    functions: set[ast.AST] = field(default_factory=set)  # those that are followed
    relevant: set[ast.AST] = field(default_factory=set)  # what is followed in them, with all that stands around it
