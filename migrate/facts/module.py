"""One module's syntax, indexed once: parents, statement blocks, scopes and character offsets."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

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

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))


@dataclass(frozen=True, eq=False)
class Block:
    """A list of statements under one header (or a module's own)."""

    owner: ast.AST
    field_name: str
    body: list[ast.stmt]


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


class Module:
    """Syntax of one module; raises SyntaxError (or ValueError for null bytes) where it does not parse."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        if len(text) > LARGE_TEXT:
            _empty_tables(self.tree)
        self.starts = [0, *(m.end() for m in _NEWLINE.finditer(text))]
        self.parent: dict[ast.AST, ast.AST] = {}
        self.place: dict[ast.stmt, tuple[Block, int]] = {}
        self.scope_of: dict[ast.AST, Scope] = {}  # scope that a scope's own node opens
        self.module_scope = Scope(self.tree, None)
        self.scope_of[self.tree] = self.module_scope
        self._enclosing: dict[ast.AST, Scope] = {self.tree: self.module_scope}
        self.nodes: list[ast.AST] = []
        self._index(self.tree, self.module_scope)

    # ------------------------------------------------------------ building

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
                if not isinstance(node, ast.ClassDef):
                    a = node.args
                    every = [*a.posonlyargs, *a.args, *([a.vararg] if a.vararg else []), *a.kwonlyargs]
                    every += [a.kwarg] if a.kwarg else []
                    inner.params = tuple(p.arg for p in every)
                    inner.names.update(inner.params)
            children: list[tuple[ast.AST, Scope]] = []
            for name, value in ast.iter_fields(node):
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
            stack.extend(reversed(children))

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                scope.names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                scope.names.add(name)
            case ast.Import(names=names):
                scope.names.update((a.asname or a.name.split(".")[0]) for a in names)
            case ast.ImportFrom(names=names):
                scope.names.update((a.asname or a.name) for a in names)
            case ast.ExceptHandler(name=str() as name):
                scope.names.add(name)
            case ast.Global(names=names):
                scope.outer.update(names)
                scope.globals.update(names)
                self.module_scope.names.update(names)
            case ast.Nonlocal(names=names):
                scope.outer.update(names)
            case _:
                pass

    # ------------------------------------------------------------ nodes by kind

    def all(self, kind: type[Node]) -> Sequence[Node]:
        """The nodes of just this class, in order. Loops over every node of the module would be most of a run's time."""
        return self._by_kind.get(kind, ())  # type: ignore[return-value]

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            found[type(node)].append(node)
        return found

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name that is bound or read somewhere in the module, and every attribute."""
        bound = {name for scope in self.scope_of.values() for name in scope.names}
        imported = {a.asname or a.name.split(".")[0] for a in self.all(ast.alias)}
        variables, attributes = {n.id for n in self.all(ast.Name)}, {n.attr for n in self.all(ast.Attribute)}
        return frozenset(bound | imported | variables | attributes)

    # ------------------------------------------------------------ scopes

    def scope(self, node: ast.AST) -> Scope:
        """The scope in which ``node`` is evaluated."""
        return self._enclosing[node]

    def binding_scope(self, name: str, scope: Scope) -> Scope | None:
        """The scope that ``name`` belongs to when read in ``scope``; None for builtins and unknown names."""
        at: Scope | None = scope
        while at is not None:
            if name in at.globals:
                return self.module_scope
            visible = at is scope or not isinstance(at.node, ast.ClassDef)
            if visible and name in at.names and name not in at.outer:
                return at
            at = at.parent
        return None

    def function(self, node: ast.AST) -> Scope:
        """The nearest function scope around ``node``, or the module's."""
        at = self.scope(node)
        while at.parent is not None and (isinstance(at.node, (ast.ClassDef, ast.Lambda))):
            at = at.parent
        return at

    def body_of(self, scope: Scope) -> list[ast.stmt]:
        """The statements of a function, class or module scope."""
        return [] if isinstance(scope.node, ast.Lambda) else scope.node.body

    def class_of(self, scope: Scope) -> ast.ClassDef | None:
        """The class whose method ``scope`` is, if it is one."""
        if scope.is_function and scope.parent and isinstance(scope.parent.node, ast.ClassDef):
            return scope.parent.node
        return None

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

    def unit(self) -> str:
        """One level of indentation as the file mostly writes it."""
        seen: Counter[str] = Counter()
        for node in self.nodes:
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body and body[0].lineno > node.lineno:
                outer, inner = self.indent(node), self.indent(body[0])
                if inner.startswith(outer) and len(inner) > len(outer):
                    seen[inner[len(outer) :]] += 1
        return seen.most_common(1)[0][0] if seen else "    "
