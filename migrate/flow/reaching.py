"""What gave a name its value where it is read: behind ``opt = ScheduledOptim(opt)`` that is what was made, and no more
what it was made of."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from functools import cached_property
from itertools import takewhile

from ..facts.module import Module
from ..facts.names import called_name
from ..facts.scopes import Block, Scope
from ..nodes import walk
from .objects import UNKNOWN, Obj

_NOT_LEFT = frozenset("autocast no_grad enable_grad set_grad_enabled scale_loss".split())  # they swallow no exception
_BLOCKS = (ast.With, ast.AsyncWith)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_JUMPED_INTO = (*_LOOPS, ast.Try)  # parts of these run behind others that stand below them, or half of them


def _plain(stmt: ast.stmt) -> list[ast.Assign]:
    """The assignments that have run behind a statement: itself, or those of a block that nothing leaves half way."""
    if isinstance(stmt, _BLOCKS) and all(called_name(item.context_expr) in _NOT_LEFT for item in stmt.items):
        return [one for inner in stmt.body if isinstance(inner, ast.Assign) for one in _plain(inner)]
    # of a constant None, it is as before
    return [stmt] if isinstance(stmt, ast.Assign) and not isinstance(stmt.value, ast.Constant) else []


class _Bound:
    """Where a name of a function or file is bound: by the blocks in which these statements stand, and those around."""

    def __init__(self, m: Module, name: str, home: Scope) -> None:
        self.places: dict[Block, list[int]] = defaultdict(list)  # each once, in order, as the nodes are
        self.nodes: dict[Block, list[ast.Name | None]] = defaultdict(list)  # None: several in one place
        self.inside: set[ast.stmt] = set()
        self.own: dict[ast.stmt, list[ast.Name]] = defaultdict(list)
        self.above: dict[ast.stmt, ast.Name | None] = {}  # what a statement finds ahead of it, as `ahead` found it
        self.known = all(m.scope(node) is home for node in m.bindings(name, home))
        self.known &= not any(m.binding_scope(name, m.scope(node)) is home for node in m.declared(name))
        for node in sorted(m.bindings(name, home), key=m.start) if self.known else ():
            self.own[m.statement(node)].append(node)
            for stmt in m.around(node):
                block, index = m.place[stmt]
                places, nodes = self.places[block], self.nodes[block]
                if not places or places[-1] < index:
                    places.append(index)
                    nodes.append(node)
                elif nodes[-1] is None:
                    break  # and so it is in each place around this one
                else:
                    nodes[-1] = None
                self.inside.add(stmt)

    def ahead(self, m: Module, stmt: ast.stmt) -> ast.Name | None:
        """The only target whose value the name may have where a statement begins; each statement is asked once, as
        many reads of a chain of ``elif`` stand in the same ones."""
        passed: list[ast.stmt] = []
        found: ast.Name | None = None
        for at in m.around(stmt):
            if at in self.above:
                found = self.above[at]
                break
            passed.append(at)
            block, index = m.place[at]
            places = self.places.get(block, ())
            if above := bisect_left(places, index):
                node, last = self.nodes[block][above - 1], block.body[places[above - 1]]
                found = node if node is not None and m.statement(node) in _plain(last) else None
                break
            outer = m.parent.get(at)
            if isinstance(outer, _BLOCKS) and outer in self.own:  # its header binds it ahead of its body
                named = [item.optional_vars for item in outer.items if item.optional_vars in self.own[outer]]
                found = self.own[outer][0] if len(self.own[outer]) == len(named) == 1 else None
                break
            outer = m.parent.get(outer) if isinstance(outer, (ast.ExceptHandler, ast.match_case)) else outer
            if isinstance(outer, _JUMPED_INTO) and outer in self.inside:
                break
        for at in passed:
            self.above[at] = found
        return found


class Reaching:
    """The assignments of one program."""

    def __init__(self, m: Module) -> None:
        self.m = m
        self._bound: dict[tuple[Scope, str], _Bound] = {}
        self._itself: dict[ast.Name, bool] = {}

    def given(self, read: ast.Name) -> ast.Name | None:
        """The only target of an assignment whose value a name may have where it is read; None where there may be
        others, or none is known."""
        m, name = self.m, read.id
        home = m.binding_scope(name, m.scope(read))
        if home is None or m.scope(read) is not home or (len(m.bindings(name, home)) < 2 and name not in home.params):
            return None
        if isinstance(home.node, ast.ClassDef) or (not home.is_function and name in self._set_from_outside):
            return None
        if (home, name) not in self._bound:
            self._bound[home, name] = _Bound(m, name, home)
        bound = self._bound[home, name]
        stmt = m.statement(read)
        if not bound.known or self._bound_within(bound, stmt):
            return None
        return bound.ahead(m, stmt)

    def made_of_itself(self, given: ast.Name) -> bool:
        """Whether what is assigned is made of what the name held before: ``model = wrapped(model)``."""
        if given not in self._itself:
            stmt = self.m.statement(given)
            value: ast.AST = stmt.value if isinstance(stmt, ast.Assign) else given
            if isinstance(stmt, _BLOCKS):
                value = next(item.context_expr for item in stmt.items if item.optional_vars is given)
            self._itself[given] = any(isinstance(n, ast.Name) and n.id == given.id for n in walk(value))
        return self._itself[given]

    def made_anew(self, given: ast.Name, obj: Obj) -> bool:
        """Whether an object of what is assigned is one that code which is not here gave back, and may be any that it
        was handed. ``amp.initialize`` gives back just these."""
        if obj.kind not in UNKNOWN:
            return False
        stmt = self.m.statement(given)
        value = stmt.value if isinstance(stmt, ast.Assign) else None
        handed_on = isinstance(value, ast.Call) and called_name(value) == "initialize"
        if value is None or not handed_on or self.m.defined("initialize"):
            return True
        return obj.kind == "path" or (isinstance(obj.key, ast.AST) and self.m.inside(obj.key, value))

    def _bound_within(self, bound: _Bound, stmt: ast.stmt) -> bool:
        """Whether the statement of a read binds the name itself other than by what is assigned once all is read."""
        if isinstance(stmt, _LOOPS):
            return stmt in bound.inside
        if isinstance(stmt, _BLOCKS):  # one item reads what the one before it binds
            return stmt in bound.own
        return any(
            isinstance(above, (ast.NamedExpr, ast.comprehension))
            for node in bound.own.get(stmt, ())
            for above in takewhile(lambda above: above is not stmt, self.m.ancestors(node))
        )

    @cached_property
    def _set_from_outside(self) -> frozenset[str]:
        """Names of files that functions, or other files, may give something else."""
        named = {name for scope in self.m.scope_of.values() for name in scope.globals}
        stored = (n for n in self.m.all(ast.Attribute) if isinstance(n.ctx, ast.Store) and not self._of_object(n.value))
        return frozenset(named | {n.attr for n in stored})

    def _of_object(self, owner: ast.expr) -> bool:
        """Whether an expression is the object of the method that it stands in: no file."""
        return isinstance(owner, ast.Name) and owner.id == self.m.self_name(self.m.function(owner))
