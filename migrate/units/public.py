"""What a package hands on: names that its ``__init__`` takes or its ``__all__`` lists; functions that others call."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.files import File
from ..facts.scopes import Scope
from ..model import Importable
from ..nodes import walk
from .unit import Context


def listed(ctx: Context, home: Scope | None, name: str) -> bool:
    """Whether the ``__all__`` of the file that a name belongs to, or of one that takes it from there, hands it on."""
    return home is not None and any(_in_all(file, called) for file, called in _called(ctx, home, name))


def handed_on(ctx: Context, home: Scope | None, name: str) -> bool:
    """The same, or whether the ``__init__`` of a package that others have takes it."""
    if home is None:
        return False
    own = ctx.m.file(home.node)
    taken = [file for file, called in _called(ctx, home, name) if file is not own and not _private(called)]
    return listed(ctx, home, name) or any(_of_package(ctx, file) for file in taken)


def public(ctx: Context, scope: Scope) -> bool:
    """Whether whoever has the package may call a function, whose calls are not all in the tree then."""
    m, node = ctx.m, scope.node
    if not ctx.importable or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    file, cls = m.file(node), m.class_of(scope)
    known = ctx.importable[file.number]
    outermost = m.scope_of[cls] if cls is not None else scope
    if known is Importable.NOWHERE or outermost.parent is not file.scope:
        return False
    first = cls if cls is not None else node
    if any(_private(name) for name in (first.name, node.name)):
        return False
    modules = m.names[file.number].removesuffix(".py").split("/") if m.names else []
    hidden = known is Importable.LISTED or any(map(_private, modules))
    return not hidden or handed_on(ctx, file.scope, first.name)


def _private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def serves_nobody(ctx: Context, stmt: ast.ImportFrom, alias: ast.alias) -> bool:
    """Whether nobody can take a name that a file imports from that file, going by names."""
    m, file, name = ctx.m, ctx.m.file(stmt), alias.asname or alias.name
    stem = m.names[file.number].rpartition("/")[2].removesuffix(".py") if m.names else ""
    takers = (n for n in m.all(ast.ImportFrom) if m.file(n) is not file and (n.module or "").endswith(stem))
    taken = any(one.name in (name, "*") for n in takers for one in n.names)
    modules = stem == "__init__" or any(True for _ in m.attributes(name))
    return not (taken or modules or ctx.exported(stmt) & {name, "*"} or _in_all(file, name))


def _called(ctx: Context, home: Scope, name: str) -> Iterator[tuple[File, str]]:
    """What the file of a name and those that take it from there call it."""
    own = ctx.m.file(home.node)
    for file in ctx.m.files:
        yield from ((file, called) for called in ([name] if file is own else _taken_as(ctx, file, home, name)))


def _taken_as(ctx: Context, file: File, home: Scope, name: str) -> list[str]:
    """What a file calls a name of another file that it takes."""
    own = [name] if file.scope.linked.get(name) is home or home in file.scope.stars else []
    copies = (c for c in ctx.m.copied if c.scope is file.scope and c.original == name)
    return [*own, *(c.name for c in copies if c.source.origin(name) is home)]


def _in_all(file: File, name: str) -> bool:
    """Whether ``__all__`` of a file lists a name."""
    for stmt in file.tree.body:
        if isinstance(stmt, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and stmt.value is not None:
            targets = stmt.targets if isinstance(stmt, ast.Assign) else [stmt.target]
            if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
                if any(isinstance(n, ast.Constant) and n.value == name for n in walk(stmt.value)):
                    return True
    return False


def _of_package(ctx: Context, file: File) -> bool:
    """Whether a file is the ``__init__`` of a package that others have."""
    known = ctx.importable[file.number] if ctx.importable else Importable.NOWHERE
    return known is not Importable.NOWHERE and ctx.m.names[file.number].rpartition("/")[2] == "__init__.py"
