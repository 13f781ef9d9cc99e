"""Whether a program that stays as it is, or has nothing to migrate, can live with what others change in the files that
it shares with them.

What it runs is told by names: the statements of its files, and every function whose name such code spells, further and
further. So it is too much rather than too little.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .facts.files import names_main, reached_from
from .facts.module import Module
from .model import FileText
from .nodes import walk

_IMPORTS = (ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ALWAYS = frozenset({"forward"})  # and all that Python calls itself: `__init__`, `__getitem__`

Pieces = Mapping[str, list[ast.AST]]  # by dotted name: the statements of a file or class, a function
_Place = tuple[int, str]  # a piece, by the number of its file


def runs_as_before(files: Sequence[FileText], new: Sequence[str]) -> bool:
    """Whether all that a program may run is the same in the ``new`` texts of its files, and there at all."""
    before, after = _modules(files, new)
    if not _all_there(before, after):
        return False
    imported = {number for file in files for number in file.links.values()}
    pieces = [
        (_pieces(one.tree, number in imported), _pieces(other.tree, number in imported))
        for number, (one, other) in enumerate(zip(before.files, after.files, strict=True))
    ]
    links = [file.links for file in files]
    firsts = [number for number in range(len(files)) if len(reached_from(links, number)) == len(files)]
    run = _run([mine for mine, _ in pieces], firsts)
    return all(
        _dumped(mine[name]) == _dumped(theirs.get(name, []))
        for number, (mine, theirs) in enumerate(pieces)
        for name in mine
        if (number, name) in run
    )


def still_fits(files: Sequence[FileText], new: Sequence[str]) -> bool:
    """Whether a program without units finds in the ``new`` texts of its files all that it takes from them, and
    functions with the parameters that they had."""
    before, after = _modules(files, new)
    packages = [file.name.rpartition("/")[2] == "__init__.py" for file in files]
    return _all_there(before, after) and _stars_fit(before, after, packages) and _headers(after) == _headers(before)


def _modules(files: Sequence[FileText], new: Sequence[str]) -> tuple[Module, Module]:
    links = [file.links for file in files]
    return Module(*(file.text for file in files), links=links), Module(*new, links=links)


def _all_there(before: Module, after: Module) -> bool:
    """Whether no name is missing that one file takes from another and that was there."""
    return set(after.missing) <= set(before.missing)


def _stars_fit(before: Module, after: Module, packages: Sequence[bool]) -> bool:
    """Whether what a file takes by a star is still there: all that is defined, where it is a package that hands it on,
    else what the file reads."""
    for mine, theirs, package in zip(before.files, after.files, packages, strict=True):
        read = {node.id for node in before.all(ast.Name) if mine.scope.stars and before.file(node) is mine}
        for old, new in zip(mine.scope.stars, theirs.scope.stars, strict=False):
            gone = {name for name in old.names - new.names if before.stores(name, old) and not name.startswith("_")}
            if gone if package else gone & read:
                return False
    return True


def _headers(m: Module) -> Counter[tuple[str, str]]:
    functions = (node for node in m.nodes if isinstance(node, _FUNCTIONS))
    return Counter((function.name, ast.dump(function.args)) for function in functions)


def _pieces(tree: ast.Module, imported: bool) -> Pieces:
    found: dict[str, list[ast.AST]] = {}

    def add(body: Sequence[ast.stmt], prefix: str) -> None:
        own = found.setdefault(prefix, [])
        for stmt in body:
            if isinstance(stmt, _FUNCTIONS):
                found.setdefault(f"{prefix}{stmt.name}", []).append(stmt)
                own.extend(stmt.decorator_list)
            elif isinstance(stmt, ast.ClassDef):
                found.setdefault(f"{prefix}{stmt.name}.", []).extend([*stmt.bases, *stmt.decorator_list])
                add(stmt.body, f"{prefix}{stmt.name}.")
            elif not (_only_imports(stmt) or (imported and isinstance(stmt, ast.If) and names_main(stmt.test))):
                own.append(stmt)

    add(tree.body, "")
    return found


def _only_imports(stmt: ast.stmt) -> bool:
    return isinstance(stmt, _IMPORTS) or (isinstance(stmt, ast.Try) and all(map(_only_imports, stmt.body)))


def _run(pieces: Sequence[Pieces], firsts: Sequence[int]) -> set[_Place]:
    """The pieces, each with its file's number, that are run, going by names. Of a first file that runs no function
    when it is loaded somebody runs them all: an entry point of a package, or who makes up the name of what it imports.
    """
    named = [(number, dotted) for number, mine in enumerate(pieces) for dotted in mine]
    by_name: dict[str, set[_Place]] = defaultdict(set)
    for number, dotted in named:
        by_name[dotted.rpartition(".")[2]].add((number, dotted))

    def spelled(number: int, nodes: Iterable[ast.AST]) -> Iterator[_Place]:
        for word, anywhere in (_word(inner) for node in nodes for inner in walk(node)):
            own = not anywhere and word in pieces[number]  # a plain name is the file's own, where it has one
            yield from [(number, word)] if own else by_name[word] if word else ()

    def is_run(place: _Place) -> bool:
        name = place[1].rpartition(".")[2]
        return not name or name in _ALWAYS or name.startswith("__")

    todo = [place for place in named if is_run(place)]
    for first in firsts:
        begun = spelled(first, (one for one in pieces[first][""] if not isinstance(one, (ast.Assign, ast.AnnAssign))))
        if not any(isinstance(one, _FUNCTIONS) for number, dotted in begun for one in pieces[number][dotted]):
            todo += [(first, dotted) for dotted in pieces[first]]
    found = set(todo)
    while todo:
        number, dotted = todo.pop()
        more = {*spelled(number, pieces[number][dotted])} - found
        found |= more
        todo += more
    return found


def _word(node: ast.AST) -> tuple[str, bool]:
    """The name that a node spells, and whether it may be another file's although this one has it."""
    match node:
        case ast.Name(id=name):
            return name, False
        case ast.Attribute(attr=name) | ast.Constant(value=str() as name):
            return name, True
        case _:
            return "", False


def _dumped(nodes: Sequence[ast.AST]) -> list[str]:
    return [ast.dump(node) for node in nodes]
