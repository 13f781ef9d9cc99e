"""Code that only a torch older than the target runs.

``if version.parse(torch.__version__) < version.parse("1.6"): from apex import amp; use_apex = True`` is never true of a
torch that the result has to run on, and neither is what stands below ``use_apex`` then. A program that uses Apex's amp
nowhere else never runs it: native AMP, or none, is what it has in those places already.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Container, Iterator, Sequence

from ...facts.files import File
from ...facts.names import called_name
from ...facts.once import once
from ...facts.usual_names import dotted
from ...nodes import walk
from ...units.unit import Context

_PARSERS = frozenset("parse Version LooseVersion StrictVersion parse_version".split())
_NUMBER = re.compile(r"(?<!\d)(\d+)\.(\d+)")


@once
def outdated(ctx: Context) -> list[ast.If]:
    """The conditions that decide about all uses of amp of a program, where none of them ever runs; else none."""
    uses = [use for use, dotted in ctx.facts.uses.items() if dotted.startswith("apex.amp.")]
    stmts = [stmt for stmt, names in ctx.facts.imports.items() if any(n.startswith("apex.amp") for n in names)]
    if not uses or "torch.__version__" not in ctx.m.text:
        return []
    known = _known(ctx)
    uses = [use for use in uses if not _natives(ctx, known, use)]
    sites: list[ast.AST] = [*uses, *(stmt for stmt in stmts if not _only_tries(ctx, stmt))]
    if not known or not all(_is_dead(ctx, known, node) for node in sites):
        return []
    live = [node for node in known if not _is_dead(ctx, known, node)]
    ends = {ctx.m.file(node).number: _flags(ctx, ctx.m.file(node)) for node in live}
    return [n for n in live if _holds_one(ctx, n, sites) or _says_flags(ctx, n) or _asks(n, ends[ctx.m.file(n).number])]


def _only_tries(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether an import only asks whether Apex is there: it stands in a ``try``, and its file reads no name of it."""
    file = ctx.m.file(stmt)
    names = {alias.asname or alias.name.split(".")[0] for alias in getattr(stmt, "names", ())}
    reads = (node for name in names for node in ctx.m.named(name) if isinstance(node.ctx, ast.Load))
    read = any(ctx.m.file(node) is file for node in reads)
    return isinstance(ctx.m.parent[stmt], ast.Try) and not read and not names & ctx.exported_by(file)


@once
def natives(ctx: Context) -> frozenset[ast.expr]:
    """Uses of a name that Apex's import would give as well, in an arm that goes: ``from torch.cuda import amp`` is what
    every torch from the target on runs."""
    known = _known(ctx) if outdated(ctx) else {}
    return frozenset(use for use in ctx.facts.uses if known and _natives(ctx, known, use))


def _natives(ctx: Context, known: dict[ast.If, bool], use: ast.expr) -> bool:
    root = use
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or _is_dead(ctx, known, use):
        return False
    home = ctx.m.binding_scope(root.id, ctx.m.scope(root))
    given = [ctx.m.statement(node) for node in ctx.m.declared(root.id)]
    given = [stmt for stmt in given if ctx.m.binding_scope(root.id, ctx.m.scope(stmt)) is home]
    live = [stmt for stmt in given if not _is_dead(ctx, known, stmt)]
    imported = bool(live) and all(isinstance(s, ast.ImportFrom) and s not in ctx.facts.imports for s in live)
    return imported and not ctx.m.bindings(root.id, home)


def dead_arm(ctx: Context, node: ast.If) -> list[ast.stmt]:
    """The statements of one of these conditions that never run."""
    return node.orelse if _known(ctx)[node] else node.body


def settled(ctx: Context, gone: Callable[[ast.AST], bool]) -> Iterator[ast.stmt]:
    """Flags that nothing reads once those arms went, and what is said ahead of an arm that stays and says it anew."""
    for file in ctx.m.files:
        flags = _flags(ctx, file)
        for name, places in flags.items():
            reads = [n for n in ctx.m.all(ast.Name) if n.id == name and ctx.m.file(n) is file and n not in places]
            unread = all(map(gone, reads)) and any(map(gone, reads)) and not _taken(ctx, file, name)
            for stmt in map(ctx.m.statement, places):
                if not gone(stmt) and (unread or _said_anew(ctx, _known(ctx), stmt, name)):
                    yield stmt


def _taken(ctx: Context, file: File, name: str) -> bool:
    return bool({name, "*"} & ctx.exported_by(file)) or any(name in f.scope.linked for f in ctx.m.files)


def _asks(node: ast.If, flags: Container[str]) -> bool:
    """Whether a condition asks a flag."""
    return any(isinstance(n, ast.Name) and n.id in flags for n in walk(node.test))


def _holds_one(ctx: Context, node: ast.If, sites: Sequence[ast.AST]) -> bool:
    return any(ctx.m.inside(site, stmt) for site in sites for stmt in dead_arm(ctx, node))


def _says_flags(ctx: Context, node: ast.If) -> bool:
    """Whether what never runs is what a flag of the program hangs on."""
    return any(_flag(stmt) is not None for stmt in dead_arm(ctx, node))


@once
def _known(ctx: Context) -> dict[ast.If, bool]:
    """The conditions of the program whose answer is known; flags that they set are looked up again, until none more."""
    known: dict[ast.If, bool] = {}
    while True:
        flags = {file.number: _values(ctx, file, known) for file in ctx.m.files}
        more = {
            node: answer
            for node in ctx.m.all(ast.If)
            if node not in known and (answer := _answer_at(ctx, node, flags[ctx.m.file(node).number])) is not None
        }
        if not more:
            return known
        known |= more


def _is_dead(ctx: Context, known: dict[ast.If, bool], node: ast.AST) -> bool:
    """Whether a node stands in an arm that never runs."""
    below = node
    for outer in ctx.m.ancestors(node):
        if isinstance(outer, ast.If) and outer in known and below in (outer.orelse if known[outer] else outer.body):
            return True
        below = outer
    return False


def _answer_at(ctx: Context, node: ast.If, flags: dict[str, bool]) -> bool | None:
    """What a condition is where it is asked: an ``elif`` that asks no less than an arm above is never true."""
    answer = _answer(ctx, node.test, flags)
    left = _left(ctx, node.test, flags)
    above = ctx.m.parent[node] if ctx.m.is_elif(node) else None
    while answer is None and left is not None and isinstance(above, ast.If):
        more = _left(ctx, above.test, flags)
        if more is not None and more <= left:
            return False
        above = ctx.m.parent[above] if ctx.m.is_elif(above) else None
    return answer


def _left(ctx: Context, test: ast.expr, flags: dict[str, bool]) -> frozenset[str] | None:
    """What is left to ask of a condition of several that have to be true; None where one never is, or calls code."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    answers = {ast.dump(part): _answer(ctx, part, flags) for part in parts}
    if False in answers.values() or any(isinstance(n, (ast.Call, ast.NamedExpr)) for part in parts for n in walk(part)):
        return None
    return frozenset(said for said, answer in answers.items() if answer is None)


def _answer(ctx: Context, test: ast.expr, flags: dict[str, bool]) -> bool | None:
    """What a condition is for every torch from the target on; None where that is not known."""
    match test:
        case ast.BoolOp(op=op, values=values):
            answers = [_answer(ctx, value, flags) for value in values]
            ends = isinstance(op, ast.Or)  # an answer that settles all: True of an `or`, False of an `and`
            if ends in answers:
                return ends
            return None if None in answers else not ends
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            answer = _answer(ctx, inner, flags)
            return None if answer is None else not answer
        case ast.Name(id=name):
            return flags.get(name)
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(ctx, left, op, right)
        case _:
            return None


def _compared(ctx: Context, left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
    """``torch.__version__`` beside a number: what holds of the target and of whatever is newer."""
    if not (_is_torchs(left) and (asked := _version(left, right)) is not None):
        return None
    if not _is_parsed(left) and asked[0] >= ctx.settings.target_torch[0]:
        return None  # strings: "2.10" < "2.4"
    newer, same = ctx.settings.target_torch > asked, ctx.settings.target_torch == asked
    match op:
        case ast.GtE() if newer or same:
            return True
        case ast.Lt() if newer or same:
            return False
        case ast.Gt() | ast.NotEq() if newer:
            return True
        case ast.LtE() | ast.Eq() if newer:
            return False
        case _:
            return None


def _is_parsed(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called_name(node) in _PARSERS and len(node.args) == 1


def _is_torchs(node: ast.expr) -> bool:
    inner = node.args[0] if isinstance(node, ast.Call) and _is_parsed(node) else node
    return dotted(inner) == "torch.__version__"


def _version(left: ast.expr, right: ast.expr) -> tuple[int, int] | None:
    """The number on the right side, written in the manner of the left one."""
    inner = right.args[0] if isinstance(right, ast.Call) and _is_parsed(right) and _is_parsed(left) else right
    if not (isinstance(inner, ast.Constant) and isinstance(inner.value, str)):
        return None
    found = _NUMBER.match(inner.value)
    return None if found is None else (int(found[1]), int(found[2]))


def _flag(stmt: ast.stmt) -> str | None:
    """The name of a statement that sets a flag: ``use_apex = True``."""
    match stmt:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool())):
            return name
        case _:
            return None


def _flags(ctx: Context, file: File) -> dict[str, list[ast.Name]]:
    """The names of a file that are flags of the module and nothing else, with the places that set them."""
    found: dict[str, list[ast.Name]] = {}
    other: set[str] = set()
    for node in walk(file.tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                stmt = ctx.m.statement(node)
                if _flag(stmt) == name and ctx.m.function(node) is file.scope:
                    found.setdefault(name, []).append(node)
                else:
                    other.add(name)
            case ast.arg(arg=name) | ast.alias(asname=str(name)) | ast.ClassDef(name=name):
                other.add(name)
            case ast.alias(name=name):
                other.add(name.split(".")[0])
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ExceptHandler(name=str(name)):
                other.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                other.update(names)
            case _:
                pass
    return {name: nodes for name, nodes in found.items() if name not in other and not _in_class(ctx, nodes)}


def _in_class(ctx: Context, nodes: list[ast.Name]) -> bool:
    return any(isinstance(outer, ast.ClassDef) for node in nodes for outer in ctx.m.ancestors(node))


def _values(ctx: Context, file: File, known: dict[ast.If, bool]) -> dict[str, bool]:
    """The flags of a file that are only ever given one value by what may run; one that is given none, so that asking it
    was a NameError, is False."""
    values: dict[str, bool] = {}
    for name, nodes in _flags(ctx, file).items():
        stmts = [ctx.m.statement(n) for n in nodes if not _is_dead(ctx, known, n)]
        live = {stmt.value.value for stmt in stmts if not _said_anew(ctx, known, stmt, name)}  # type: ignore[attr-defined]
        if len(live) == 1:
            values[name] = live.pop()
        elif not stmts:
            values[name] = False
    return values


def never_given(ctx: Context, node: ast.If) -> list[str]:
    """The flags that a condition asks and that only an older torch gives a value."""
    known, flags = _known(ctx), _flags(ctx, ctx.m.file(node))
    asked = {n.id for n in walk(node.test) if isinstance(n, ast.Name) and n.id in flags}
    return sorted(name for name in asked if all(_is_dead(ctx, known, one) for one in flags[name]))


def _said_anew(ctx: Context, known: dict[ast.If, bool], stmt: ast.stmt, name: str) -> bool:
    """Whether the arm that stays of a condition below gives a flag another value before anything reads it."""
    block, index = ctx.m.place[stmt]
    for after in block.body[index + 1 :]:
        if isinstance(after, ast.If) and after in known:
            stays = after.body if known[after] else after.orelse
            if any(_flag(one) == name for one in stays):
                return True
        if any(isinstance(n, ast.Name) and n.id == name for n in walk(after)) or not _plain(ctx, after):
            return False
    return False


def _plain(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether a statement runs no code that may read a flag of the module: it calls nothing of the program."""
    calls = [n for n in walk(stmt) if isinstance(n, ast.Call)]
    runs = any(ctx.v.callees(call) or called_name(call) in ("exec", "eval") for call in calls)
    return not (runs or isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)))
