"""Calls of ``amp.initialize`` that are for the casts alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.module import Module
from ..facts.sites import Initialize
from ..nodes import walk


def trains_nothing(m: Module, site: Initialize) -> bool:
    """Whether a call takes no optimizer, or such as are made for it alone: local variables that only it reads."""
    return all(
        isinstance(one, ast.Name)
        and m.function(one).is_function
        and all(m.inside(n, site.call) for n in _reads(m, one))
        for one in site.optimizers
    )


def _reads(m: Module, local: ast.Name) -> Iterator[ast.Name]:
    """Where a local variable is read."""
    scope = m.binding_scope(local.id, m.scope(local))
    for n in walk(scope.node) if scope is not None and scope.is_function else m.named(local.id):
        if isinstance(n, ast.Name) and n.id == local.id and isinstance(n.ctx, ast.Load):
            if m.binding_scope(n.id, m.scope(n)) is scope:
                yield n
