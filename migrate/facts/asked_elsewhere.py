"""Functions of other code than the program's that say whether Apex is there: transformers' ``is_apex_available``."""

from __future__ import annotations

import ast
import re

from .module import Module
from .sites import Facts

_ASKS = re.compile("available|installed|importable|has_module|has_package")


def asks(name: str) -> bool:
    """Whether a function is called as one is that says whether a package is there."""
    return _ASKS.search(name) is not None


def asked_elsewhere(m: Module, facts: Facts) -> frozenset[str]:
    """Functions that other code than the program's says whether Apex is there by, where no other part of it is used."""
    if any(name != "apex" and not name.startswith("apex.amp") for names in facts.imports.values() for name in names):
        return frozenset()
    if any(not dotted.startswith("apex.amp") and dotted != "apex" for dotted in facts.uses.values()):
        return frozenset()
    stmts = [(m.scope(stmt), stmt) for stmt in m.all(ast.ImportFrom)]
    taken = {a.name for scope, s in stmts for a in s.names if a.asname is None and a.name not in scope.linked}
    asking = {name for name in taken if "apex" in name.lower() and asks(name)}
    return frozenset(name for name in asking if not any(f.name == name for f in m.all(ast.FunctionDef)))
