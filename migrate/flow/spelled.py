"""Names that code makes at run time: what ``setattr`` and ``getattr`` may be handed, as far as it is written."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

from ..facts.module import Module
from ..nodes import walk
from .objects import ELEMENT_KEY


def listed_names(m: Module, expr: ast.expr) -> list[str]:
    """The names that ``setattr`` or ``getattr`` may be handed, as far as they are written.

    ``for name in self.model_names`` goes through those of a list that stands in the file, and is nowhere changed, and
    so does ``for name, model in zip(self.model_names, models)``;
    ``random.choice(names)`` is one of a list."""
    if (item := _item_of(m, expr)) is not None:
        made = _given_once(m, item)
        if isinstance(made, (ast.ListComp, ast.GeneratorExp)):
            return [attribute_name(made.elt)]
        return (_listed(m, made) if isinstance(made, (ast.List, ast.Tuple)) else None) or [ELEMENT_KEY]
    if isinstance(expr, ast.Name) and (source := _loop_over(m, expr)) is not None:
        if (listed := _listed(m, source)) is not None:
            return listed
    return [attribute_name(expr)]


def _item_of(m: Module, expr: ast.expr) -> ast.expr | None:
    """What an expression is one item of: ``random.choice(names)``, ``names[at]``, or a name for one."""
    match _given_once(m, expr):
        case ast.Call(func=ast.Attribute(attr="choice"), args=[whole], keywords=[]):
            return whole
        case ast.Subscript(value=ast.Name() as whole, slice=index) if not isinstance(index, (ast.Slice, ast.Constant)):
            return whole
        case _:
            return None


def _given_once(m: Module, expr: ast.expr) -> ast.expr:
    """The value of a local name that gets one, and that nothing but the place asked about reads; else what is asked."""
    scope = m.binding_scope(expr.id, m.scope(expr)) if isinstance(expr, ast.Name) else None
    if not isinstance(expr, ast.Name) or scope is None or not scope.is_function or expr.id in scope.params:
        return expr
    uses = m.uses(expr.id, scope)
    stored = [n for n in uses if isinstance(n.ctx, ast.Store)]
    above = m.parent[stored[0]] if len(stored) == 1 and len(uses) == 2 else None
    plain = isinstance(above, ast.Assign) and above.targets == stored
    return above.value if plain and isinstance(above, ast.Assign) else expr


def _loop_over(m: Module, name: ast.Name) -> ast.expr | None:
    """What the only loop, or the comprehension, goes over that gives ``name`` its value."""
    for outer in m.ancestors(name):
        for one in getattr(outer, "generators", ()):
            if (source := _gone_through(one.target, one.iter, name.id)) is not None:
                return source
        if isinstance(outer, ast.For) and (source := _gone_through(outer.target, outer.iter, name.id)) is not None:
            stored = [n for n in walk(outer) if isinstance(n, ast.Name) and n.id == name.id]
            return source if sum(isinstance(n.ctx, ast.Store) for n in stored) == 1 else None
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
    return None


def _gone_through(target: ast.expr, source: ast.expr, name: str) -> ast.expr | None:
    """Of what a loop with this target and source gives a name one after the other."""
    match target, source:
        case ast.Name(id=one), _ if one == name:
            return source
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=rows) if len(targets) == len(rows):
            if not any(isinstance(row, ast.Starred) for row in rows):
                return next((row for t, row in zip(targets, rows, strict=True) if _is_named(t, name)), None)
        case ast.Tuple(elts=[_, one]), ast.Call(func=ast.Name(id="enumerate"), args=[row, *_]) if _is_named(one, name):
            return row
    return None


def _is_named(target: ast.expr, name: str) -> bool:
    return isinstance(target, ast.Name) and target.id == name


def _listed(m: Module, expr: ast.expr) -> list[str] | None:
    """The strings of a list: one that is written here, or an attribute that only ever holds lists that are."""
    if isinstance(expr, (ast.List, ast.Tuple)):
        texts = [e.value for e in expr.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        plain = len(texts) == len(expr.elts) and not any(ELEMENT_KEY in text for text in texts)
        return texts if plain else None
    match expr:
        case ast.Call(func=ast.Name(id="sorted" | "list" | "tuple" | "set" | "reversed"), args=[whole]):
            return _listed(m, whole)
        case ast.Name():
            kept = _only_gone_through(m, expr)
            return None if kept is None else _listed(m, kept)
        case ast.Attribute():
            pass
        case _:
            return None
    found: list[str] = []
    for stmt in _said_by_classes(m, expr.attr):
        listed = _listed(m, stmt.value) if isinstance(stmt, (ast.Assign, ast.AnnAssign)) and stmt.value else None
        if listed is None:
            return None
        found += listed
    for use in m.all(ast.Attribute):
        if use.attr != expr.attr:
            continue
        above = m.parent[use]
        if isinstance(use.ctx, ast.Load):
            if _only_read(m, use):
                continue
            if (more := _put_in(m, use)) is None:
                return None
            found.append(more)
            continue
        if not isinstance(above, ast.Assign) or len(above.targets) != 1 or isinstance(above.value, ast.Attribute):
            return None
        listed = _listed(m, above.value)
        if listed is None:
            return None
        found += listed
    return sorted(set(found)) or None


def _only_gone_through(m: Module, name: ast.Name) -> ast.expr | None:
    """The value of a function's name that gets one, where nothing changes that list."""
    scope = m.binding_scope(name.id, m.scope(name))
    if scope is None or not scope.is_function or name.id in scope.params:
        return None
    uses = m.uses(name.id, scope)
    given = [m.parent[n] for n in uses if isinstance(n.ctx, ast.Store)]
    if not all(isinstance(n.ctx, ast.Store) or _only_read(m, n) for n in uses):
        return None
    match given:
        case [ast.Assign(targets=[ast.Name()], value=value)]:
            return value
        case _:
            return None


def _put_in(m: Module, use: ast.expr) -> str | None:
    """The one word that is put into a list: ``self.names.append("classifier")``."""
    above = m.parent[use]
    match m.parent[above]:
        case ast.Call(func=func, args=[ast.Constant(value=str(text))], keywords=[]) as call if func is above:
            alone = isinstance(above, ast.Attribute) and above.attr == "append" and isinstance(m.parent[call], ast.Expr)
            return text if alone and ELEMENT_KEY not in text else None
        case _:
            return None


def _said_by_classes(m: Module, name: str) -> Iterator[ast.stmt]:
    """The statements of classes that give all their objects an attribute."""
    for cls in m.all(ast.ClassDef):
        for stmt in cls.body:
            declares = isinstance(stmt, ast.AnnAssign) and stmt.value is None
            if not declares and not isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in walk(stmt)):
                    yield stmt


def strings_in_row(m: Module, expr: ast.expr) -> list[str] | None:
    """The strings of a row, in order: one that is written here, or a name for one that is only ever gone through."""
    if isinstance(expr, ast.Name):
        scope = m.binding_scope(expr.id, m.scope(expr))
        given = [m.parent[n] for n in m.bindings(expr.id, scope)]
        if scope is None or expr.id in scope.params or len(given) != 1:
            return None
        match given[0]:
            case ast.Assign(targets=[ast.Name()], value=ast.Tuple() as row):
                expr = row
            case ast.Assign(targets=[ast.Name()], value=ast.List() as row) if scope.is_function:
                uses = m.uses(expr.id, scope)
                expr = row if all(isinstance(n.ctx, ast.Store) or _only_read(m, n) for n in uses) else expr
    return _listed(m, expr) if isinstance(expr, (ast.List, ast.Tuple)) else None


def _only_read(m: Module, use: ast.expr) -> bool:
    """Whether a list that is used somewhere is the same behind it."""
    match m.parent[use]:
        case ast.For(iter=it) | ast.comprehension(iter=it):
            return it is use
        case ast.Call(func=ast.Name(id=name), keywords=[]):
            return name in _READERS
        case ast.Subscript(value=value, ctx=ast.Load()):
            return value is use
        case ast.Compare():
            return True
        case _:
            return False


_READERS = frozenset("zip enumerate len list tuple sorted set print".split())


def all_of_file(expr: ast.expr) -> bool:
    """``globals()``: all names of a file."""
    return isinstance(expr, ast.Call) and isinstance(expr.func, ast.Name) and expr.func.id == "globals"


def attribute_name(expr: ast.expr) -> str:
    """The name of an attribute that ``setattr`` or ``getattr`` is handed: a ``*`` stands for what is not written."""
    parts = _written(expr)
    if None not in parts:
        return "".join(part or "" for part in parts)
    first, last = parts.index(None), parts[::-1].index(None)
    ahead, behind = parts[:first], parts[len(parts) - last :]
    return "".join(p or "" for p in ahead) + ELEMENT_KEY + "".join(p or "" for p in behind)


def _written(expr: ast.expr) -> list[str | None]:
    """The parts of a text, None for what is not known."""
    match expr:
        case ast.Constant(value=str(text)) if ELEMENT_KEY not in text:
            return [text]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_written(left), *_written(right)]
        case ast.JoinedStr(values=values):
            return [part for value in values for part in _written(value)]
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return _around(re.split(r"%[^a-zA-Z%]*[a-zA-Z%]", text))
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
            return _around(re.split(r"{[^}]*}", text))
        case _:
            return [None]


def _around(texts: list[str]) -> list[str | None]:
    """Texts with something that is not known between them."""
    return [part for text in texts for part in (text, None)][:-1]


def meet(one: str, other: str) -> bool:
    """Whether two names, of which a ``*`` may stand for a part, may be the same."""
    (start, star, end), (begin, also, rest) = one.partition(ELEMENT_KEY), other.partition(ELEMENT_KEY)
    if star and also:
        return _either(str.startswith, start, begin) and _either(str.endswith, end, rest)
    if not star and not also:
        return one == other
    (ahead, behind), name = ((start, end), other) if star else ((begin, rest), one)
    return len(name) >= len(ahead) + len(behind) and name.startswith(ahead) and name.endswith(behind)


def _either(holds: Callable[[str, str], bool], one: str, other: str) -> bool:
    return holds(one, other) or holds(other, one)
