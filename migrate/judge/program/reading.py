"""What the names of a program are made of, by all ways that its text shows."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable
from functools import cached_property

from ...knowledge.apex import of_apex
from ...nodes import children, header, walk
from .answering import answering, decorated, entered
from .mattering import Mattering
from .syntax import FUNCTIONS, finds_apex, last_name, set_by_name, stored_names
from .unlike import given_by

_ANY = "*"  # an attribute of which it is not written which
_LISTED = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp)  # what may get other items
_ONLY_SHOW = frozenset("print info debug warning error log pprint write".split())

Graph = dict[str, set[str]]
_Read = Callable[[ast.AST], set[str]]


class Reading:
    """What one program reads, and what its names are made of."""

    def __init__(self, mattering: Mattering) -> None:
        self.mattering, self.m, self.v = mattering, mattering.m, mattering.v
        self.presence = frozenset[str]()  # names that only say whether Apex is there: it is
        self.apart: dict[ast.AST, str] = {}  # flags that stand here alone, by their statement
        self.besides: set[str] = set()  # names that are given something in a way that is not followed
        self.parts: set[str] = set()  # those of which only attributes or items are
        self._touched: set[str] = set()  # those of which attributes may be
        self.without_apex: dict[ast.AST, bool] = {}  # whether code only runs where there is no Apex

    @cached_property
    def every(self) -> frozenset[str]:
        """The names and attributes of the text."""
        m = self.m
        names = {n.id for n in m.all(ast.Name)} | {n.attr for n in m.all(ast.Attribute)}
        defined = {n.name for n in m.of(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)}  # type: ignore[attr-defined]
        return frozenset(names | defined | {f"{name}()" for name in defined} | {n.arg for n in m.all(ast.arg)})

    @cached_property
    def read(self) -> frozenset[str]:
        """Those of them that are not only given a value as variables: nobody asks for these."""
        asked = {n.id for n in self.m.all(ast.Name) if isinstance(n.ctx, ast.Load)}
        only_given = {n.id for n in self.m.all(ast.Name)} - asked - {n.attr for n in self.m.all(ast.Attribute)}
        return self.every - only_given

    def is_apex(self, node: ast.AST) -> bool:
        """Whether an expression says that Apex is there, or is something of it."""
        if finds_apex(node):
            return True
        if isinstance(node, ast.Name):
            return self.mattering.scoped(node) in self.presence or node.id in self.of_apex
        held = self.v.of(node) if isinstance(node, ast.Attribute) else ()
        return bool(held) and all(obj.kind == "apex" for obj in held)

    @cached_property
    def of_apex(self) -> frozenset[str]:
        """The names by which the files of the program have what is of Apex."""
        froms = (node for node in self.m.all(ast.ImportFrom) if of_apex(node.module or ""))
        imports: list[ast.Import | ast.ImportFrom] = [*self.m.all(ast.Import), *froms]
        return frozenset(
            alias.asname or alias.name.split(".")[0]
            for node in imports
            for alias in node.names
            if isinstance(node, ast.ImportFrom) or of_apex(alias.name)
        )

    # ------------------------------------------------------------ what an expression reads

    def wholly(self, expr: ast.AST) -> set[str]:
        """All names in an expression, and those of what holds its attributes."""
        found: set[str] = set()
        for node in walk(expr):
            found |= self._names_of(node)
        return found

    def directly(self, expr: ast.AST) -> set[str]:
        """Those that it hangs on of itself: what holds an attribute is a value of its own."""
        found, todo = set[str](), [expr]
        while todo:
            node = todo.pop()
            found |= self._names_of(node)
            match node:
                case ast.Attribute(value=ast.Name() as owner) | ast.Subscript(
                    value=ast.Name() as owner, slice=ast.Constant(value=str())
                ):
                    found |= {self.mattering.scoped(owner)} - (self.parts - self.besides)
                case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args, keywords=keywords):
                    found.add(name)
                    todo += [owner, *args, *keywords]
                case _:
                    todo += children(node)
        return found

    def _names_of(self, node: ast.AST) -> set[str]:
        """The names that a node hangs on by itself, and what it runs without a call."""
        return self._spelled(node) | answering(self.m, self.v, node)

    def _spelled(self, node: ast.AST) -> set[str]:
        match node:
            case ast.Name():
                return {self.mattering.scoped(node)}
            case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
                return {name}
            case ast.Call(func=func):
                return {last_name(func) + "()"}
            case ast.Constant(value=str(word)) if word.isidentifier():
                own = {self.apart[node]} if node in self.apart else set[str]()
                return {word, *self._by_plain_name.get(word, ()), *own}
            case ast.Constant():
                return {self.apart[node]} if node in self.apart else set()
            case _:
                return set()

    @cached_property
    def _by_plain_name(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for name in self.m.all(ast.Name):
            if isinstance(name.ctx, ast.Store):
                found[name.id].add(self.mattering.scoped(name))
        return found

    def given(self, target: ast.expr) -> set[str]:
        """The name by which one target is read."""
        match target:
            case ast.Name():
                return {self.mattering.scoped(target)}
            case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
                return {name}
            case _:
                return set()

    # ------------------------------------------------------------ what names are made of

    @cached_property
    def graph(self) -> Graph:
        """For each name, and function as ``f()``, the names that its value may hang on."""
        return self._made_of(self.wholly)

    @cached_property
    def near(self) -> Graph:
        """The same without what only holds the attributes that are read."""
        assert self.graph is not None  # by which it is known what that is
        return self._made_of(self.directly)

    def _made_of(self, read: _Read) -> Graph:
        found: Graph = defaultdict(set)
        for stmt in self.m.place:
            chosen = self._chosen(stmt, read)
            followed = self._is_followed(stmt)
            for name, value in given_by(self.mattering, stmt):
                if value is None and isinstance(stmt, ast.Assign):  # a dictionary that is written out, key by key
                    value = stmt.value
                    self.parts.add(name)
                found[name] |= chosen if value is None else chosen | read(value)
                if not followed or value is None or isinstance(value, _LISTED) or any(map(_spells, walk(value))):
                    self.besides.add(name)
            if isinstance(stmt, FUNCTIONS):
                around = set[str]().union(decorated(stmt), *map(read, (*header(stmt), *stmt.decorator_list)))
                found[self.mattering.scoped_name(stmt.name, stmt)] |= around | {f"{stmt.name}()"}
                found[f"{stmt.name}()"] |= around
                if stmt.name == "__getattr__":
                    found[_ANY].add(f"{stmt.name}()")
            for item in stmt.items if isinstance(stmt, (ast.With, ast.AsyncWith)) else ():
                for name in self.given(item.optional_vars) if item.optional_vars is not None else ():
                    found[name] |= (more := entered(self.v, item.context_expr))
                    self.besides |= {name} if more else set()
            decorators = stmt.decorator_list if isinstance(stmt, (*FUNCTIONS, ast.ClassDef)) else []
            for node in (inner for part in (*header(stmt), *decorators) for inner in walk(part)):
                self._add(found, node, chosen, read)
        for attribute in self.m.all(ast.Attribute):
            held = {_ANY} if _ANY in found else set[str]()
            if isinstance(attribute.value, ast.Name):
                held |= {self.mattering.scoped(attribute.value)} & self._touched
            if held:
                found[attribute.attr] |= held
                self.besides.add(attribute.attr)
        return found

    def _add(self, found: Graph, node: ast.AST, chosen: set[str], read: _Read) -> None:
        match node:
            case ast.Attribute(value=base, attr=name, ctx=ast.Store()):
                self._put(found, base, {name}, self.parts)
            case ast.Subscript(value=base, slice=index, ctx=ast.Store()):
                self._put(found, base, read(index), self.parts)
            case ast.Call(func=func, args=args, keywords=keywords):
                for name, arg in self.mattering.handed(node, scoped=True):
                    found[name] |= read(arg)
                callees = self.v.callees(node)
                found[last_name(func) + "()"] |= {f"{c.name}()" for c in callees if hasattr(c, "name")}
                handed = set[str]().union(chosen, *map(read, (*args, *keywords)))
                for field in self._fields.get(last_name(func), ()):
                    found[field] |= handed
                    self.besides.add(field)
                alone = isinstance(self.m.parent[node], ast.Expr) and self.mattering.marks.kind.get(node) is None
                into = [func.value] if isinstance(func, ast.Attribute) else []
                if _saves(func):
                    into = [arg for arg in args[1:] if self._is_made(arg)]
                elif not callees:
                    into += args
                for one in into if alone and last_name(func) not in _ONLY_SHOW else ():
                    self._put(found, one, handed, self.besides)
                    if isinstance(one, ast.Name) and not callees:
                        self._touched.add(self.mattering.scoped(one))
            case _:
                pass
        for name in set_by_name(node):
            found[name] |= chosen | read(node)
            self.besides.add(name)

    def _is_made(self, target: ast.expr) -> bool:
        """Whether somebody made what a state is saved to (a buffer, an open file): a path is nothing to put it into."""
        return any(obj.kind == "call" for obj in self.v.of(target))

    def _put(self, found: Graph, into: ast.expr, names: set[str], noted: set[str]) -> None:
        """Something is put into what an expression stands for."""
        if isinstance(into, (ast.Name, ast.Attribute, ast.Subscript)):
            for name in stored_names(into, self.mattering.scoped):
                found[name] |= names - {name}
                noted.add(name)

    def _chosen(self, stmt: ast.stmt, read: _Read) -> set[str]:
        """The names that decide whether, and how often, a statement runs in its function."""
        found: set[str] = set()
        for outer in self.m.spine(stmt):
            if outer is not stmt and isinstance(outer, (ast.If, ast.While, ast.For, ast.AsyncFor, ast.Match)):
                found |= set[str]().union(*map(read, header(outer)))
        return found

    def _is_followed(self, stmt: ast.stmt) -> bool:
        """Whether the judge binds what a statement gives, when it runs."""
        marks, scope = self.mattering.marks, self.m.scope(stmt)
        if not isinstance(stmt, (ast.Assign, ast.AnnAssign)) or isinstance(scope.node, ast.ClassDef):
            return False
        if scope.node not in marks.functions and not isinstance(scope.node, ast.Module):
            return False
        return all(outer is stmt or outer in marks.relevant for outer in self.m.spine(stmt))

    @cached_property
    def _fields(self) -> dict[str, set[str]]:
        """The fields of classes without a constructor of their own, which they are handed: data classes, named
        tuples."""
        found: dict[str, set[str]] = defaultdict(set)
        for cls in self.m.all(ast.ClassDef):
            found[cls.name] = {
                s.target.id for s in cls.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            }
        for stmt in self.m.all(ast.Assign):
            match stmt:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func, args=[_, *fields])) if (
                    last_name(func).lower() == "namedtuple"
                ):
                    words = [n.value for one in fields for n in walk(one) if isinstance(n, ast.Constant)]
                    found[name] = {part for word in map(str, words) for part in word.replace(",", " ").split()}
                case _:
                    pass
        return found

    @cached_property
    def onwards(self) -> Graph:
        """For each name what is made of it."""
        found: Graph = defaultdict(set)
        for name, parts in self.graph.items():
            for part in parts:
                found[part].add(name)
        return found


def _saves(func: ast.expr) -> bool:
    return ast.unparse(func) == "torch.save"


def _spells(node: ast.AST) -> bool:
    """Whether a piece of code may be the name of something."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
