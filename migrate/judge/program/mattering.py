"""Names whose values may decide which way a program goes, or which object is meant: only those are remembered."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from ...facts.scopes import Scope
from ...nodes import children, each_given, walk
from ..names import OF_WORDS, PROTOCOL, PURE, SELF_METHODS, WRAPPERS
from .definitions import NAMESPACES
from .entries import Entries
from .syntax import Said, asked_for, factors, last_name, names_in, plain, stored_names
from .tree import AnnotatedTree

_EVALUATED = frozenset({"call", "gradients", "initialize", "create", "scaler", "step", "backward", "amp", "entered"})
LOOKED_INTO = (
    WRAPPERS
    | SELF_METHODS
    | PURE
    | OF_WORDS.keys()
    | NAMESPACES
    | {"nullcontext", "enter_context", "zip", "enumerate", "super"}
)
_ABOUT = frozenset({"models", "optimizers", "loss", "outputs", "optimizer"})
_TELLS = frozenset({"state_dict", "load_state_dict", "is_enabled"})
_TRAINS = frozenset({"initialize", "amp", "backward", "step", "create", "scaler"})
_BEGINS = frozenset({"initialize", "create"})
_PUTS = frozenset("append appendleft add insert extend update setdefault put".split())
_NOTHING = frozenset[str]()

Graph = dict[str | ast.AST, set[str | ast.AST]]
_ReadBy = Callable[[ast.expr, Said], set[str]]  # the names by which is read what a target is given


class Mattering:
    """The names of one program that matter."""

    def __init__(self, tree: AnnotatedTree, entries: Entries) -> None:
        self.m, self.v, self.naming = tree.m, tree.v, tree.naming
        self.marks, self.callees, self.scaling = tree.marks, tree.callees, tree.scaling
        self.entries = entries
        self._behind: dict[frozenset[str], frozenset[str]] = {}
        self._graphs: dict[tuple[_ReadBy, bool], Graph] = {}
        self._scoped: dict[tuple[Scope, str], str] = {}

    @cached_property
    def names(self) -> frozenset[str]:
        """Names whose values may decide which way a program goes, or which object is meant."""
        return self._matter(lambda node: node in self.marks.relevant, _EVALUATED, _NOTHING, stored_names)

    def those_behind(self, names: frozenset[str]) -> frozenset[str]:
        """These names, those that say how losses are scaled, and what their values hang on."""
        if names not in self._behind:
            asked = (names_in(part) for part in self._settings())
            self._behind[names] = self._matter(lambda node: False, _NOTHING, names.union(*asked), key_or_names)
        return self._behind[names]

    def _settings(self) -> Iterator[ast.AST]:
        """What mixed precision is told but for the objects it is about, and the losses."""
        for node, kind in self.marks.kind.items():
            if isinstance(node, ast.Call) and kind in _EVALUATED:
                if kind == "create":
                    yield node
                elif kind != "call":
                    yield from (k.value for k in node.keywords if k.arg not in _ABOUT)
                    yield from node.args[2:]

    def _matter(
        self,
        decides: Callable[[ast.AST], bool],
        evaluated: frozenset[str],
        names: frozenset[str],
        read_by: _ReadBy,
    ) -> frozenset[str]:
        found: set[str | ast.AST] = {f.id for stmt in self.marks.readers for f in factors(stmt)}
        found |= names
        for node in self._telling:
            match node:
                case ast.If() if node not in self.marks.relevant:
                    pass
                case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                    if decides(node):
                        found |= names_in(test)
                case ast.match_case() | ast.BoolOp() if decides(node):
                    found |= names_in(node)
                case ast.Call(func=func) if self.marks.kind.get(node) == "call":
                    found |= names_in(func)
                case ast.Call() if self.marks.kind.get(node) in evaluated:
                    found |= names_in(node)
                case ast.withitem() if self.scaling.context(node):
                    if evaluated or node.context_expr not in self.marks.kind:  # else told by `_settings`
                        found |= names_in(node)
                case _:
                    pass
        made_of = self.made_of(read_by)
        todo = list(found)
        while todo:
            for more in made_of.get(todo.pop(), ()):
                if more not in found:
                    found.add(more)
                    todo.append(more)
        return frozenset(name for name in found if isinstance(name, str))

    def made_of(self, read_by: _ReadBy, every: bool = False) -> Graph:
        """What names, functions (as ``f()``) and targets of assignments get their values from, whose these are, and the
        conditions that choose. With ``every`` all conditions, else those that are not followed; and not whose, but what
        is put into them and added to them, by `scoped` names."""
        if (read_by, every) not in self._graphs:
            self._graphs[read_by, every] = self._made_of(read_by, every)
        return self._graphs[read_by, every]

    def _made_of(self, read_by: _ReadBy, every: bool) -> Graph:
        found: Graph = defaultdict(set)
        said = self.scoped if every else plain
        self._add_choices(found, every)
        for read in (node for test in self.tests for node in walk(test)) if not every else ():
            if isinstance(read, ast.Attribute):
                found[read.attr] |= names_in(read.value)  # of another object it is another one
        for node in self._telling:
            match node:
                case ast.Return(value=ast.expr() as value):
                    found[self.given_back(node)] |= self._values_in(value, every)
                case ast.Yield(value=ast.expr() as value) | ast.YieldFrom(value=value) if every:
                    found[self.given_back(node)] |= self._values_in(value, every)
                case ast.Call() if self.marks.kind.get(node) == "call":
                    for name, arg in self.handed(node, every):
                        found[name] |= self._values_in(arg, every)
                case ast.Call(func=ast.Attribute(value=receiver, attr=attr), args=args) if every and attr in _PUTS:
                    for name in read_by(receiver, said):
                        found[name] |= {more for arg in args for more in self._values_in(arg, every)}
                case ast.withitem(context_expr=given, optional_vars=ast.expr() as target) if every:
                    for name in read_by(target, said):
                        found[name] |= self._values_in(given, every)
                case ast.Assign(value=value) if every and self.marks.kind.get(value) == "initialize":
                    pass  # it gives back what it was handed
                case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                    for target, value in _given(node):
                        if every and (held := keyed(value)) is not None:
                            for key, item in held:
                                found[key] |= self._values_in(item, every)
                            continue
                        found[target] |= self._values_in(value, every)  # once, for however many names
                        if not every:
                            found[target] |= names_in(target)  # whose it is
                        for name in read_by(target, said):
                            found[name].add(target)
                case ast.AugAssign(target=target, value=value) if every:
                    for name in read_by(target, said):
                        found[name] |= self._values_in(value, every)
                case ast.ImportFrom(names=aliases):
                    for alias in aliases:
                        bound = alias.asname or alias.name
                        found[self.scoped_name(bound, node) if every else bound].add(alias.name)
                case ast.For(target=target, iter=source):
                    for name in names_in(target, said):
                        found[name] |= self._values_in(source, every)
                case _:
                    pass
        return found

    def given_back(self, node: ast.AST) -> str:
        """What the function that a node stands in gives back, as ``f()``."""
        return getattr(self.m.function(node).node, "name", "") + "()"

    @cached_property
    def _telling(self) -> list[ast.AST]:
        """The nodes that ask, call or give something."""
        asking = (ast.If, ast.While, ast.IfExp, ast.Assert, ast.match_case, ast.BoolOp)
        giving = (ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr, ast.ImportFrom, ast.For)
        return self.m.of(*asking, *giving, ast.Yield, ast.YieldFrom, ast.Call, ast.withitem)

    def _values_in(self, expr: ast.AST, every: bool) -> set[str]:
        """The names that a value hangs on: what a call is handed of which nothing is known is not among them, nor (with
        ``every``) what a function is handed that is known: that is told of its parameters."""
        found: set[str] = set()
        todo = [expr]
        while todo:
            node = todo.pop()
            match node:
                case ast.Call(func=func):
                    last = last_name(func)
                    found.add(last + "()")
                    found |= asked_for(node)
                    if last not in LOOKED_INTO and node not in self.marks.kind and not self.callees.runs(node):
                        continue
                    if every and self.marks.kind.get(node) == "call" and self.callees.runs(node):
                        continue
                case ast.Name():
                    found.add(self.scoped(node) if every else node.id)
                case ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))):
                    found.add(name)
            todo += children(node)
        return found

    def _add_choices(self, assigned: Graph, every: bool) -> None:
        """Conditions that only choose what is bound (or ``every`` one): that hangs on the innermost around it, which
        hangs on what it asks, and on the next one."""
        followed = frozenset[ast.AST]() if every else self.marks.relevant
        said = self.scoped if every else plain
        if all(node in followed for node in self.m.all(ast.If)):
            return
        around: dict[ast.AST, ast.If] = {}
        for node in self.m.nodes:
            above = self.m.parent.get(node)
            choice = around.get(above) if above is not None else None
            if isinstance(above, ast.If) and above not in followed:
                choice = above
            if choice is None:
                continue
            around[node] = choice
            if isinstance(node, ast.If) and node not in followed:
                assigned[node].add(choice)
            if isinstance(getattr(node, "ctx", None), ast.Store):
                given = getattr(self.m.statement(node), "value", None) if every else None
                if given is not None and self.marks.kind.get(given) == "initialize":
                    continue
                for name in stored_names(node, said):
                    assigned[name].add(choice)
        for choice in set(around.values()):
            assigned[choice] |= names_in(choice.test, said)

    def handed(self, call: ast.Call, scoped: bool = False) -> Iterator[tuple[str, ast.AST]]:
        """The arguments of a call by the names of the parameters that they may fill."""
        for callee in self.v.callees(call):
            scope = self.m.scope_of[callee]
            names = [n for n in scope.params if n != self.m.self_name(scope)]
            own = {n: self._of(n, scope) if scoped else n for n in names}
            for number, arg in enumerate(call.args):
                if isinstance(arg, ast.Starred):
                    yield from ((own[name], arg) for name in names[number:])
                elif number < len(names):
                    yield own[names[number]], arg
            for keyword in call.keywords:
                yield own.get(keyword.arg or "", keyword.arg or ""), keyword.value

    def scoped(self, name: ast.Name) -> str:
        """A name as `scoped_name`, where it stands."""
        return self.scoped_name(name.id, name)

    def scoped_name(self, name: str, node: ast.AST) -> str:
        """A variable of a function by its name and the function's place, which is one in both programs; any other name
        as it is. `plain_name` is what it was."""
        scope = self.m.scope(node)
        if (scope, name) not in self._scoped:
            home = self.m.binding_scope(name, scope)
            self._scoped[scope, name] = self._of(name, home) if home is not None and home.is_function else name
        return self._scoped[scope, name]

    def _of(self, name: str, function: Scope) -> str:
        return f"{name}@{self.naming.place(function.node)}"

    @cached_property
    def tests(self) -> list[ast.AST]:
        """Conditions that are followed."""
        kinds = (ast.If, ast.While, ast.IfExp, ast.Assert, ast.BoolOp, ast.match_case)
        return [getattr(node, "test", node) for node in self.m.of(*kinds) if node in self.marks.relevant]

    @cached_property
    def asked(self) -> dict[str, set[int]]:
        """For each name or attribute the places whose conditions or values it may decide."""
        found: dict[str, set[int]] = defaultdict(set)
        for node in self._telling:
            parts: list[ast.AST] = []
            match node:
                case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test):
                    parts = [test] if node in self.marks.relevant else []
                case ast.Call() if self.marks.kind.get(node) in _EVALUATED:
                    parts = [node]
                case ast.withitem() if self.scaling.context(node):
                    parts = [node.context_expr]
                case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
                    if any(stored_names(target) & self.names for target, _ in _given(node)):
                        parts = [node.value] if node.value is not None else []
                case ast.Return(value=ast.expr() as value):
                    parts = [value]
                case _:
                    pass
            for part in parts:
                for name in names_in(part):
                    found[name].add(self.naming.place(part))
        return found

    # ------------------------------------------------------------ conditions of mixed precision

    @cached_property
    def deciding(self) -> frozenset[str]:
        """Names in conditions that have a part in mixed precision."""
        created = [node for node, kind in self.marks.kind.items() if kind == "create"]
        tests = [node.test for node in self._deciding_conditions]
        return frozenset[str]().union(*map(names_in, (*created, *tests)))

    @cached_property
    def _deciding_conditions(self) -> set[ast.If | ast.While]:
        """Conditions that decide whether and how losses are scaled, gradients are taken and steps are made."""
        sites = [
            node
            for node, kind in self.marks.kind.items()
            if (kind in PROTOCOL | {"initialize", "create"} and not _only_tells(node))
            or (kind == "call" and not self._acting.isdisjoint(self.callees.runs(node)))
        ]
        return self._conditions((*sites, *self.marks.readers, *self.marks.clearers))

    @cached_property
    def _acting(self) -> set[ast.AST]:
        """Functions that train, themselves or by others that they call; not those that only save or load."""
        every = self.callees.kinds_in.items()
        return self.entries.with_callers(
            {f for f, kinds in every if any(kind in _TRAINS and not _only_tells(n) for n, kind in kinds)}
        )

    @cached_property
    def beginning(self) -> frozenset[str]:
        """Names in conditions that decide whether and how mixed precision is begun."""
        begun = [node for node, kind in self.marks.kind.items() if kind in _BEGINS]
        made = [node for node in begun if self.marks.kind[node] == "create"]
        tests = [condition.test for condition in self._conditions(begun)]
        return frozenset[str]().union(*map(names_in, (*made, *tests)))

    def _conditions(self, nodes: Iterable[ast.AST]) -> set[ast.If | ast.While]:
        """The conditions that some nodes stand under, each in its function."""
        around = self.m.all_around(nodes)
        return {outer for outer in around if isinstance(outer, (ast.If, ast.While))}


def _only_tells(node: ast.AST) -> bool:
    """Whether a call does no more than ask a scaler, hand out or load its state: when a checkpoint is saved hangs on
    scores and counts of steps, and next to nothing hangs on that."""
    return isinstance(node, ast.Call) and last_name(node.func) in _TELLS


def plain_name(scoped: str) -> str:
    return scoped.partition("@")[0]


def key_or_names(target: ast.expr, said: Said = plain) -> set[str]:
    """As `stored_names`; of an item with a key that is written its key alone: what holds it stays what it is."""
    match target:
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return {key}
        case _:
            return stored_names(target, said)


def _given(node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> list[tuple[ast.expr, ast.expr]]:
    """What is given a value, and the value."""
    if node.value is None:
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [pair for target in targets for pair in each_given(target, node.value)]


def keyed(value: ast.AST) -> list[tuple[str, ast.expr]] | None:
    """The keys and values of a dictionary or namespace that is written out with its keys."""
    if isinstance(value, ast.Call) and last_name(value.func) in NAMESPACES | {"dict"} and not value.args:
        return [(k.arg, k.value) for k in value.keywords if k.arg] if all(k.arg for k in value.keywords) else None
    if not isinstance(value, ast.Dict):
        return None
    keys = [key.value for key in value.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
    return list(zip(keys, value.values, strict=True)) if len(keys) == len(value.values) else None
