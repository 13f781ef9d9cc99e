"""The syntax of a program, indexed once: parents, statement blocks, scopes and character offsets.

Mostly a program is one file. Several that import from each other are one text: each is parsed by itself and has a
scope of its own, lines and offsets are counted through all of them, and a name that one imports from another is that
other's name.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from ..nodes import walk
from .names import called_name
from .short import lengthen

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ScopeNode = ast.Module | ast.ClassDef | FunctionNode
Node = TypeVar("Node", bound=ast.AST)

_NEWLINE = re.compile(r"\r\n|\n|\r")
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(eq=False)
class Scope:
    """A module, class, function or lambda, and the names it binds."""

    node: ScopeNode
    parent: Scope | None
    names: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)  # declared global or nonlocal
    globals: set[str] = field(default_factory=set)
    params: tuple[str, ...] = ()
    assigned: set[str] = field(default_factory=set)  # names that are bound by more than a `from … import`
    linked: dict[str, Scope] = field(default_factory=dict)  # names of other files, by the file's own scope
    stars: list[Scope] = field(default_factory=list)  # files of which all names are imported

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))

    def bind(self, *names: str) -> None:
        self.names.update(names)
        self.assigned.update(names)


@dataclass(frozen=True, eq=False)
class Block:
    """A list of statements under one header (or a module's own)."""

    owner: ast.AST
    field_name: str
    body: list[ast.stmt]


@dataclass(frozen=True, eq=False)
class File:
    """One file of a program: its own text, and where that stands in the text of all."""

    number: int
    text: str
    start: int  # offset of its first character
    first: int  # its first line, counted from 1
    fence: int  # the line behind its last
    scope: Scope

    @property
    def tree(self) -> ast.Module:
        assert isinstance(self.scope.node, ast.Module)
        return self.scope.node


@dataclass(frozen=True)
class Copied:
    """A name that a scope takes from another file under a name of its own, or beside other values."""

    stmt: ast.ImportFrom
    scope: Scope
    name: str
    source: Scope
    original: str


# Between two files of one text: neither a comment nor blank, so what is looked for from line to line ends there.
FENCE = "=" * 8 + "\n"
LARGE_TEXT = 200_000  # characters
LARGE_TABLE = 500  # constants


def _empty_tables(tree: ast.Module) -> None:
    """Take the elements out of large tables of constants: nothing in them can matter, and each costs a kilobyte."""
    size: dict[ast.AST, int] = {}  # of constants, and of displays of nothing else
    every = list(ast.walk(tree))
    for node in reversed(every):
        match node:
            case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
                size[node] = 1
            case ast.List(elts=held) | ast.Tuple(elts=held) | ast.Set(elts=held) if all(e in size for e in held):
                size[node] = sum(size[e] for e in held)
            case ast.Dict(keys=keys, values=held) if all(e in size for e in (*keys, *held)):
                size[node] = sum(size[e] for e in held)
            case _:
                pass
    for node in every:
        if size.get(node, 0) > LARGE_TABLE:
            for name in ("elts", "keys", "values"):
                if hasattr(node, name):
                    setattr(node, name, [])


def join(texts: Sequence[str]) -> str:
    """The text of several files as one, with a fence between each two; that of one file as it is."""
    return FENCE.join([*map(_closed, texts[:-1]), *texts[-1:]])


def _closed(text: str) -> str:
    return text if text.endswith(("\n", "\r")) or not text else f"{text}\n"


def reached_from(links: Sequence[Mapping[str, int]], number: int) -> frozenset[int]:
    """A file and all that it imports, directly or through others; ``links`` as `Module` takes them."""
    found, todo = {number}, [number]
    while todo:
        at = todo.pop()
        for following in links[at].values() if links else ():
            if following not in found:
                found.add(following)
                todo.append(following)
    return frozenset(found)


def file_at(files: Sequence[File], line: int) -> File:
    """The file that a line of the whole text stands in; a fence belongs to the file before it."""
    return files[max(bisect_right(files, line, key=lambda file: file.first) - 1, 0)]


def _dotted(node: ast.ImportFrom) -> str:
    """The module that names are taken from, as an import spells it."""
    return "." * node.level + (node.module or "")


def _below(dotted: str, name: str) -> str:
    """A name taken from a module, if it is a module itself."""
    return f"{dotted}{'' if dotted.endswith('.') else '.'}{name}"


def asks_for_main(tree: ast.Module) -> bool:
    """Whether a file is run itself: ``if __name__ == "__main__":``"""
    return any(isinstance(stmt, ast.If) and names_main(stmt.test) for stmt in tree.body)


def names_main(test: ast.expr) -> bool:
    """Whether a condition asks whether its file is the one that is run."""
    return any(isinstance(n, ast.Name) and n.id == "__name__" for n in walk(test))


def _globals(m: Module) -> set[tuple[Scope, str]]:
    """Names of files that functions declare global: they may be given something else later."""
    return {(m.root(scope), name) for scope in m.scope_of.values() for name in scope.globals}


class Module:
    """Syntax of a program; raises SyntaxError (or ValueError for null bytes) where it does not parse.

    ``links`` say for each of several files which of them (by number) the dotted names that it imports lead to;
    ``names`` are their paths."""

    def __init__(self, *texts: str, links: Sequence[Mapping[str, int]] = (), names: Sequence[str] = ()) -> None:
        self.text = join(texts)
        self.starts = [0, *(m.end() for m in _NEWLINE.finditer(self.text))]
        self._plain = self.text.isascii()  # columns count characters
        self.parent: dict[ast.AST, ast.AST] = {}
        self.place: dict[ast.stmt, tuple[Block, int]] = {}
        self.scope_of: dict[ast.AST, Scope] = {}  # scope that a scope's own node opens
        self._enclosing: dict[ast.AST, Scope] = {}
        self._function_of: dict[Scope, Scope] = {}
        self.nodes: list[ast.AST] = []  # but for Load, Store and Del
        self._methods: dict[ast.ClassDef, dict[str, ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        self._said: dict[tuple[ast.AST, tuple[str, ...]], bool] = {}
        self.files: list[File] = []
        self.short: set[ast.stmt] = set()  # loops and ifs that are written as expressions
        self.links, self.names = links, names
        self._rewritten: tuple[tuple[str, ...], Module] | None = None
        self._file_of: dict[Scope, File] = {}
        self.copied: list[Copied] = []
        self.modules: dict[tuple[ast.AST, str], Scope] = {}  # names that an import makes stand for a file
        start, first = 0, 1
        for number, text in enumerate(texts):
            tree = ast.parse(text)
            self.short |= lengthen(tree, text)
            if first > 1:
                ast.increment_lineno(tree, first - 1)
            if len(text) > LARGE_TEXT:
                _empty_tables(tree)
            length = len(text) if number == len(texts) - 1 else len(_closed(text))
            fence = bisect_right(self.starts, start + length - 1) + 1 if length else first
            scope = Scope(tree, None)
            self.files.append(File(number, text, start, first, fence, scope))
            self._file_of[scope] = self.files[-1]
            self._add(scope)
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

    # ------------------------------------------------------------ building

    def _add(self, scope: Scope) -> None:
        self.scope_of[scope.node] = self._function_of[scope] = scope
        self._enclosing[scope.node] = scope
        self._index(scope.node, scope)

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
                if home is not None and not self._binds(home, node.attr):
                    found.append((self.file(node).number, node.attr))
            if isinstance(node, ast.ImportFrom):
                dotted, number = _dotted(node), self.file(node).number
                known = self.links[number]
                for alias in node.names:
                    if dotted in known and alias.name != "*" and _below(dotted, alias.name) not in known:
                        if not self._binds(self.files[known[dotted]].scope, alias.name):
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
                source = self._original(one.original, one.source)
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
                    if alias.name in known and (alias.asname or "." not in alias.name):
                        home = self.files[known[alias.name]].scope
                        self.modules[(node, alias.asname or alias.name)] = home
        for scope in self.scope_of.values():
            for name, source in scope.linked.items():
                scope.linked[name] = self._original(name, source)

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
            elif source is not None and source is not self.root(scope) and self._binds(source, alias.name):
                rebound = name in scope.assigned or name in scope.linked or (source, alias.name) in self._global
                if name == alias.name and not rebound:
                    scope.linked[name] = source
                    scope.names.discard(name)
                else:
                    self.copied.append(Copied(node, scope, name, source, alias.name))
            elif below in known:
                self.modules[(node, name)] = self.files[known[below]].scope

    def _binds(self, scope: Scope, name: str) -> bool:
        return name in scope.names or name in scope.linked or any(self._binds(s, name) for s in scope.stars)

    def _original(self, name: str, source: Scope) -> Scope:
        """The file that a name comes from, which others may have handed on."""
        seen = {source}
        while name not in source.names:
            onward = [source.linked[name]] if name in source.linked else source.stars
            following = next((s for s in onward if s not in seen and self._binds(s, name)), None)
            if following is None:
                break
            seen.add(following)
            source = following
        return source

    def _index(self, root: ast.AST, scope: Scope) -> None:
        stack: list[tuple[ast.AST, Scope]] = [(root, scope)]
        while stack:
            node, scope = stack.pop()
            self.nodes.append(node)
            self._bind(node, scope)
            inner = scope
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                inner = Scope(node, scope)
                self.scope_of[node] = inner
                within = isinstance(node, (ast.ClassDef, ast.Lambda))
                self._function_of[inner] = self._function_of[scope] if within else inner
                if not isinstance(node, ast.ClassDef):
                    a = node.args
                    every = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
                    every += [a.kwarg] if a.kwarg else []
                    inner.params = tuple(p.arg for p in every)
                    inner.bind(*inner.params)
            children: list[tuple[ast.AST, Scope]] = []
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list):
                    if value and isinstance(value[0], ast.stmt):
                        block = Block(node, name, value)
                        for index, stmt in enumerate(value):
                            self.place[stmt] = (block, index)
                    items = [v for v in value if isinstance(v, ast.AST)]
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    items = [value]
                else:
                    continue
                # decorators, defaults, bases and annotations belong to the outer scope
                here = inner if inner is scope or name == "body" else scope
                for child in items:
                    self.parent[child] = node
                    self._enclosing[child] = here
                    children.append((child, here))
            stack.extend(reversed(children))

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                scope.bind(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                scope.bind(name)
            case ast.Import(names=names):
                scope.bind(*((a.asname or a.name.split(".")[0]) for a in names))
            case ast.ImportFrom(names=names):
                scope.names.update((a.asname or a.name) for a in names)
            case ast.ExceptHandler(name=str() as name):
                scope.bind(name)
            case ast.Global(names=names):
                scope.outer.update(names)
                scope.globals.update(names)
                self.root(scope).bind(*names)
            case ast.Nonlocal(names=names):
                scope.outer.update(names)
            case _:
                pass

    # ------------------------------------------------------------ nodes by kind

    def all(self, kind: type[Node]) -> Sequence[Node]:
        """The nodes of just this class, in order. Loops over every node of the module would be most of a run's time."""
        return self._by_kind.get(kind, ())  # type: ignore[return-value]

    def of(self, *kinds: type[ast.AST]) -> list[ast.AST]:
        """The nodes of just these classes, in order."""
        wanted = frozenset(kinds)
        return [node for node in self.nodes if type(node) in wanted]

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            found[type(node)].append(node)
        return found

    def named(self, name: str) -> Sequence[ast.Name]:
        """Where a name stands, in order."""
        return self._by_name.get(name, ())

    @cached_property
    def _by_name(self) -> dict[str, list[ast.Name]]:
        found: dict[str, list[ast.Name]] = defaultdict(list)
        for node in self.all(ast.Name):
            found[node.id].append(node)
        return found

    def attributes(self, attr: str) -> Sequence[ast.Attribute]:
        """Where an attribute of this name stands, in order."""
        return self._by_attribute.get(attr, ())

    @cached_property
    def _by_attribute(self) -> dict[str, list[ast.Attribute]]:
        found: dict[str, list[ast.Attribute]] = defaultdict(list)
        for node in self.all(ast.Attribute):
            found[node.attr].append(node)
        return found

    def calls(self, name: str) -> Sequence[ast.Call]:
        """The calls of a function or method of this name, in order."""
        return self._by_callee.get(name, ())

    @cached_property
    def _by_callee(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = defaultdict(list)
        for call in self.all(ast.Call):
            found[called_name(call)].append(call)
        return found

    def defined(self, name: str) -> Sequence[ast.AST]:
        """The functions of this name."""
        return self._by_definition.get(name, ())

    @cached_property
    def _by_definition(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = defaultdict(list)
        functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = [*self.all(ast.FunctionDef)]
        functions += self.all(ast.AsyncFunctionDef)
        for node in functions:
            found[node.name].append(node)
        return found

    def own(self, scope: Scope, kind: type[Node]) -> Sequence[Node]:
        """The nodes of just this class whose `function` is ``scope``, in order."""
        return self._by_function.get((scope, kind), ())  # type: ignore[return-value]

    @cached_property
    def _by_function(self) -> dict[tuple[Scope, type[ast.AST]], list[ast.AST]]:
        found: dict[tuple[Scope, type[ast.AST]], list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            found[self.function(node), type(node)].append(node)
        return found

    def bindings(self, name: str, scope: Scope | None) -> Sequence[ast.Name]:
        """Where a name that belongs to ``scope`` is bound or deleted, in order."""
        return self._by_binding.get((scope, name), ())

    @cached_property
    def _by_binding(self) -> dict[tuple[Scope | None, str], list[ast.Name]]:
        found: dict[tuple[Scope | None, str], list[ast.Name]] = defaultdict(list)
        for node in self.all(ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found[self.binding_scope(node.id, self.scope(node)), node.id].append(node)
        return found

    def stores(self, name: str, scope: Scope | None) -> list[ast.Name]:
        """Where a name that belongs to ``scope`` is given something, in order."""
        return [n for n in self.bindings(name, scope) if isinstance(n.ctx, ast.Store)]

    @cached_property
    def used_inside(self) -> frozenset[tuple[Scope | None, str]]:
        """The names, each with the scope that it belongs to, that stand in scopes inside of that one as well."""
        return self._inside(self.all(ast.Name))

    @cached_property
    def set_inside(self) -> frozenset[tuple[Scope | None, str]]:
        """Those that are given something there."""
        return self._inside([node for node in self.all(ast.Name) if isinstance(node.ctx, ast.Store)])

    def _inside(self, nodes: Iterable[ast.Name]) -> frozenset[tuple[Scope | None, str]]:
        places = {(self.scope(node), node.id) for node in nodes}
        found = ((scope, self.binding_scope(name, scope), name) for scope, name in places)
        return frozenset((home, name) for scope, home, name in found if home is not scope)

    def strings(self, text: str) -> Sequence[ast.Constant]:
        """Where a string is written out, in order."""
        return self._by_string.get(text, ())

    @cached_property
    def _by_string(self) -> dict[str, list[ast.Constant]]:
        found: dict[str, list[ast.Constant]] = defaultdict(list)
        for node in self.all(ast.Constant):
            if isinstance(node.value, str):
                found[node.value].append(node)
        return found

    def declared(self, name: str) -> Sequence[ast.AST]:
        """Imports, functions and classes that bind a name."""
        return self._by_declaration.get(name, ())

    @cached_property
    def _by_declaration(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = defaultdict(list)
        for alias in self.all(ast.alias):
            found[alias.asname or alias.name.split(".")[0]].append(alias)
        for function in self.all(ast.FunctionDef):
            found[function.name].append(function)
        for cls in self.all(ast.ClassDef):
            found[cls.name].append(cls)
        return found

    def statements(self, scope: Scope) -> Sequence[ast.stmt]:
        """The statements whose `function` is ``scope``, those of a block after the one that holds it."""
        return self._statements.get(scope, ())

    @cached_property
    def _statements(self) -> dict[Scope, list[ast.stmt]]:
        found: dict[Scope, list[ast.stmt]] = defaultdict(list)
        for stmt in self.place:
            found[self.function(stmt)].append(stmt)
        return found

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        """Different nodes as they follow each other in `nodes`."""
        return sorted(set(nodes), key=self._rank.__getitem__)

    @cached_property
    def _rank(self) -> dict[ast.AST, int]:
        return {node: number for number, node in enumerate(self.nodes)}

    @cached_property
    def outer_names(self) -> frozenset[str]:
        """Names that some function declares global or nonlocal."""
        return frozenset(name for scope in self.scope_of.values() for name in scope.outer)

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """Names that are bound in some scope."""
        return frozenset(name for scope in self.scope_of.values() for name in scope.names)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name that is bound or read somewhere in the module, and every attribute."""
        imported = {a.asname or a.name.split(".")[0] for a in self.all(ast.alias)}
        return frozenset({*self.bound_names, *imported, *self._by_name, *self._by_attribute})

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of all parameters of its functions."""
        return frozenset(n.arg for n in self.all(ast.arg))

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of all its variables, read or bound."""
        return frozenset(self._by_name)

    # ------------------------------------------------------------ scopes

    def scope(self, node: ast.AST) -> Scope:
        """The scope in which ``node`` is evaluated."""
        return self._enclosing[node]

    def binding_scope(self, name: str, scope: Scope) -> Scope | None:
        """The scope that ``name`` belongs to when read in ``scope``; None for builtins and unknown names."""
        at: Scope | None = scope
        while at is not None:
            if name in at.globals:
                return self.root(at)
            visible = at is scope or not isinstance(at.node, ast.ClassDef)
            if visible and name in at.names and name not in at.outer:
                return at
            if visible and name in at.linked:
                return at.linked[name]
            if at.parent is None:
                return next((self._original(name, s) for s in at.stars if self._binds(s, name)), None)
            at = at.parent
        return None

    def root(self, scope: Scope) -> Scope:
        """The scope of the file that a scope lies in."""
        while scope.parent is not None:
            scope = scope.parent
        return scope

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

    def function(self, node: ast.AST) -> Scope:
        """The nearest function scope around ``node``, or the module's."""
        return self._function_of[self._enclosing[node]]

    def body_of(self, scope: Scope) -> list[ast.stmt]:
        """The statements of a function, class or module scope."""
        return [] if isinstance(scope.node, ast.Lambda) else scope.node.body

    def class_of(self, scope: Scope) -> ast.ClassDef | None:
        """The class whose method ``scope`` is, if it is one."""
        if scope.is_function and scope.parent and isinstance(scope.parent.node, ast.ClassDef):
            return scope.parent.node
        return None

    def method(self, owner: ast.ClassDef, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The first method of this name in a class's own body."""
        if owner not in self._methods:
            here: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
            for node in owner.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    here.setdefault(node.name, node)
            self._methods[owner] = here
        return self._methods[owner].get(name)

    def self_name(self, scope: Scope) -> str | None:
        """What a method calls its instance."""
        if self.class_of(scope) is None or not scope.params:
            return None
        node = scope.node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        marks = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
        return None if marks & {"staticmethod", "classmethod"} else scope.params[0]

    def class_name(self, scope: Scope) -> str | None:
        """What a class method calls its class."""
        node = scope.node
        if self.class_of(scope) is None or not scope.params or isinstance(node, (ast.Lambda, ast.ClassDef, ast.Module)):
            return None
        marks = {d.id for d in node.decorator_list if isinstance(d, ast.Name)}
        return scope.params[0] if "classmethod" in marks else None

    # ------------------------------------------------------------ statements

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that holds ``node`` (itself, if it is one)."""
        while not (isinstance(node, ast.stmt) and node in self.place):
            node = self.parent[node]
        return node

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Parents of ``node``, innermost first."""
        while node in self.parent:
            node = self.parent[node]
            yield node

    def spine(self, node: ast.AST) -> list[ast.stmt]:
        """Statements around ``node`` within its function, innermost first, its own included."""
        found: list[ast.stmt] = []
        at: ast.AST | None = self.statement(node)
        while at is not None and isinstance(at, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            if isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and at is not node:
                break
            if isinstance(at, ast.stmt):
                found.append(at)
            at = self.parent.get(at)
        return found

    def block(self, stmt: ast.stmt) -> Block:
        return self.place[stmt][0]

    def index(self, stmt: ast.stmt) -> int:
        return self.place[stmt][1]

    def is_elif(self, stmt: ast.stmt) -> bool:
        """Whether an ``if`` is written as the ``elif`` of another."""
        block, _ = self.place[stmt]
        return (
            isinstance(stmt, ast.If)
            and isinstance(block.owner, ast.If)
            and block.field_name == "orelse"
            and self.text.startswith("elif", self.start(stmt))
        )

    def inside(self, node: ast.AST, outer: ast.AST) -> bool:
        """Whether ``node`` is ``outer`` or lies in it."""
        return node is outer or any(a is outer for a in self.ancestors(node))

    def loops(self, node: ast.AST) -> list[ast.stmt]:
        """Loops around ``node`` within its function, innermost first."""
        spine = self.spine(node)
        return [s for s in spine if isinstance(s, _LOOPS) and s is not node]

    # ------------------------------------------------------------ text

    def offset(self, line: int, col: int) -> int:
        """Character offset of a position as ``ast`` gives it (its columns count UTF-8 bytes)."""
        start = self.starts[line - 1]
        if self._plain:
            return start + col
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        row = self.text[start:end]
        return start + (col if row.isascii() else len(row.encode()[:col].decode(errors="ignore")))

    def start(self, node: ast.AST) -> int:
        return self.offset(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self.offset(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def src(self, node: ast.AST) -> str:
        """The text of ``node`` as it stands in the file."""
        return self.text[self.start(node) : self.end(node)]

    def says(self, node: ast.AST, words: tuple[str, ...]) -> bool:
        """Whether one of several words stands in the text of ``node``."""
        if (node, words) not in self._said:
            text = self.src(node)
            self._said[node, words] = any(word in text for word in words)
        return self._said[node, words]

    def first_line(self, stmt: ast.stmt) -> int:
        """The line a statement begins on, decorators included."""
        decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
        return min([stmt.lineno, *(d.lineno for d in decorators)])

    def last_line(self, node: ast.AST) -> int:
        line: int = node.end_lineno  # type: ignore[attr-defined]
        return line

    def line_text(self, line: int) -> str:
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        return self.text[self.starts[line - 1] : end].rstrip("\r\n")

    def indent(self, stmt: ast.stmt) -> str:
        """The white space before a statement's first line."""
        row = self.line_text(stmt.lineno)
        return row[: len(row) - len(row.lstrip(" \t\f"))]

    def owns_lines(self, stmt: ast.stmt) -> bool:
        """Whether no other statement shares this one's first or last line."""
        head = self.line_text(stmt.lineno)[: self.start(stmt) - self.starts[stmt.lineno - 1]]
        tail = self.line_text(self.last_line(stmt))
        tail = tail[self.end(stmt) - self.starts[self.last_line(stmt) - 1] :]
        return not head.strip() and (not tail.strip() or tail.lstrip().startswith("#"))

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
