"""What gives one network a parameter, or a part, of another one: ``decoder.out.weight = encoder.embed.weight``."""

from __future__ import annotations

import ast
import re

from ..knowledge.models import OPTIONS
from ..knowledge.words import Patterns
from ..nodes import chain
from .names import last_name

# Parts that are shared: a parameter, a layer of embeddings, a head, the body of two networks.
_SHARED = "weight bias *embed* *head *proj *projection *lut *trunk *body *backbone *encoder *decoder *linear fc"
SHARED = Patterns(_SHARED)
TIES_BY_NAME = Patterns("tie_?* ?*_tie share_?*weight* share_?*embed* share_?*param*")  # of a library's networks
_ATTRIBUTE = r"\w+(?:\.\w+|\[[^\[\]\n]*\])*\.(\w+)"
_SOURCE = r"\w+(?:(?:\.\w+|\[[^\[\]\n]*\])*\.(\w+))?"
_GIVEN = re.compile(rf"^[ \t]*({_ATTRIBUTE})[ \t]*=[ \t]*({_SOURCE})[ \t\r]*(?:#.*)?$", re.M)


def ties(body: str) -> bool:
    """Whether a function gives a part of something what another one has, or what it is handed, by its text."""
    return any(
        _is_tie(target, attribute, source, taken or source) for target, attribute, source, taken in _GIVEN.findall(body)
    )


def tied(stmt: ast.Assign) -> bool:
    """The same of a statement."""
    targets = [one for one in stmt.targets if isinstance(one, ast.Attribute)]
    if not isinstance(stmt.value, (ast.Name, ast.Attribute)) or any(isinstance(x, ast.Call) for x in chain(stmt.value)):
        return False
    said, taken = ast.unparse(stmt.value), last_name(stmt.value)
    return any(_is_tie(ast.unparse(one), one.attr, said, taken) for one in targets)


def _is_tie(target: str, attribute: str, source: str, taken: str) -> bool:
    if not (SHARED.fit(attribute) and SHARED.fit(taken)) or _owner(target) == _owner(source):
        return False
    roots = {target.partition(".")[0], source.partition(".")[0]}
    if not OPTIONS.isdisjoint(roots):
        return False
    parts = target.count(".") + source.count(".")
    return parts > 2 or (parts == 2 and ("." not in source or "self" not in roots))  # `self.encoder = model.encoder`


def _owner(path: str) -> str:
    return path.rpartition(".")[0]
