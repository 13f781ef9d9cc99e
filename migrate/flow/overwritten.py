"""Items of a dictionary or list that are given another value before anything reads them: ``d = {"net": a}`` above
``d["net"] = b``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.module import Module
from ..nodes import walk

Display = ast.Dict | ast.List
_KEYS = (str, int)
# What runs no code that could look at the dictionary.
_QUIET = (ast.Name, ast.Constant, ast.Attribute, ast.List, ast.Tuple, ast.Dict, ast.expr_context)


def overwritten(m: Module) -> frozenset[ast.expr]:
    """The values in displays which nobody ever reads, as the next statements put others in their places."""
    found = set[ast.expr]()
    for stmt in m.all(ast.Assign):
        match stmt:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict() | ast.List() as display):
                found.update(_replaced(m, stmt, name, display))
            case _:
                pass
    return frozenset(found)


def _replaced(m: Module, stmt: ast.stmt, name: str, display: Display) -> Iterator[ast.expr]:
    block, index = m.place[stmt]
    gone = set[ast.expr]()
    for below in block.body[index + 1 :]:
        path, more = _stored(below, name), _updated(below, name)
        if path is None and more is None:
            return
        if not gone and any(isinstance(around, ast.Try) for around in m.spine(stmt)):
            return  # half of it may have run where somebody reads it
        old = [_at(display, path, gone)] if path is not None else [_item(display, key) for key in more or ()]
        if path is not None and len(path) > 1 and old == [None]:
            return  # what is filled there is another object
        for value in old:
            if value is not None:
                gone.add(value)
                yield value


def _stored(stmt: ast.stmt, name: str) -> list[object] | None:
    """The constant keys of ``name["a"]["b"] = value``; None of another statement, or of a value that runs code."""
    if not isinstance(stmt, ast.Assign) or len(stmt.targets) != 1 or not _quiet(stmt.value, name):
        return None
    path: list[object] = []
    target = stmt.targets[0]
    while isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        path.insert(0, target.slice.value)
        target = target.value
    known = isinstance(target, ast.Name) and target.id == name and all(type(key) in _KEYS for key in path)
    return path if path and known else None


def _updated(stmt: ast.stmt, name: str) -> list[object] | None:
    """The constant keys of ``name.update({"a": value}, b=value)``; None of another statement."""
    match stmt:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr="update"), args=args, keywords=keywords)
        ) if owner == name and all(_quiet(one, name) for one in (*args, *(k.value for k in keywords))):
            pass
        case _:
            return None
    keys: list[object] = [keyword.arg for keyword in keywords]
    for given in args:
        if not isinstance(given, ast.Dict):
            return None
        keys += [key.value if isinstance(key, ast.Constant) else None for key in given.keys]
    return keys if all(type(key) in _KEYS for key in keys) else None


def _quiet(value: ast.expr, name: str) -> bool:
    return all(isinstance(node, _QUIET) and getattr(node, "id", "") != name for node in walk(value))


def _at(display: Display, path: list[object], gone: set[ast.expr]) -> ast.expr | None:
    """What stands in a display at the end of a path through those in it."""
    *outer, last = path
    for key in outer:
        inner = _item(display, key)
        if not isinstance(inner, (ast.Dict, ast.List)) or inner in gone:
            return None
        display = inner
    return _item(display, last)


def _item(display: Display, key: object) -> ast.expr | None:
    """The value that a display has under a key, where no other may be meant."""
    if isinstance(display, ast.List):
        plain = not any(isinstance(one, ast.Starred) for one in display.elts)
        return next((one for at, one in enumerate(display.elts) if plain and type(key) is int and at == key), None)
    named = [
        value
        for at, value in zip(display.keys, display.values, strict=True)
        if isinstance(at, ast.Constant) and type(at.value) is type(key) and at.value == key
    ]
    whole = all(isinstance(at, ast.Constant) for at in display.keys)  # else another item of this key may stand behind
    return named[0] if len(named) == 1 and whole else None
