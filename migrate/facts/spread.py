"""What a star hands to Apex, where that is written out: ``amp.initialize(*parts, **KIND)``, ``amp.scale_loss(*pack)``.

The call gets the items in place of the star, each at the position where it is written. That is so where the name is
given once, to a row or a dictionary whose items are names and constants, and where nothing in between gives these names
another value or changes what they stand in.
"""

from __future__ import annotations

import ast
import copy
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

_SPREADS = ("initialize", "scale_loss")
_MAY_BE = re.compile(r"\b(?:initialize|scale_loss)\s*\([^#]{0,400}?\*")
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_READS = frozenset("get keys values items copy".split())


@dataclass
class _Names:
    """How the names of a file are used: where each is given a value, and where it is read."""

    stores: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))
    loads: dict[str, list[ast.Name]] = field(default_factory=lambda: defaultdict(list))
    attributes: dict[str, list[ast.AST]] = field(default_factory=lambda: defaultdict(list))


def spread(tree: ast.Module, text: str) -> None:
    """Write the items out in such calls."""
    if not _MAY_BE.search(text):
        return
    parent = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    names = _names(tree)
    for call in [node for node in parent if isinstance(node, ast.Call) and _is_spread(node)]:
        args = [items for one in call.args if (items := _items(one, call, parent, names)) is not None]
        keywords = [pairs for one in call.keywords if (pairs := _pairs(one, call, parent, names)) is not None]
        if len(args) == len(call.args) and len(keywords) == len(call.keywords):
            call.args = [copy.deepcopy(item) if item not in call.args else item for items in args for item in items]
            call.keywords = [one for pairs in keywords for one in pairs]


def _is_spread(call: ast.Call) -> bool:
    called = getattr(call.func, "attr", getattr(call.func, "id", ""))
    starred = any(isinstance(one, ast.Starred) for one in call.args) or any(k.arg is None for k in call.keywords)
    return starred and called in _SPREADS


def _names(tree: ast.Module) -> _Names:
    found = _Names()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                found.loads[name].append(node)
            case ast.Name(id=name) | ast.arg(arg=name):
                found.stores[name].append(node)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.stores[name].append(node)
            case ast.alias(name=name, asname=other):
                found.stores[other or name.split(".")[0]].append(node)
            case ast.Global(names=several) | ast.Nonlocal(names=several):
                for name in several:
                    found.stores[name].append(node)
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name) | ast.MatchStar(
                name=str() as name
            ):
                found.stores[name].append(node)
            case ast.Attribute(attr=attr, ctx=ast.Store() | ast.Del()):
                found.attributes[attr].append(node)
            case _:
                pass
    return found


# ------------------------------------------------------------ what stands behind a star


def _items(one: ast.expr, call: ast.Call, parent: dict[ast.AST, ast.AST], names: _Names) -> list[ast.expr] | None:
    """What an argument hands over; None where that is not written out."""
    if not isinstance(one, ast.Starred):
        return [one]
    match _written(one.value, call, parent, names):
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return elts
        case _:
            return None


def _pairs(
    one: ast.keyword, call: ast.Call, parent: dict[ast.AST, ast.AST], names: _Names
) -> list[ast.keyword] | None:
    if one.arg is not None:
        return [one]
    match _written(one.value, call, parent, names):
        case ast.Dict(keys=keys, values=values):
            each = zip(keys, values, strict=True)
            pairs: list[tuple[object, ast.expr]] = [(k.value, v) for k, v in each if isinstance(k, ast.Constant)]
            if len(pairs) < len(keys):
                return None
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords) if "dict" not in names.stores:
            pairs = [(keyword.arg, keyword.value) for keyword in keywords]
        case _:
            return None
    given = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    texts = [name for name, _ in pairs if isinstance(name, str) and name.isidentifier() and name not in given]
    if len(set(texts)) < len(pairs):
        return None
    values = [copy.deepcopy(value) for _, value in pairs]
    return [ast.copy_location(ast.keyword(arg=n, value=v), v) for n, v in zip(texts, values, strict=True)]


def _written(expr: ast.expr, call: ast.Call, parent: dict[ast.AST, ast.AST], names: _Names) -> ast.expr | None:
    """The row or dictionary that an expression is, if its items are still the same where the call runs."""
    if not isinstance(expr, ast.Name):
        return expr if _plain(expr) else None
    stores, loads = names.stores[expr.id], names.loads[expr.id]
    given = parent[stores[0]] if len(stores) == 1 and isinstance(stores[0], ast.Name) else None
    if not isinstance(given, ast.Assign) or len(given.targets) != 1 or not _plain(given.value):
        return None
    if not isinstance(given.value, ast.Tuple) and not all(_only_read(load, parent) for load in loads):
        return None
    return given.value if _unchanged(given, call, parent, names) else None


def _plain(value: ast.expr) -> bool:
    """Whether a row or a dictionary is written out, with items that may be read in another place."""
    match value:
        case ast.Tuple(elts=elts) | ast.List(elts=elts):
            return all(map(_is_item, elts))
        case ast.Dict(values=values):
            return all(map(_is_item, values))
        case ast.Call(func=ast.Name(id="dict"), args=[], keywords=keywords):
            return all(_is_item(keyword.value) for keyword in keywords)
        case _:
            return False


def _is_item(item: ast.expr) -> bool:
    while isinstance(item, ast.Attribute):
        item = item.value
    return isinstance(item, (ast.Name, ast.Constant))


def _only_read(load: ast.Name, parent: dict[ast.AST, ast.AST]) -> bool:
    match parent[load]:
        case ast.Starred() | ast.keyword(arg=None):
            return True
        case ast.Subscript(value=value, ctx=ast.Load()) as item:
            return value is load and not isinstance(parent[item], (ast.Subscript, ast.Attribute))
        case ast.Attribute(attr=attr):
            return attr in _READS
        case _:
            return False


def _unchanged(given: ast.Assign, call: ast.Call, parent: dict[ast.AST, ast.AST], names: _Names) -> bool:
    """Whether the items of what is assigned are the same where a call runs: what they name has no other value since."""
    items = [node for node in ast.walk(given.value) if node is not given.value and isinstance(node, ast.expr)]
    named = {node.id for node in items if isinstance(node, ast.Name)} - {"dict"}
    above = list(_above(call, parent))
    if not named:  # constants alone: they only have to be there
        return isinstance(parent[given], ast.Module) or parent[given] in above
    stmt = next(one for one in above if isinstance(one, ast.stmt))
    block = next((b for name in _BLOCKS if given in (b := _block(parent[given], name)) and stmt in b), [])
    between = block[block.index(given) + 1 : block.index(stmt)] if block else [given]
    if any(isinstance(one, ast.Attribute) for one in items) and between:
        return False  # any call may set it
    changed = {node for one in between for node in ast.walk(one)}
    stores = [node for name in named for node in names.stores[name]]
    later = any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in stores)
    deferred = any(isinstance(one, (ast.Lambda, ast.GeneratorExp)) for one in above[: above.index(stmt)])
    first = isinstance(stmt, (ast.Assign, ast.Expr, ast.Return))  # nothing in the statement runs before the call
    first |= isinstance(stmt, ast.With) and len(stmt.items) == 1
    return bool(block) and first and not later and not deferred and changed.isdisjoint(stores)


def _block(owner: ast.AST, name: str) -> list[ast.stmt]:
    block = getattr(owner, name, None)
    return block if isinstance(block, list) else []


def _above(node: ast.AST, parent: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    while node in parent:
        node = parent[node]
        yield node
