"""The call graph that the value graph gives, beside what a benchmark says: ``python -m tests.bench.callgraph FOLDER``.

``FOLDER`` is one of cases in folders of their own, each of Python files beside a ``callgraph.json``, such as
``micro-benchmark/snippets`` of PyCG (https://github.com/vitsalis/PyCG). For each group of cases it prints how many are
sound (all edges of the file are found) and how many are complete (no other edge is), as PyCG's authors count; then the
cases that are not, with the edges.

Edges to functions of libraries and to builtins do not count: the value graph has no such functions.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from migrate.facts.module import Module
from migrate.facts.scopes import Scope
from migrate.flow.decorated import Decorated
from migrate.flow.values import Values
from migrate.imports.tree import Imports

Edge = tuple[str, str]


@dataclass(frozen=True)
class Case:
    """One case: the edges that are missed, and those that are too many."""

    group: str
    name: str
    files: int
    missed: frozenset[Edge]
    false: frozenset[Edge]


def edges(folder: Path) -> tuple[set[str], set[Edge], int]:
    """The functions of a folder's files (and the files), the calls between them, and how many files these are."""
    files = [str(file) for file in sorted(folder.rglob("*.py"))]
    imports = Imports(files)
    number = {file: at for at, file in enumerate(files)}
    links = [{dotted: number[meant[0]] for dotted, meant in imports.meant(file).items() if meant} for file in files]
    texts = [Path(file).read_text(encoding="utf-8") for file in files]
    m = Module(*texts, links=links if len(files) > 1 else (), names=[str(Path(f).relative_to(folder)) for f in files])
    v = Values(m)
    decorated, names = Decorated(m, v), _named(m)
    found = {
        (names[_caller(m, node)], names[callee])
        for node in m.nodes
        for callee in (decorated.run_by(node) if isinstance(node, ast.Call) else v.run_by(node))
        if callee in names and _caller(m, node) in names
    }
    return set(names.values()), found, len(files)


def _caller(m: Module, node: ast.AST) -> ast.AST:
    """What runs a node: the function, the lambda or the file around it."""
    scope = m.scope(node)
    while isinstance(scope.node, ast.ClassDef) and scope.parent is not None:
        scope = scope.parent
    return scope.node


def _named(m: Module) -> dict[ast.AST, str]:
    """Functions and files by the names that the benchmark gives them; lambdas are counted in each scope."""
    names: dict[ast.AST, str] = {}
    lambdas: dict[Scope, int] = defaultdict(int)
    for node, scope in m.scope_of.items():
        if isinstance(node, ast.Module):
            parts = list(Path(m.names[m.file(node).number]).with_suffix("").parts)
            names[node] = ".".join(parts[:-1] if parts[-1] == "__init__" and parts[1:] else parts)
        else:
            assert scope.parent is not None
            above = names[scope.parent.node]
            if isinstance(node, ast.Lambda):
                lambdas[scope.parent] += 1
                names[node] = f"{above}.<lambda{lambdas[scope.parent]}>"
            else:
                names[node] = f"{above}.{node.name}"  # type: ignore[attr-defined]
    return names


def cases(root: Path) -> Iterator[Case]:
    """All cases below a folder."""
    for said in sorted(root.rglob("callgraph.json")):
        folder = said.parent
        nodes, found, files = edges(folder)
        graph = json.loads(said.read_text(encoding="utf-8"))
        wanted = {(one, other) for one, others in graph.items() for other in others if other in nodes}
        yield Case(folder.parent.name, folder.name, files, frozenset(wanted - found), frozenset(found - wanted))


def main() -> None:
    """Measure and print."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit("name the folder of cases")
    every = list(cases(Path(sys.argv[1])))
    for one in every:
        for what, which in (("missed", one.missed), ("false", one.false)):
            for caller, callee in sorted(which):
                print(f"{one.group}/{one.name}: {what} {caller} -> {callee}")
    groups = sorted({one.group for one in every})
    rows = [(name, [one for one in every if one.group == name]) for name in groups]
    rows.append(("one file", [one for one in every if one.files == 1]))
    rows.append(("several files", [one for one in every if one.files > 1]))
    rows.append(("all", every))
    print(f"\n{'':16}{'cases':>6}{'sound':>8}{'no false edge':>16}")
    for name, some in rows:
        print(f"{name:16}{len(some):6}{sum(not c.missed for c in some):8}{sum(not c.false for c in some):16}")


if __name__ == "__main__":
    main()
