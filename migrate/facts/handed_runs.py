"""Which files hand what runs a network to what calls it by a name that says nothing of that: ``Sampler(data,
partial(loss_of, net))``, whose ``self.score(x)`` it is then. By their syntax alone, as it says which files belong to a
program; names are not told apart.

Both sides are tables: by the function, method or class that is handed something, and the number or name of its
parameter, which methods of that are meant, ``""`` where it is called itself. An attribute that is set from outside has
the place ``=``. What a function only hands on (``build(data, score)``) is a third table, of places for places.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ..knowledge.models import (
    BUILDS,
    CALLED_AS_OTHER,
    FORWARDING,
    NETWORK_MADE,
    NO_NETWORK,
    NO_PARAMETERS,
    NOT_RUN_BY_FUNCTION,
)
from ..nodes import each_given, walk
from .given_object import SHORT
from .names import called_name, last_name
from .text import parsed

Place = tuple[str, int | str]
Table = Mapping[Place, frozenset[str]]

SET = "="
_ITSELF = frozenset({""})
_NOTHING = frozenset[str]()
_ROUNDS = 3  # functions of functions, names of names
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_INITIALIZED, _TORCHS = "initialize", frozenset({"torch", "F", "nn"})
_Def = ast.FunctionDef | ast.AsyncFunctionDef


def hands_runs(text: str) -> Table:
    """To what a file hands something that runs a network; nothing where it does not parse."""
    tree = parsed(text)
    return {} if tree is None else _User(tree).table()


def hands_on(text: str) -> frozenset[tuple[Place, Place]]:
    """What functions of a file hand on of what they are handed: their parameter, and whose it is then."""
    tree = parsed(text)
    found = set[tuple[Place, Place]]()
    for function in (one for one in walk(tree) if isinstance(one, _FUNCTIONS)) if tree is not None else ():
        own = dict(_places(function))
        for call in (one for one in walk(function) if isinstance(one, ast.Call)):
            for at, arg in _handed(call):
                for place in own.get(arg.id, ()) if isinstance(arg, ast.Name) else ():
                    found.add(((function.name, place), (called_name(call), at)))
    return frozenset(found)


def with_handed_on(table: Table, on: Iterable[tuple[Place, Place]]) -> dict[Place, frozenset[str]]:
    """All that is handed something, also by those that hand it on."""
    found, pairs = dict(table), list(on)
    for _ in range(_ROUNDS):
        for place, other in pairs:
            if place in found:
                found[other] = found.get(other, _NOTHING) | found[place]
    return found


def calls_handed(texts: Iterable[str]) -> Table:
    """What the functions and classes of some files call of what they are handed: the first's, with the bases that the
    others have."""
    trees = [tree for text in texts if (tree := parsed(text)) is not None]
    classes = {one.name: one for tree in reversed(trees) for one in walk(tree) if isinstance(one, ast.ClassDef)}
    found: dict[Place, frozenset[str]] = defaultdict(frozenset)
    for tree in trees[:1]:
        own = [one for one in walk(tree) if isinstance(one, ast.ClassDef)]
        within = {one for cls in own for one in cls.body if isinstance(one, _FUNCTIONS)}
        for function in (one for one in walk(tree) if isinstance(one, _FUNCTIONS) and one not in within):
            called = {name: how for name, how in _called(function).items() if CALLED_AS_OTHER.fit(name)}
            _add(found, function.name, function, called)  # a call of any other is known to run what it is handed
        for cls in own:
            _of_class(found, cls, _line(cls, classes))
    return found


# ---------------------------------------------------------------- who hands


class _User:
    """What of a file's names and expressions runs a network."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes = list(walk(tree))
        classes = [one for one in self.nodes if isinstance(one, ast.ClassDef)]
        self.networks = {one.name for one in classes if any(last_name(b).endswith("Module") for b in one.bases)}
        self.given = [
            pair
            for one in self.nodes
            if isinstance(one, ast.Assign)
            for target in one.targets
            for pair in each_given(target, one.value)
        ]
        self.named = {last_name(target) for target, value in self.given if self._makes_network(value)}
        self.named |= {last_name(t) for one in self.nodes if isinstance(one, ast.Assign) for t in _initialized(one)}
        self.running: dict[str, frozenset[str]] = {}  # functions and names, and classes whose methods run one
        for _ in range(_ROUNDS):
            self._round(classes)

    def _round(self, classes: Iterable[ast.ClassDef]) -> None:
        for one in self.nodes:
            if isinstance(one, _FUNCTIONS) and one.name != "__init__" and self._body_runs(one):
                self.running[one.name] = _ITSELF
        for cls in classes:
            if cls.name not in self.networks:
                methods = frozenset(one.name for one in cls.body if isinstance(one, _FUNCTIONS))
                mine = methods & self.running.keys()
                self.running[cls.name] = mine | (_ITSELF if "__call__" in mine else _NOTHING)
        for target, value in self.given:
            if isinstance(target, (ast.Name, ast.Attribute)) and (runs := self.runs(value)):
                self.running[last_name(target)] = runs

    def table(self) -> Table:
        found: dict[Place, frozenset[str]] = defaultdict(frozenset)
        for one in self.nodes:
            if isinstance(one, ast.Call):
                for at, arg in _handed(one):
                    if runs := self.runs(arg):
                        found[called_name(one), at] |= runs
        for target, value in self.given:
            if isinstance(target, ast.Attribute) and last_name(target.value) != "self" and (runs := self.runs(value)):
                found[target.attr, SET] |= runs
        return found

    def runs(self, expr: ast.expr) -> frozenset[str]:
        """By which methods of what an expression is a network is run."""
        match expr:
            case ast.Lambda(body=body):
                return _ITSELF if self._calls_network(body) else _NOTHING
            case ast.Call(func=func, args=args, keywords=words) if last_name(func) in ("partial", "partialmethod"):
                every = (*args, *(word.value for word in words))
                return _ITSELF if any("" in self.runs(one) for one in every) else _NOTHING
            case ast.Call(func=ast.Name(id=name)) if name[:1].isupper():
                return self.running.get(name, _NOTHING)  # an object
            case ast.Call(func=ast.Name(id=name)) if name in self.running:
                return _ITSELF  # a function that gives one back
            case ast.Name(id=name):
                return _ITSELF if self._network(expr) else self.running.get(name, _NOTHING)
            case ast.Attribute(value=owner, attr=name):
                run = self._network(expr) or (FORWARDING.fit(name) and self._network(owner))
                own = name in self.running and last_name(owner) not in _TORCHS
                return _ITSELF if run else self.running[name] if own else _NOTHING
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return frozenset().union(*map(self.runs, parts))
            case ast.Dict(values=parts):
                return frozenset().union(*map(self.runs, parts))
            case _:
                return _NOTHING

    def _network(self, expr: ast.expr) -> bool:
        """Whether a name or attribute is called, or made, as a network is."""
        name = last_name(expr) if isinstance(expr, (ast.Name, ast.Attribute)) else ""
        called = NETWORK_MADE.fit(name) or SHORT.fullmatch(name) is not None
        made = BUILDS.fit(name) or name[:1].isupper() or name.startswith(("get_", "with_"))
        return name in self.named or (called and not made and not NO_NETWORK.fit(name))

    def _makes_network(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Call):
            return False
        layer = isinstance(value.func, ast.Attribute) and last_name(value.func.value) == "nn"
        return (layer and not NO_PARAMETERS.fit(called_name(value))) or called_name(value) in self.networks

    def _body_runs(self, function: _Def) -> bool:
        """Whether a function runs a network, or what it is handed."""
        parameters = {one.arg for one in _parameters(function)} - {"self", "cls"}
        called = {one.func.id for one in walk(function) if isinstance(one, ast.Call) and isinstance(one.func, ast.Name)}
        return not parameters.isdisjoint(called) or any(self._calls_network(stmt) for stmt in function.body)

    def _calls_network(self, node: ast.AST) -> bool:
        for one in walk(node):
            if isinstance(one, ast.Call):
                name = called_name(one)
                if "" in self.runs(one.func):
                    return True
                runs_it = not (NOT_RUN_BY_FUNCTION.fit(name) or name[:1].isupper() or BUILDS.fit(name))
                if isinstance(one.func, ast.Name) and runs_it and any(map(self._network, one.args)):
                    return True
        return False


def _handed(call: ast.Call) -> list[tuple[int | str, ast.expr]]:
    words: list[tuple[int | str, ast.expr]] = [(word.arg or "", word.value) for word in call.keywords]
    return [*enumerate(call.args), *words]


def _initialized(stmt: ast.Assign) -> Iterator[ast.expr]:
    """The networks that Apex gives back."""
    if isinstance(stmt.value, ast.Call) and called_name(stmt.value) == _INITIALIZED:
        for target in stmt.targets:
            first = target.elts[0] if isinstance(target, (ast.Tuple, ast.List)) and target.elts else target
            yield from first.elts if isinstance(first, (ast.Tuple, ast.List)) else [first]


# ---------------------------------------------------------------- who calls


def _line(cls: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> list[ast.ClassDef]:
    """A class and its bases."""
    line, todo = [cls], [*cls.bases]
    while todo:
        base = classes.get(last_name(todo.pop(0)))
        if base is not None and base not in line:
            line.append(base)
            todo += base.bases
    return line


def _of_class(found: dict[Place, frozenset[str]], cls: ast.ClassDef, line: Iterable[ast.ClassDef]) -> None:
    methods: dict[str, _Def] = {}
    for one in line:
        for stmt in one.body:
            if isinstance(stmt, _FUNCTIONS):
                methods.setdefault(stmt.name, stmt)
    called: dict[str, frozenset[str]] = defaultdict(frozenset)
    every = [stmt for one in line for stmt in one.body if isinstance(stmt, _FUNCTIONS)]
    for method in every:
        for name, how in _called(method).items():
            if name.startswith("self.") and (attribute := name.removeprefix("self.")) not in methods:
                called[attribute] |= how
    for attribute, how in called.items():
        found[attribute, SET] |= how
    for method in every:
        puts = _put(method)
        kept = {name: frozenset[str]().union(*(called.get(x, _NOTHING) for x in own)) for name, own in puts.items()}
        handed = {one for call in _supers(method) for one in _names(call)}
        own = _called(method)
        for name in (one.arg for one in _parameters(method)):
            more = frozenset[str]().union(*called.values()) if name in handed else _NOTHING
            if how := kept.get(name, _NOTHING) | own.get(name, _NOTHING) | more:
                for callee in (cls.name,) if method.name == "__init__" else (method.name,):
                    _add(found, callee, method, {name: how})
    if "__init__" not in methods:  # a dataclass
        fields = [s.target.id for s in cls.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
        for number, name in enumerate(fields):
            if how := called.get(name, _NOTHING):
                found[cls.name, number] |= how
                found[cls.name, name] |= how


def _add(
    found: dict[Place, frozenset[str]], callee: str, function: _Def, called: Mapping[str, frozenset[str]]
) -> None:
    for name, places in _places(function):
        for place in places if called.get(name) else ():
            found[callee, place] |= called[name]


def _places(function: _Def) -> Iterator[tuple[str, tuple[int | str, ...]]]:
    """The parameters of a function, with the number and the name by which they are handed over."""
    names = [one.arg for one in _parameters(function)]
    yield from ((name, (number, name)) for number, name in enumerate(names[names[:1] in (["self"], ["cls"]) :]))


def _parameters(function: _Def) -> list[ast.arg]:
    args = function.args
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def _called(function: _Def) -> dict[str, frozenset[str]]:
    """What a function calls of its names and of its object's attributes, also by another name for them."""
    other: dict[str, str] = {}
    for node in walk(function):
        match node:
            case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
                for one in walk(target):
                    if isinstance(one, ast.Name):
                        other |= dict.fromkeys([one.id], next(map(_path, _held(source)), ""))
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _path(value) not in ("", name):
                other[name] = _path(value)
            case _:
                pass
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    for node in walk(function):
        if isinstance(node, ast.Call):
            for path, how in ((_path(node.func), ""), (_path(_owner(node.func)), last_name(node.func))):
                for name in (path, other.get(path, "")):
                    if name not in ("", "self"):
                        found[name] |= {how}
    return found


def _owner(func: ast.expr) -> ast.expr | None:
    return func.value if isinstance(func, ast.Attribute) else None


def _path(expr: ast.expr | None) -> str:
    """``name`` or ``self.name``, of which an item may be taken."""
    while isinstance(expr, ast.Subscript):
        expr = expr.value
    match expr:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return f"self.{name}"
        case _:
            return ""


def _held(source: ast.expr) -> Iterator[ast.expr]:
    """What a loop goes through: ``self.hooks``, ``enumerate(self.hooks)``, ``self.metrics.items()``."""
    match source:
        case ast.Call(func=ast.Attribute(value=owner, attr="items" | "values")):
            yield owner
        case ast.Call(args=args):
            for one in args:
                yield from _held(one)
        case _ if _path(source):
            yield source
        case _:
            pass


def _put(method: _Def) -> dict[str, set[str]]:
    """By parameter the attributes of its object in which a method puts it, or what is made of it."""
    names = {one.arg for one in _parameters(method)} - {"self"}
    found: dict[str, set[str]] = defaultdict(set)

    def put(place: ast.expr | None, value: ast.AST) -> None:
        path = _path(place)
        for name in _names(value) & names if path.startswith("self.") else ():
            found[name].add(path.removeprefix("self."))

    for node in walk(method):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target, given in (pair for one in targets for pair in each_given(one, value)):
                    put(target, given)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                put(target, value)
            case ast.Call(func=ast.Attribute(value=owner), args=args):
                for arg in args:
                    put(owner, arg)
            case _:
                pass
    return found


def _supers(method: _Def) -> Iterator[ast.Call]:
    """The calls of a base's constructor."""
    for node in walk(method):
        if isinstance(node, ast.Call) and called_name(node) == "__init__":
            yield node


def _names(node: ast.AST) -> set[str]:
    return {one.id for one in walk(node) if isinstance(one, ast.Name)}
