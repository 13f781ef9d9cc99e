"""The nodes of a syntax tree, each looked up once.

Nearly every question about a program is asked of all nodes below one, again and again. No tree is changed after it was
parsed, so what lies below a node is kept with it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

Arm = tuple[ast.expr | None, list[ast.stmt]]  # its condition (None: else) and its statements

_CHILDREN, _BELOW = "apex2native children", "apex2native below"  # no field of a node is called so
# The fields of each kind of node that may hold nodes other than Load, Store and Del.
_PLAIN = frozenset("ctx id attr arg kind type_comment level module asname simple is_async conversion".split())
FIELDS = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN and kind is not ast.Constant)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}


def children(node: ast.AST) -> tuple[ast.AST, ...]:
    """What a node directly consists of, as `ast.iter_child_nodes` gives it, without Load, Store and Del."""
    kept: tuple[ast.AST, ...] | None = node.__dict__.get(_CHILDREN)
    if kept is None:
        kept = node.__dict__[_CHILDREN] = tuple(_children(node))
    return kept


def keep_children(node: ast.AST, found: Iterable[ast.AST]) -> None:
    """What a node directly consists of is known: nobody need look for it."""
    node.__dict__[_CHILDREN] = tuple(found)


def walk(node: ast.AST) -> tuple[ast.AST, ...]:
    """A node and all below it, in the order of `ast.walk` (breadth first), without Load, Store and Del."""
    kept: tuple[ast.AST, ...] | None = node.__dict__.get(_BELOW)
    if kept is None:
        found = [node]
        for one in found:  # it grows meanwhile
            if FIELDS[type(one)]:
                kept = one.__dict__.get(_CHILDREN)
                found += _children(one) if kept is None else kept
        kept = node.__dict__[_BELOW] = tuple(found)
    return kept


def run_now(node: ast.AST) -> list[ast.AST]:
    """Nodes that run when a piece of code runs: what is defined in it runs another time."""
    found: list[ast.AST] = []
    todo = [node]
    while todo:
        at = todo.pop()
        found.append(at)
        if not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            todo += children(at)
    return found


def header(stmt: ast.stmt) -> list[ast.AST]:
    """The expressions of a compound statement's own header, or a simple statement itself. A definition runs the
    defaults of its parameters, a class its body."""
    match stmt:
        case ast.If(test=test) | ast.While(test=test):
            return [test]
        case ast.For(iter=source) | ast.AsyncFor(iter=source):
            return [source]
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return [item.context_expr for item in items]
        case ast.Match(subject=subject):
            return [subject]
        case ast.FunctionDef(args=args) | ast.AsyncFunctionDef(args=args):
            return [*args.defaults, *(given for given in args.kw_defaults if given is not None)]
        case ast.ClassDef(bases=bases, body=body):
            return [*bases, *(part for inner in body for part in header(inner))]
        case _:
            return [] if hasattr(stmt, "handlers") else [stmt]


def _children(node: ast.AST) -> list[ast.AST]:
    found: list[ast.AST] = []
    for name in FIELDS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def each_given(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment with what each is given: one by one where both are written so, ``a, b = x, y``."""
    if not isinstance(target, (ast.Tuple, ast.List)) or not isinstance(value, (ast.Tuple, ast.List)):
        return [(target, value)]
    if len(target.elts) != len(value.elts) or any(isinstance(e, ast.Starred) for e in (*target.elts, *value.elts)):
        return [(target, value)]
    return [pair for one, other in zip(target.elts, value.elts, strict=True) for pair in each_given(one, other)]


def positional_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """The parameters of a function that a call may fill by their place."""
    return [one.arg for one in (*function.args.posonlyargs, *function.args.args)]


def constructs(function: ast.AST) -> bool:
    """Whether a function is run where an object is made: `__init__`, or what a dataclass runs behind its own."""
    return isinstance(function, ast.FunctionDef) and function.name in ("__init__", "__post_init__")


def required(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """Those of them that have no default."""
    positional = positional_parameters(function)
    return positional[: len(positional) - len(function.args.defaults)]


def needed(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """All that have none: those as well that are handed by their names alone."""
    args = function.args
    by_name = [one.arg for one, value in zip(args.kwonlyargs, args.kw_defaults, strict=True) if value is None]
    return [*required(function), *by_name]


def named_parameters(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """The parameters of a function, but for ``*args`` and ``**kwargs``."""
    return [*positional_parameters(function), *(one.arg for one in function.args.kwonlyargs)]


def item_of(table: ast.Dict, key: str) -> ast.expr | None:
    """What a dictionary that is written out has under a key."""
    pairs = zip(table.keys, table.values, strict=True)
    return next((value for one, value in pairs if isinstance(one, ast.Constant) and one.value == key), None)


def arms(node: ast.If) -> Iterator[Arm]:
    """The arms of a chain of conditions, one after the other."""
    while True:
        yield node.test, node.body
        match node.orelse:
            case [ast.If() as following]:
                node = following
            case []:
                return
            case rest:
                yield None, rest
                return


def chain(expr: ast.expr) -> Iterator[ast.expr]:
    """``a.b[c]``, ``a.b`` and ``a``."""
    yield expr
    while isinstance(expr, (ast.Attribute, ast.Subscript)):
        expr = expr.value
        yield expr
