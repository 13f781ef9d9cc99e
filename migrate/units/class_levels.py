"""Levels that a class says: ``class CFG: opt_level = "O1"``, read as ``CFG.opt_level``, ``cls.…``, ``self.…``."""

from __future__ import annotations

import ast

from ..facts.module import Module


def class_levels(m: Module, level: ast.Attribute) -> set[str] | None:
    """Every value that an attribute of a class can have, where the classes of the program say it and nothing else sets
    it; None where that is not known."""
    owner = _class(m, level.value)
    if owner is None or _set_otherwise(m, level.attr):
        return None
    said = [stmt for cls in m.all(ast.ClassDef) for stmt in cls.body if _names(stmt, level.attr)]
    order = _with_bases(m, owner)
    if not any(stmt in cls.body for cls in order for stmt in said):
        return None
    values = {getattr(getattr(stmt, "value", None), "value", None) for stmt in said}
    texts = {value for value in values if isinstance(value, str)}
    return texts if len(texts) == len(values) else None


def _class(m: Module, base: ast.expr) -> ast.ClassDef | None:
    """The class that a name stands for, or of whose object it is the method's own name; one that is made as it is."""
    if not isinstance(base, ast.Name):
        return None
    scope = m.function(base)
    found: ast.AST | None = None
    if base.id in (m.self_name(scope), m.class_name(scope)):
        found = m.class_of(scope)
    else:
        home = m.binding_scope(base.id, m.scope(base))
        named = [c for c in m.all(ast.ClassDef) if c.name == base.id and m.scope(c) is home]
        bound = m.bindings(base.id, home) if home is not None else []
        found = named[0] if len(named) == 1 and not bound else None
    return found if isinstance(found, ast.ClassDef) and _plain(m, found) else None


def _plain(m: Module, cls: ast.ClassDef) -> bool:
    """Whether a class gets no attributes but those that its body and its bases here give it."""
    known = {c.name for c in m.all(ast.ClassDef)} | {"object"}
    bases = all(isinstance(b, ast.Name) and b.id in known for b in cls.bases)
    return bases and not cls.decorator_list and not cls.keywords


def _with_bases(m: Module, cls: ast.ClassDef) -> list[ast.ClassDef]:
    """A class and those here that it derives from, by their names; a circle of them ends."""
    found = [cls]
    for one in found:  # it grows meanwhile
        bases = {b.id for b in one.bases if isinstance(b, ast.Name)}
        found += [c for c in m.all(ast.ClassDef) if c.name in bases and c not in found]
    return found


def _names(stmt: ast.stmt, attr: str) -> bool:
    match stmt:
        case ast.Assign(targets=targets):
            return any(isinstance(t, ast.Name) and t.id == attr for t in targets)
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name == attr
        case _:
            return False


def _set_otherwise(m: Module, attr: str) -> bool:
    """Whether something gives an attribute of that name a value, or may: by its name, by a computed one, as a
    variable of a loop in a class."""
    if any(not isinstance(n.ctx, ast.Load) for n in m.attributes(attr)):
        return True
    for call in m.calls("setattr"):
        name = call.args[1] if len(call.args) == 3 else None
        if not isinstance(name, ast.Constant) or name.value == attr:
            return True
    return False
