"""The syntax of a program: parents, blocks, scopes, and what lies in what."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cached_property

from ..nodes import FIELDS, keep_children
from .scopes import Block, Scope
from .text import Text

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Syntax(Text):
    """The nodes of the trees that were added, indexed once."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.parent: dict[ast.AST, ast.AST] = {}
        self.place: dict[ast.stmt, tuple[Block, int]] = {}
        self.scope_of: dict[ast.AST, Scope] = {}  # scope that a scope's own node opens
        self._enclosing: dict[ast.AST, Scope] = {}
        self._function_of: dict[Scope, Scope] = {}
        self.nodes: list[ast.AST] = []  # but for Load, Store and Del
        self._methods: dict[ast.ClassDef, dict[str, ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        self._heads: dict[ast.If, ast.If] = {}  # of each arm of a chain
        self._spines: dict[ast.stmt, list[ast.stmt]] = {}  # of statements that others stand in

    def _add(self, scope: Scope) -> None:
        self.scope_of[scope.node] = self._function_of[scope] = scope
        self._enclosing[scope.node] = scope
        self._index(scope.node, scope)

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
            for name in (fields := FIELDS[type(node)]):
                value = getattr(node, name, None)
                if isinstance(value, list):
                    if value and isinstance(value[0], ast.stmt):
                        block = Block(node, name, value)
                        for index, stmt in enumerate(value):
                            self.place[stmt] = (block, index)
                    items = [v for v in value if isinstance(v, ast.AST)]
                elif isinstance(value, ast.AST):
                    items = [value]
                else:
                    continue
                # decorators, defaults, bases and annotations belong to the outer scope
                here = inner if inner is scope or name == "body" else scope
                for child in items:
                    self.parent[child] = node
                    self._enclosing[child] = here
                    children.append((child, here))
            if fields:
                keep_children(node, (child for child, _ in children))
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
                return next((s.origin(name) for s in at.stars if s.binds(name)), None)
            at = at.parent
        return None

    def root(self, scope: Scope) -> Scope:
        """The scope of the file that a scope lies in."""
        while scope.parent is not None:
            scope = scope.parent
        return scope

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
        stmt = self._innermost(node)
        return [stmt, *self._spine(self._above(stmt))] if stmt is not None else []

    def _innermost(self, node: ast.AST) -> ast.stmt | None:
        """The statement of its function that a node stands in; None for decorators, bases and defaults."""
        stmt = self.statement(node)
        return None if isinstance(stmt, _DEFINITIONS) and stmt is not node else stmt

    def _above(self, stmt: ast.stmt) -> ast.stmt | None:
        """The statement that another one stands in, within its function."""
        at = self.parent.get(stmt)
        while isinstance(at, (ast.ExceptHandler, ast.match_case)):
            at = self.parent.get(at)
        return at if isinstance(at, ast.stmt) and not isinstance(at, _DEFINITIONS) else None

    def _spine(self, stmt: ast.stmt | None) -> list[ast.stmt]:
        """A statement with others in it, and those around it. An arm of a chain of ``elif`` stands in those above."""
        known, new = self._spines, list[ast.stmt]()
        while stmt is not None and stmt not in known:
            new.append(stmt)
            stmt = self._above(stmt)
        spine = known[stmt] if stmt is not None else []
        for one in reversed(new):
            spine = known[one] = [one, *spine]
        return spine

    def parting(self, one: ast.AST, other: ast.AST) -> ast.If | ast.IfExp | None:
        """The ``if``, or ``a if test else b``, in whose one arm a node stands, and another in the other."""
        # from the first one on, as each arm of a chain of ``elif`` stands in those above
        below, then = (one, other) if self.start(one) <= self.start(other) else (other, one)
        for outer in self.ancestors(below):
            if self.inside(then, outer):
                if isinstance(outer, ast.If) and below is not outer.test:
                    apart = any(self.inside(then, s) for s in (outer.orelse if below in outer.body else outer.body))
                    return outer if apart else None
                if isinstance(outer, ast.IfExp) and below is not outer.test:
                    return outer if self.inside(then, outer.orelse if below is outer.body else outer.body) else None
                return None
            below = outer
        return None

    def around(self, node: ast.AST) -> Iterator[ast.stmt]:
        """The same one by one, for who does not need them all: an arm of a chain of ``elif`` stands in those above."""
        at = self._innermost(node)
        while at is not None:
            yield at
            at = self._above(at)

    def all_around(self, nodes: Iterable[ast.AST]) -> set[ast.stmt]:
        """The statements around any of some nodes, each within its function."""
        found = set[ast.stmt]()
        for node in nodes:
            for stmt in self.around(node):
                if stmt in found:
                    break  # and so are those around it
                found.add(stmt)
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

    def chain_head(self, stmt: ast.If) -> ast.If:
        """The ``if`` that a chain of ``elif`` begins with."""
        below = list[ast.If]()
        while stmt not in self._heads and self.is_elif(stmt):
            below.append(stmt)
            above = self.parent[stmt]
            assert isinstance(above, ast.If)
            stmt = above
        head = self._heads.get(stmt, stmt)
        self._heads.update(dict.fromkeys(below, head))
        return head

    def inside(self, node: ast.AST, outer: ast.AST) -> bool:
        """Whether ``node`` is ``outer`` or lies in it."""
        if node is outer:
            return True
        at, begin = self._rank.get(node), self._rank.get(outer)
        return at is not None and begin is not None and begin < at <= self._last[outer]

    @cached_property
    def _rank(self) -> dict[ast.AST, int]:
        """The number of each node in `nodes`, which go depth first."""
        return {node: number for number, node in enumerate(self.nodes)}

    @cached_property
    def _last(self) -> dict[ast.AST, int]:
        """For each node the number of the last one in it."""
        last = dict(self._rank)
        for node in reversed(self.nodes):
            above = self.parent.get(node)
            if above is not None:
                last[above] = max(last[above], last[node])
        return last

    def loops(self, node: ast.AST) -> list[ast.stmt]:
        """Loops around ``node`` within its function, innermost first."""
        spine = self.spine(node)
        return [s for s in spine if isinstance(s, _LOOPS) and s is not node]
