"""Parameters that nothing reads any more: what a function was told about mixed precision, and asked of nobody since.

A parameter goes, and with it the argument of each call, where all calls are known: they stand in this file, nobody else
can have the function, and what is handed over is only looked up. Else it stays, as somebody may hand it over.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..facts.files import File, asks_for_main
from ..facts.module import Module
from ..facts.names import called_name
from ..facts.scopes import Scope
from ..nodes import walk
from ..units.conditions import argparse_dest
from ..units.public import public
from ..units.translate import receiver
from ..units.unit import Context

_PLAIN = frozenset({"no_grad", "enable_grad", "inference_mode", "staticmethod"})
_LOOKS_AROUND = frozenset({"locals", "vars", "eval", "exec"})
# A record of options is handed around whatever is read of it just now.
_RECORDS = frozenset("args arg opt opts options cfg config conf hparams hps params flags self cls".split())
_LOOKED_UP = (ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp)


@dataclass(frozen=True, eq=False)
class Unread:
    """A parameter that goes, and what is cut from the text for it: its own place and those of the arguments, whose
    ``nodes`` have to stand where they did."""

    function: ast.FunctionDef | ast.AsyncFunctionDef
    name: str
    cuts: tuple[tuple[int, int], ...]
    nodes: tuple[ast.expr, ...]


def unread(ctx: Context, new: Sequence[str], changed: Sequence[ast.AST], before: Sequence[Unread]) -> list[Unread]:
    """The parameters that were read in the old texts and are not in the ``new`` ones, and can go.

    ``changed`` are functions that get other parameters anyway, ``before`` what is known to go: an argument less may
    leave another parameter unread."""
    found: list[Unread] = []
    cut = [span for one in before for span in one.cuts]
    for node, candidates in lost_readers(ctx, new, before):
        if (node in changed or _only_here(ctx, node)) and (calls := _calls(ctx, node)):
            for parameter in candidates:
                cuts = _cuts(ctx, node, parameter, calls)
                if cuts is not None and not _overlap(cut, cuts):
                    cut += cuts
                    handed = [_argument(ctx, call, ctx.m.scope_of[node], parameter) for call in calls]
                    values = [h.value if isinstance(h, ast.keyword) else h for h in handed if h is not None]
                    found.append(Unread(node, parameter.arg, tuple(cuts), (*values, *calls)))
    return found


def unread_locals(ctx: Context, new: Sequence[str]) -> Iterator[ast.Assign]:
    """Local variables that were read in the old texts and are not in the ``new`` ones, and are given what is only
    looked up, ``level = "O1" if half else "O0"``, or an optimizer, which Apex was handed and nobody steps."""
    m = ctx.m
    begins = {m.statement(init.call) for init in ctx.facts.initializes}
    changed = [file for file in m.files if new[file.number] != file.text]
    after = m.rewritten(new) if changed else m
    told = _functions(after, [after.files[file.number] for file in changed])
    for path, node in _functions(m, changed).items():
        now = told.get(path)
        if node is None or now is None or _said(now) & _LOOKS_AROUND:
            continue
        scope, still = m.scope_of[node], defaultdict[str, list[ast.Name]](list)
        for n in (n for stmt in now.body for n in walk(stmt) if isinstance(n, ast.Name)):
            still[n.id].append(n)
        said = {n.id for n in walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        given: dict[str, int] = {}  # how often a name is given something that `initialize` does not hand back
        for stmt in m.own(scope, ast.Assign):
            match stmt:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if _chosen(value) or _optimizer(value):
                    if name not in given:
                        given[name] = sum(m.statement(n) not in begins for n in m.stores(name, scope))
                    once = given[name] == 1 and name not in scope.outer
                    left = still.get(name, [])
                    if name in said and once and len(left) == 1 and isinstance(left[0].ctx, ast.Store):
                        yield stmt
                case _:
                    pass


def _optimizer(value: ast.expr) -> bool:
    """Whether a value is an optimizer of torch that is made here."""
    return isinstance(value, ast.Call) and ast.unparse(value.func).startswith(("torch.optim.", "optim."))


def _chosen(value: ast.expr) -> bool:
    """Whether a value is only looked up or counted (``(i + 1) % n != 0``), or one of two that are."""
    if isinstance(value, ast.IfExp):
        return all(map(_chosen, (value.test, value.body, value.orelse)))
    return _looked_up(value, ast.BinOp, ast.operator)


def lost_readers(
    ctx: Context, new: Sequence[str], before: Sequence[Unread]
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, list[ast.arg]]]:
    """Functions with the parameters that were read in the old texts and are not in the ``new`` ones, but for those that
    are known to go."""
    changed = [file for file in ctx.m.files if new[file.number] != file.text]
    after = ctx.m.rewritten(new) if changed else ctx.m
    told = _functions(after, [after.files[file.number] for file in changed])
    for path, node in _functions(ctx.m, changed).items():
        now = told.get(path)
        if node is None or now is None:
            continue
        gone = {one.name for one in before if one.function is node}
        parameters = [p for p in (*node.args.args, *node.args.kwonlyargs) if p.arg not in gone | _RECORDS]
        if not parameters:
            continue
        read, still = _said(node), _said(now)
        around = bool(still & _LOOKS_AROUND)
        candidates = [] if around else [p for p in parameters if p.arg in read and p.arg not in still]
        if candidates:
            yield node, candidates


def dead_options(ctx: Context, new: Sequence[str]) -> Iterator[tuple[ast.Call, str]]:
    """Options of the command line that the old texts read and the ``new`` ones do not."""
    for call in ctx.m.calls("add_argument"):
        name = argparse_dest(call)
        if name is not None and ctx.m.attributes(name):
            read = re.compile(rf"(?:\.|['\"]){re.escape(name)}\b")
            if not any(read.search(text) for text in new):
                yield call, name


def _overlap(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> bool:
    return any(a < d and c < b for a, b in some for c, d in others)


def _functions(m: Module, files: Sequence[File]) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef | None]:
    """All functions of files by their full names; None for a name that several have."""
    inner: dict[Scope, list[Scope]] = defaultdict(list)
    for scope in m.scope_of.values():
        if scope.parent is not None:
            inner[scope.parent].append(scope)
    found: dict[str, ast.FunctionDef | ast.AsyncFunctionDef | None] = {}
    todo: list[tuple[Scope, str]] = [(file.scope, str(file.number)) for file in reversed(files)]
    while todo:
        scope, path = todo.pop()
        if isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            path = f"{path}.{scope.node.name}"
            found[path] = scope.node if path not in found else None
        elif isinstance(scope.node, ast.ClassDef):
            path = f"{path}.{scope.node.name}"
        todo += [(one, path) for one in inner[scope]]
    return found


def _said(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The names that a function says."""
    return {n.id for stmt in node.body for n in walk(stmt) if isinstance(n, ast.Name)}


def _only_here(ctx: Context, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether no other file can be meant to call a function: it is private, inside of another, or of a program."""
    inner = any(isinstance(a, (ast.FunctionDef, ast.AsyncFunctionDef)) for a in ctx.m.ancestors(node))
    if inner or (node.name.startswith("_") and not node.name.endswith("__")):
        return True
    return asks_for_main(ctx.m.file(node).tree)


def _calls(ctx: Context, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Call]:
    """All calls of a function; none where one may be missing."""
    m, v = ctx.m, ctx.v
    scope = m.scope_of[node]
    cls = m.class_of(scope)
    taken = ctx.exported(node) & {"*", node.name, *([cls.name] if cls is not None else [])}
    if taken or public(ctx, scope):
        return []
    if (node.name.startswith("__") and node.name.endswith("__")) or (cls is not None and _inherits(m, cls)):
        return []
    if any(called_name(d) not in _PLAIN for d in node.decorator_list):
        return []
    calls = v.calls[node]
    callers = {call.func for call in calls}
    for at in m.nodes:
        match at:
            case ast.FunctionDef(name=node.name) | ast.AsyncFunctionDef(name=node.name) if at is not node:
                return []
            case ast.Name(id=node.name) if at not in callers:
                return []
            case ast.Attribute(attr=node.name) if at not in callers:
                if cls is not None or any(v.callee(held) is node for held in v.of(at)):
                    return []
            case ast.alias(name=node.name, asname=None) if _taken_here(m, at, node):
                pass  # by another file of the program, whose calls are among these
            case ast.Constant(value=node.name) | ast.alias(name=node.name) | ast.alias(asname=node.name):
                return []
            case _:
                pass
    plain = all(v.callees(c) == [node] and c.func in callers and _plain_call(c) for c in calls)
    return calls if plain else []


def _taken_here(m: Module, alias: ast.alias, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether an import at the top of a file is of a function of another one, under its own name."""
    stmt, home = m.parent[alias], m.file(node).scope
    scope = m.scope(stmt)
    return isinstance(stmt, ast.ImportFrom) and scope.parent is None and scope.linked.get(node.name) is home


def _inherits(m: Module, cls: ast.ClassDef) -> bool:
    """Whether a class has bases, or others have it: a method may stand for another one."""
    if any(not (isinstance(base, ast.Name) and base.id == "object") for base in cls.bases) or cls.keywords:
        return True
    bases = [base for other in m.all(ast.ClassDef) for base in other.bases]
    return any(isinstance(n, ast.Name) and n.id == cls.name for base in bases for n in walk(base))


def _plain_call(call: ast.Call) -> bool:
    return not any(isinstance(a, ast.Starred) for a in call.args) and all(k.arg is not None for k in call.keywords)


def _cuts(
    ctx: Context, node: ast.FunctionDef | ast.AsyncFunctionDef, parameter: ast.arg, calls: list[ast.Call]
) -> list[tuple[int, int]] | None:
    """What goes from the text: the parameter in the header and its argument in each call."""
    m, a = ctx.m, node.args
    scope = m.scope_of[node]
    if a.posonlyargs or a.vararg or a.kwarg or (parameter in a.kwonlyargs and len(a.kwonlyargs) == 1):
        return None
    if parameter.arg == m.self_name(scope):
        return None
    spans = [(m.start(p), m.end(_default(a, p) or p)) for p in (*a.args, *a.kwonlyargs)]
    cuts = [_without(m, spans, [*a.args, *a.kwonlyargs].index(parameter))]
    for call in calls:
        argument = _argument(ctx, call, scope, parameter)
        if argument is None:
            continue
        value = argument.value if isinstance(argument, ast.keyword) else argument
        if not _looked_up(value):
            return None
        items: list[ast.expr | ast.keyword] = sorted([*call.args, *call.keywords], key=m.start)
        cuts.append(_without(m, [(m.start(i), m.end(i)) for i in items], items.index(argument)))
    return [cut for cut in cuts if cut is not None] if None not in cuts else None


def _default(args: ast.arguments, parameter: ast.arg) -> ast.expr | None:
    if parameter in args.kwonlyargs:
        return args.kw_defaults[args.kwonlyargs.index(parameter)]
    index = args.args.index(parameter) - len(args.args) + len(args.defaults)
    return args.defaults[index] if index >= 0 else None


def _argument(ctx: Context, call: ast.Call, scope: Scope, parameter: ast.arg) -> ast.expr | ast.keyword | None:
    """What a call hands to a parameter."""
    for keyword in call.keywords:
        if keyword.arg == parameter.arg:
            return keyword
    assert isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    args = scope.node.args.args
    index = args.index(parameter) - receiver(ctx, call, scope) if parameter in args else -1
    return call.args[index] if 0 <= index < len(call.args) else None


def _looked_up(value: ast.expr, *besides: type[ast.AST]) -> bool:
    """Whether to evaluate an argument is nothing but to look at what is there."""
    inner: tuple[type[ast.AST], ...] = (ast.expr_context, ast.boolop, ast.cmpop, ast.unaryop, *besides)
    return all(isinstance(n, (*_LOOKED_UP, *inner)) for n in walk(value))


def _without(m: Module, spans: list[tuple[int, int]], index: int) -> tuple[int, int] | None:
    """What to cut so that one of several items separated by commas goes; None where more than that is in between."""
    (start, end), text = spans[index], m.text
    if index and text[spans[index - 1][1] : start].strip() == ",":
        return spans[index - 1][1], end
    if index + 1 < len(spans):
        behind = spans[index + 1][0]
        return (start, behind) if text[end:behind].strip() == "," else None
    return (start, end) if len(spans) == 1 and text[end : end + 1] == ")" else None
