"""Calls of ``amp.initialize`` that are for the casts alone."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..facts.sites import Initialize


def trains_nothing(m: Module, site: Initialize) -> bool:
    """Whether a call takes no optimizer, or such as are made for it alone: local variables that only it reads."""
    return all(
        isinstance(one, ast.Name)
        and m.function(one).is_function
        and all(m.inside(n, site.call) for n in m.named(one.id) if isinstance(n.ctx, ast.Load) and _shares(m, n, one))
        for one in site.optimizers
    )


def _shares(m: Module, name: ast.Name, other: ast.Name) -> bool:
    return m.binding_scope(name.id, m.scope(name)) is m.binding_scope(other.id, m.scope(other))
