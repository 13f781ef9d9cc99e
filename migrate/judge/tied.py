"""Parameters that two networks share: ``decoder.weight = encoder.weight``, ``net.head = other.head``, ``Net(trunk)``.
What a loss leaves in one of them, it leaves in the other.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from ..facts.names import called_name
from ..flow.objects import whole_of
from ..knowledge.models import COPIES, NO_MODULE, NO_PART, PARAMETERS
from ..nodes import chain, children
from .assigned import Assigned
from .computed import Run
from .program.program import Program
from .state import Key
from .twins import Twins
from .within import Within, around

_CHAIN = (ast.Name, ast.Attribute, ast.Subscript)
_OF_TENSORS = frozenset({"data", "grad"})  # what is given to these is copied, or no parameter
_PARAMETERS = frozenset({"weight", "bias"})
_ADDS = frozenset("add_module register_module register_parameter append insert extend __setattr__ setattr".split())
_ANEW = frozenset("clone detach state_dict tolist numpy item size dim numel".split())
_Given = dict[Key, set[Key]]  # for a network those of which it was given a part, or parameters


class Tied:
    """Answers about the networks of one program."""

    def __init__(self, program: Program, assigned: Assigned, within: Within, twins: Twins) -> None:
        self.m, self.v, self.naming = program.m, program.v, program.naming
        self.assigned, self.within, self.twins = assigned, within, twins
        self._had: dict[tuple[frozenset[Key], bool], tuple[frozenset[Key], frozenset[Key]]] = {}

    def share(self, own: frozenset[Key], run: Run) -> bool:
        """Whether one of some networks was given parameters that one has which was run, or the other way round. What
        parts of one whole have of each other is of no account to others of its class."""
        across, inner = self._ties
        if across and self._share(own, run, False):
            return True
        return bool(inner) and self._of_one_whole(own, run.models) and self._share(own, run, True)

    @property
    def anything(self) -> bool:
        """Whether any network was given a part of another one, or its parameters."""
        across, inner = self._ties
        return bool(across or inner)

    def _share(self, own: frozenset[Key], run: Run, inner: bool) -> bool:
        (parts, mine), (theirs, others) = self._have(own, inner), self._have(run.models, inner)
        theirs = (theirs & run.parts) | run.models  # but for what is frozen
        if not mine and not others:
            return False
        if mine & others or _with_wholes(mine) & theirs or _with_wholes(others) & parts:
            return True
        whole = any(run.models & self.within.parts(key) for key in mine)
        return whole or any(own & self.within.parts(key) for key in others)

    def _have(self, networks: frozenset[Key], inner: bool) -> tuple[frozenset[Key], frozenset[Key]]:
        """Networks with their parts, and what these were given."""
        if (networks, inner) not in self._had:
            given, parts = self._ties[inner], networks.union(*map(self.within.parts, networks))
            self._had[networks, inner] = parts, frozenset(key for one in parts for key in given.get(one, ()))
        return self._had[networks, inner]

    def _of_one_whole(self, own: frozenset[Key], others: frozenset[Key]) -> bool:
        return any(own & whole and others & whole for whole in self._wholes)

    @cached_property
    def _wholes(self) -> list[frozenset[Key]]:
        """The parts of the models that have some which were given what others have."""
        wholes = map(self.within.parts, self.within.program.objects.models)
        return [whole for whole in wholes if not whole.isdisjoint(self._ties[True])]

    @cached_property
    def _ties(self) -> tuple[_Given, _Given]:
        """What networks were given of others, and of their own whole."""
        across, inner = defaultdict[Key, set[Key]](set), defaultdict[Key, set[Key]](set)
        for base, value in self._stored():
            holders = [one for one in chain(base) if self._networks(one)]
            for source in self._sources(value) if holders else ():
                same = ast.unparse(_root(base)) == ast.unparse(_root(source))
                for holder in holders[:1] if same else holders:
                    for key in self._networks(holder):
                        (inner if same else across)[key] |= self._source(source)
        for call in self.m.all(ast.Call):
            for key, handed in self._handed(call):
                across[key] |= handed
        return across, inner

    # ------------------------------------------------------------ what is stored

    def _stored(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        """What is stored in attributes and items, and added by a method, with what it is stored in."""
        for attribute, value in self.assigned.attributes:
            if attribute.attr not in _OF_TENSORS:
                yield attribute.value, value
        for stmt in self.m.all(ast.Assign):
            for target in stmt.targets:
                if isinstance(target, ast.Subscript) and not _OF_TENSORS & _attributes(target):
                    yield target.value, stmt.value
        for name in _ADDS:
            for call in self.m.calls(name):
                match call:
                    case ast.Call(func=ast.Name(id="setattr"), args=[base, _, value]):
                        yield base, value
                    case ast.Call(func=ast.Attribute(value=base), args=[*_, value]) if name != "setattr":
                        yield base, value

    def _sources(self, value: ast.expr) -> Iterator[ast.expr]:
        """What of networks a stored value is made of, but for what is made anew, and for what a constructor is handed:
        who calls that says more."""
        todo: list[ast.AST] = [value]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.Call):
                name = called_name(node)
                if COPIES.fit(name) or name in _ANEW or self.within.of(node.func) or any(self._classes(node)):
                    continue
                todo += [*node.args, *(k.value for k in node.keywords)]
            elif isinstance(node, _CHAIN):
                scope = self.m.function(node)
                handed = isinstance(node, ast.Name) and node.id in scope.params and _is_constructor(scope.node)
                if not handed and not _OF_TENSORS & _attributes(node) and self._source(node):
                    yield node
            elif not isinstance(node, (ast.Compare, ast.Lambda, ast.BinOp)):
                todo += children(node)

    def _source(self, expr: ast.expr) -> frozenset[Key]:
        """The networks that an expression may be, or a parameter, or a part of which is not known."""
        if isinstance(expr, ast.Attribute) and expr.attr in _PARAMETERS:
            return self._networks(expr.value) or self.within.nearest(expr.value)
        if isinstance(expr, ast.Attribute) and (expr.attr in NO_MODULE or NO_PART.fit(expr.attr)):
            return frozenset()
        return self._networks(expr) or self.within.nearest(expr) or self._listed(expr)

    def _listed(self, expr: ast.expr) -> frozenset[Key]:
        """The networks that list an expression among their parameters: ``for name, p in net.named_parameters()``."""
        found: set[Key] = set()
        for obj in self.v.of(expr):
            match whole_of(obj).key:
                case ast.Call(func=ast.Attribute(value=network, attr=attr)) if attr in PARAMETERS:
                    found |= self._networks(network)
        return frozenset(found)

    def _networks(self, expr: ast.expr) -> frozenset[Key]:
        return self.within.of(expr)

    # ------------------------------------------------------------ what is handed

    def _handed(self, call: ast.Call) -> Iterator[tuple[Key, frozenset[Key]]]:
        """The networks that a call makes of others, which it is handed and they keep."""
        if called_name(call) == "copy" and len(call.args) == 1:  # not `deepcopy`: its parameters are those of the other
            for key in self.naming.keys(call) & self.within.networks:
                yield key, self._networks(call.args[0])
            return
        made = self.naming.keys(call) & self.within.networks if any(self._classes(call)) else frozenset[Key]()
        for arg in (*call.args, *(k.value for k in call.keywords)) if made else ():
            expr = arg.value if isinstance(arg, ast.Starred) else arg
            for key in made:
                kept = self._networks(expr) & self.within.parts(key)
                part = isinstance(expr, (ast.Attribute, ast.Subscript))
                if kept and (part or (isinstance(expr, ast.Name) and self.twins.was_there(expr, call))):
                    yield key, kept

    def _classes(self, call: ast.Call) -> Iterator[object]:
        """The classes that a call makes something of, as far as its name or the values say."""
        yield from (o for o in self.v.of(call.func) if o.kind == "class")
        if called_name(call)[:1].isupper():
            yield called_name(call)


def _with_wholes(keys: frozenset[Key]) -> frozenset[Key]:
    return keys.union(*map(around, keys))


def _is_constructor(function: ast.AST) -> bool:
    return isinstance(function, ast.FunctionDef) and function.name == "__init__"


def _root(expr: ast.expr) -> ast.expr:
    """``net`` of ``net.layers[0]``."""
    *_, root = chain(expr)
    return root


def _attributes(expr: ast.expr) -> set[str]:
    return {one.attr for one in chain(expr) if isinstance(one, ast.Attribute)}
