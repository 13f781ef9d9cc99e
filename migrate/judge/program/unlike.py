"""Names whose values may not be the same in both programs.

A rough search forgets most values. What is forgotten is another value wherever it is read, but the same one in both
programs where both read it at one place. So what a migration may have changed is remembered from the start: what is
given a value in one program alone, or another one in the other program, or under other conditions; and what is made of
it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from ...flow.arguments import default_of
from ...knowledge.apex import of_apex
from ...nodes import children, each_given, header, named_parameters, walk
from .mattering import LOOKED_INTO, Graph, Mattering, key_or_names, keyed, plain_name
from .syntax import last_name, names_in

_Given = tuple[str, "ast.AST | None"]
Change = tuple[str, list["ast.AST | None"], list["ast.AST | None"]]
_ByName = defaultdict[str, list["ast.AST | None"]]
_WITH = (ast.With, ast.AsyncWith)  # runs its block, whatever it is
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


def unlike(comparison: Comparison) -> frozenset[str]:
    """The names that conditions ask, and whose values may not be the same."""
    old, new = comparison.old, comparison.new
    hanging = [_hanging(mattering.made_of(key_or_names, every=True)) for mattering in (old, new)]
    found = set[str | ast.AST]()
    todo: list[str | ast.AST] = [*comparison.changed]
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            todo += (more for graph in hanging for more in graph.get(at, ()))
    asked = (names_in(test, mattering.scoped) for mattering in (old, new) for test in mattering.tests)
    return frozenset(plain_name(name) for names in asked for name in names if name in found)


def _hanging(made_of: Graph) -> Graph:
    """For each name what is made of it."""
    found: Graph = defaultdict(set)
    for name, parts in made_of.items():
        for part in parts:
            found[part].add(name)
    return found


def _by_name(given: Iterator[_Given]) -> _ByName:
    found: _ByName = defaultdict(list)
    for name, value in given:
        found[name].append(value)
    return found


class Comparison:
    """What the statements of both programs give a value, side by side."""

    def __init__(self, old: Mattering, new: Mattering) -> None:
        self.old, self.new = old, new
        self._conditions: dict[tuple[ast.AST, ast.AST], bool] = {}

    @cached_property
    def changed(self) -> frozenset[str]:
        """The names that are not given the same under the same conditions in both."""
        return frozenset(name for name, _, _ in self.changes)

    @cached_property
    def changes(self) -> list[Change]:
        """Those names, each with what gives it in the old and in the new program: the statements, and the values."""
        twins = {stmt: self.new.naming.twin(stmt) for stmt in self.new.m.place}
        gone = self.old.m.place.keys() - twins.values()
        found: list[Change] = [(name, [stmt, value], []) for stmt in gone for name, value in given_by(self.old, stmt)]
        for stmt, twin in twins.items():
            if not isinstance(twin, ast.stmt):
                found += ((name, [], [stmt, value]) for name, value in given_by(self.new, stmt))
                continue
            ours, theirs = _by_name(given_by(self.new, stmt)), _by_name(given_by(self.old, twin))
            names = self._otherwise(stmt, twin, ours, theirs, ours.keys() | theirs.keys())
            found += ((name, [twin, *theirs[name]], [stmt, *ours[name]]) for name in names)
            ours, theirs = _by_name(_handed(self.new, stmt)), _by_name(_handed(self.old, twin))
            names = self._otherwise(stmt, twin, ours, theirs, ours.keys() & theirs.keys())  # one alone reads no other
            found += ((name, [twin, *theirs[name]], [stmt, *ours[name]]) for name in names)
        return found

    def _otherwise(self, new: ast.stmt, old: ast.stmt, ours: _ByName, theirs: _ByName, names: set[str]) -> set[str]:
        """Those names that two statements do not give the same."""
        if names and not self._under_the_same(new, old):
            return names
        return {name for name in names if not self._are_alike(ours[name], theirs[name])}

    def _are_alike(self, new: list[ast.AST | None], old: list[ast.AST | None]) -> bool:
        return len(new) == len(old) and all(map(self._is_alike, new, old))

    def _is_alike(self, new: ast.AST | None, old: ast.AST | None) -> bool:
        return new is old if new is None or old is None else self._reads_alike(new, old)

    def _reads_alike(self, new: ast.AST, old: ast.AST) -> bool:
        """Whether two pieces of code give the same if the names in them do; what is turned into float32 is the same, as
        for all conditions."""
        if _converted(old) is None and (before := _converted(new)) is not None:
            new = before
        if type(new) is not type(old):
            return False
        if isinstance(new, ast.Call) and isinstance(old, ast.Call) and self.new.naming.twin(new) is old:
            if self.new.marks.kind.get(new) == "call" or last_name(new.func) not in LOOKED_INTO:
                return self._reads_alike(new.func, old.func)  # what it is handed is another matter
        ours, theirs = children(new), children(old)
        if len(ours) != len(theirs) or words(new) != words(old):
            return False
        return all(self._reads_alike(one, other) for one, other in zip(ours, theirs, strict=True))

    def _under_the_same(self, new: ast.AST, old: ast.AST) -> bool:
        """Whether two statements stand under the same conditions, each in its function."""
        if (new, old) not in self._conditions:
            self._conditions[new, old] = self._compare(new, old)
        return self._conditions[new, old]

    def _compare(self, new: ast.AST, old: ast.AST) -> bool:
        (outer, arm), (other, its_arm) = _around(self.new, new), _around(self.old, old)
        if type(outer) is not type(other) or arm != its_arm:
            return False
        if isinstance(outer, _SCOPES):
            return isinstance(outer, ast.Module) or self.new.naming.twin(outer) is other
        asked, theirs = _asked(outer), _asked(other)
        if len(asked) != len(theirs) or not all(map(self._reads_alike, asked, theirs)):
            return False
        return self._under_the_same(outer, other)


def _converted(node: ast.AST) -> ast.expr | None:
    """What ``.float()`` is called on; None where it is not."""
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr="float"), args=[], keywords=[]):
            return value
        case _:
            return None


def _around(mattering: Mattering, node: ast.AST) -> tuple[ast.AST, str]:
    """What a statement or handler stands in but for `with`, and in which arm of it."""
    arm = ""
    while not isinstance(node, ast.Module):
        place = mattering.m.place.get(node) if isinstance(node, ast.stmt) else None
        node, arm = (place[0].owner, place[0].field_name) if place is not None else (mattering.m.parent[node], arm)
        if not isinstance(node, _WITH):
            break
    return node, arm


def _asked(outer: ast.AST) -> list[ast.AST]:
    """What decides whether the arms of a statement run."""
    match outer:
        case ast.match_case(pattern=pattern, guard=guard):
            return [pattern, *([guard] if guard is not None else [])]
        case ast.ExceptHandler(type=kind):
            return [kind] if kind is not None else []
        case ast.stmt():
            return header(outer)
        case _:
            return []


def given_by(mattering: Mattering, stmt: ast.stmt) -> Iterator[_Given]:
    """The names that a statement gives a value, and functions (as ``f()``) that return one, each with what it is. What
    `initialize` gives back is what it was handed."""
    yield from _given_first(stmt, mattering)
    for node in (inner for part in header(stmt) for inner in walk(part)):
        if isinstance(node, ast.NamedExpr):
            yield from ((name, node.value) for name in key_or_names(node.target, mattering.scoped))
        elif isinstance(node, (ast.Yield, ast.YieldFrom)):
            yield mattering.given_back(node), node.value


def _handed(mattering: Mattering, stmt: ast.stmt) -> Iterator[_Given]:
    """The parameters that calls in a statement hand something, and those that a definition gives a default."""
    if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)):
        inside = stmt.body[0]
        yield from ((mattering.scoped_name(name, inside), default_of(stmt, name)) for name in named_parameters(stmt))
    decorators = stmt.decorator_list if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
    for node in (inner for part in (*header(stmt), *decorators) for inner in walk(part)):
        if isinstance(node, ast.Call) and mattering.marks.kind.get(node, "call") == "call":
            yield from mattering.handed(node, scoped=True)


def _given_first(stmt: ast.stmt, mattering: Mattering) -> Iterator[_Given]:
    match stmt:
        case ast.Assign(value=value) if mattering.marks.kind.get(value) == "initialize":
            pass
        case ast.Assign(targets=targets, value=value):
            for target, given in (pair for one in targets for pair in each_given(one, value)):
                keys = keyed(given)
                yield from ((name, given if keys is None else None) for name in key_or_names(target, mattering.scoped))
                yield from keys or ()
        case ast.AugAssign(target=target):
            yield from ((name, stmt) for name in key_or_names(target, mattering.scoped))
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from ((name, value) for name in key_or_names(target, mattering.scoped))
        case ast.For(target=target, iter=source) | ast.AsyncFor(target=target, iter=source):
            yield from ((name, source) for name in key_or_names(target, mattering.scoped))
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                held = item.optional_vars
                if held is not None:
                    yield from ((name, item.context_expr) for name in key_or_names(held, mattering.scoped))
        case ast.ImportFrom(module=str(module), level=0) if of_apex(module):
            pass  # what is of Apex is kept in any case
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            others = (alias for alias in aliases if isinstance(stmt, ast.ImportFrom) or not of_apex(alias.name))
            bound = (((alias.asname or alias.name).split(".")[0], alias) for alias in others)
            yield from ((mattering.scoped_name(name, stmt), alias) for name, alias in bound)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield mattering.scoped_name(name, stmt), None
        case ast.Delete(targets=targets):
            yield from ((name, None) for target in targets for name in key_or_names(target, mattering.scoped))
        case ast.Return(value=value):
            yield mattering.given_back(stmt), value
        case _:
            pass


def words(node: ast.AST) -> tuple[object, ...]:
    """What a node says that is no node."""
    return tuple(
        getattr(node, name, None)
        for name in node._fields
        if name not in ("ctx", "kind", "type_comment", "type_ignores")
        and not isinstance(getattr(node, name, None), (ast.AST, list))
    )
