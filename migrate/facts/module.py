"""The syntax of a program, indexed once: parents, statement blocks, scopes and character offsets.

Mostly a program is one file. Several that import from each other are one text: each is parsed by itself and has a
scope of its own, lines and offsets are counted through all of them, and a name that one imports from another is that
other's name.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from ..nodes import walk
from .files import FENCE, Copied, File, asks_for_main, closed, empty_tables, join, names_main, reached_from
from .lifted import lift
from .lookups import Lookups
from .scopes import Scope
from .short import lengthen
from .spread import spread
from .usual_names import mark

LARGE_TEXT = 200_000  # characters


def _dotted(node: ast.ImportFrom) -> str:
    """The module that names are taken from, as an import spells it."""
    return "." * node.level + (node.module or "")


def _below(dotted: str, name: str) -> str:
    """A name taken from a module, if it is a module itself."""
    return f"{dotted}{'' if dotted.endswith('.') else '.'}{name}"


def _globals(m: Module) -> set[tuple[Scope, str]]:
    """Names of files that functions declare global: they may be given something else later."""
    return {(m.root(scope), name) for scope in m.scope_of.values() for name in scope.globals}


class Module(Lookups):
    """Syntax of a program; raises SyntaxError (or ValueError for null bytes) where it does not parse.

    ``links`` say for each of several files which of them (by number) the dotted names that it imports lead to;
    ``names`` are their paths."""

    def __init__(self, *texts: str, links: Sequence[Mapping[str, int]] = (), names: Sequence[str] = ()) -> None:
        super().__init__(join(texts))
        self.files: list[File] = []
        self.short: set[ast.stmt] = set()  # loops and ifs that are written as expressions
        self.links, self.names = links, names
        self._rewritten: tuple[tuple[str, ...], Module] | None = None
        self._file_of: dict[Scope, File] = {}
        self.copied: list[Copied] = []
        self.lifted: list[ast.Name] = []  # reads of amp that have no value: another function imports it
        self.modules: dict[tuple[ast.AST, str], Scope] = {}  # names that an import makes stand for a file
        self.dotted: dict[tuple[ast.AST, str], Scope] = {}  # the same of `import losses.focal`, which binds `losses`
        start, first = 0, 1
        for number, text in enumerate(texts):
            tree = ast.parse(text)
            mark(text, tree)
            self.short |= lengthen(tree, text)
            spread(tree, text)
            if first > 1:
                ast.increment_lineno(tree, first - 1)
            if len(text) > LARGE_TEXT:
                empty_tables(tree)
            length = len(text) if number == len(texts) - 1 else len(closed(text))
            fence = bisect_right(self.starts, start + length - 1) + 1 if length else first
            scope = Scope(tree, None)
            self.files.append(File(number, text, start, first, fence, scope))
            self._file_of[scope] = self.files[-1]
            known = len(self.nodes)
            self._add(scope)
            self.lifted += lift(self, scope, self.nodes[known:])
            start, first = start + length + len(FENCE), fence + 1
        # Its statements in the order in which the files are imported; those of one file have that file's tree above.
        self.tree = self.files[0].tree
        if len(texts) > 1:
            self.tree = ast.Module(body=[stmt for file in self.files for stmt in file.tree.body], type_ignores=[])
            self._link(links)

    def rewritten(self, texts: Sequence[str]) -> Module:
        """The same program with other texts; that of the last ones asked for is kept."""
        if self._rewritten is None or self._rewritten[0] != tuple(texts):
            self._rewritten = tuple(texts), Module(*texts, links=self.links, names=self.names)
        return self._rewritten[1]

    @cached_property
    def foreign(self) -> dict[tuple[Scope, str], str]:
        """Names of several files that come from none of them: what tells each from those that other files call the
        same. Two that take a name from one module have the same; what is bound in other ways too is its file's own."""
        found: dict[tuple[Scope, str], set[str]] = defaultdict(set)
        for node in self.nodes:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    name = alias.asname or alias.name.split(".")[0]
                    home = self.binding_scope(name, self.scope(node))
                    if home is not None:
                        found[home, name].add(self._taken(node, alias))
        spelt = {one for each in found.values() for one in each}
        whole = {one: min((s for s in spelt if one.endswith(f".{s}")), key=len, default=one) for one in spelt}
        return {
            (scope, name): next(iter(mine))
            for (scope, name), each in found.items()
            if len(mine := {whole[one] for one in each}) == 1
        }

    @cached_property
    def missing(self) -> list[tuple[int, str]]:
        """Names that a file takes from another that does not bind them, each with the taking file's number."""
        found = []
        modules = {
            (self.binding_scope(name, self.scope(stmt)), name): home for (stmt, name), home in self.modules.items()
        }
        for node in self.nodes if self.links else ():
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and modules:
                home = modules.get((self.binding_scope(node.value.id, self.scope(node)), node.value.id))
                if home is not None and not home.binds(node.attr):
                    found.append((self.file(node).number, node.attr))
            if isinstance(node, ast.ImportFrom):
                dotted, number = _dotted(node), self.file(node).number
                known = self.links[number]
                for alias in node.names:
                    if dotted in known and alias.name != "*" and _below(dotted, alias.name) not in known:
                        if not self.files[known[dotted]].scope.binds(alias.name):
                            found.append((number, alias.name))
        return found

    @cached_property
    def copied_by(self) -> dict[ast.ImportFrom, list[Copied]]:
        """For each import the names that it copies."""
        found: dict[ast.ImportFrom, list[Copied]] = defaultdict(list)
        for one in self.copied:
            found[one.stmt].append(one)
        return found

    def handed_on(self, taken: Sequence[frozenset[str]]) -> tuple[frozenset[str], ...]:
        """The names that others take from each file (``*``: all), with those that they take by way of another file."""
        found = [set(names) for names in taken]
        for file, names in zip(self.files, taken, strict=True):
            for name, source in file.scope.linked.items():
                if names & {name, "*"}:
                    found[self._file_of[source].number].add(name)
        for one in self.copied:
            if one.scope in self._file_of and taken[self._file_of[one.scope].number] & {one.name, "*"}:
                source = one.source.origin(one.original)
                found[self._file_of[source].number].add(one.original)
        return tuple(map(frozenset, found))

    def _taken(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        """What an import takes, with the folders of its file before it where it is a relative one."""
        if isinstance(node, ast.Import):
            return alias.name if alias.asname else alias.name.split(".")[0]
        number = self.file(node).number
        folders = (self.names[number] if self.names else str(number)).split("/")
        above = folders[: -node.level] if node.level else []
        return ".".join([*above, *([node.module] if node.module else []), alias.name])

    def _link(self, links: Sequence[Mapping[str, int]]) -> None:
        """Follow the imports from file to file."""
        self._elsewhere = self._from_elsewhere(links)
        self._global = _globals(self)
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom):
                known = links[self.file(node).number]
                self._link_from(node, _dotted(node), known)
            elif isinstance(node, ast.Import):
                known = links[self.file(node).number]
                for alias in node.names:
                    if alias.name in known:
                        inner = alias.asname is None and "." in alias.name
                        names = self.dotted if inner else self.modules
                        names[(node, alias.asname or alias.name)] = self.files[known[alias.name]].scope
        for scope in self.scope_of.values():
            for name, source in scope.linked.items():
                scope.linked[name] = source.origin(name)

    def _from_elsewhere(self, links: Sequence[Mapping[str, int]]) -> set[tuple[Scope, str]]:
        """Names that a scope (also) takes from files that are not here: what they hold is not known."""
        found: set[tuple[Scope, str]] = set()
        for node in self.all(ast.ImportFrom):
            known = links[self.file(node).number]
            if _dotted(node) not in known:
                found |= {(self._enclosing[node], a.asname or a.name) for a in node.names}
        return found

    def _link_from(self, node: ast.ImportFrom, dotted: str, known: Mapping[str, int]) -> None:
        scope = self._enclosing[node]
        source = self.files[known[dotted]].scope if dotted in known else None
        for alias in node.names:
            below = _below(dotted, alias.name)
            name = alias.asname or alias.name
            if alias.name == "*":
                if source is not None:
                    scope.stars.append(source)
            elif (scope, name) in self._elsewhere and source is not None:
                continue
            elif source is not None and source is not self.root(scope) and source.binds(alias.name):
                rebound = name in scope.assigned or name in scope.linked or (source, alias.name) in self._global
                if name == alias.name and not rebound:
                    scope.linked[name] = source
                    scope.names.discard(name)
                else:
                    self.copied.append(Copied(node, scope, name, source, alias.name))
            elif below in known:
                self.modules[(node, name)] = self.files[known[below]].scope

    def file_called(self, node: ast.Attribute) -> Scope | None:
        """The file that ``losses.focal`` stands for, where that is what an import calls it."""
        parts: list[str] = []
        at: ast.expr = node
        while isinstance(at, ast.Attribute):
            parts.append(at.attr)
            at = at.value
        if not isinstance(at, ast.Name):
            return None
        home = self.binding_scope(at.id, self.scope(node))
        dotted = ".".join([at.id, *reversed(parts)])
        named = ((self._enclosing[stmt], file) for (stmt, name), file in self.dotted.items() if name == dotted)
        return next((file for scope, file in named if scope is home), None)

    def file(self, node: ast.AST) -> File:
        """The file that a node stands in."""
        return self._file_of[self.root(self._enclosing[node])]

    def reached(self, file: File) -> list[File]:
        """A file and all that it imports, directly or through others, in their order."""
        return [self.files[number] for number in sorted(reached_from(self.links, file.number))]

    @cached_property
    def imported(self) -> frozenset[File]:
        """The files that another file of the program imports."""
        return frozenset(one for file in self.files for one in self.reached(file) if one is not file)

    def idle(self, node: ast.AST) -> bool:
        """Whether a node stands in the main block of a file that the program imports: nothing runs it there."""
        if len(self.files) == 1 or self.file(node) not in self.imported:
            return False
        return any(isinstance(a, ast.If) and names_main(a.test) for a in self.ancestors(node))

    def in_one_run(self, one: ast.AST, other: ast.AST) -> bool:
        """Whether the files of both nodes are part of a run that begins with the same file."""
        wanted = {self.file(one), self.file(other)}
        return len(wanted) == 1 or any(wanted <= {*self.reached(file)} for file in self.roots)

    @cached_property
    def roots(self) -> list[File]:
        """Files that a run begins with: that ask whether they are run themselves, or that no other imports; of those
        that import each other the first."""
        reached = [reached_from(self.links, file.number) for file in self.files]

        def begun_by(other: int, file: int) -> bool:
            return file in reached[other] and (other not in reached[file] or other < file)

        numbers = range(len(self.files))
        return [
            file
            for file in self.files
            if asks_for_main(file.tree) or not any(begun_by(other, file.number) for other in numbers)
        ]

    def unit(self, file: File) -> str:
        """One level of indentation as a file mostly writes it."""
        seen: Counter[str] = Counter()
        for node in self.nodes if len(self.files) == 1 else walk(file.tree):
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body and body[0].lineno > node.lineno:
                outer, inner = self.indent(node), self.indent(body[0])
                if inner.startswith(outer) and len(inner) > len(outer):
                    seen[inner[len(outer) :]] += 1
        return seen.most_common(1)[0][0] if seen else "    "
