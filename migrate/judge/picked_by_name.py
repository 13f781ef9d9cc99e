"""Parameters that are picked by their names are those of one part, where the text lists all parts of the model:
``[p for n, p in model.named_parameters() if n.startswith("backbone")]``.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from ..facts.names import called_name, last_name
from ..flow.arguments import argument
from ..flow.objects import WRAPPERS, Obj
from ..knowledge.gradients import OPTIMIZERS_MADE, TORCH_CLIPS
from ..knowledge.models import NO_PARAMETERS
from ..nodes import item_of, walk
from .assigned import Assigned
from .program.program import Program
from .state import Key
from .tied import Tied
from .within import Within

_EITHER = frozenset({True, False})
_YES, _NO = frozenset({True}), frozenset({False})
_OTHER_WAYS = frozenset("setattr add_module register_module register_parameter __setattr__".split())
_LAYERS = frozenset(
    "Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d Embedding EmbeddingBag "
    "BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm PReLU".split()
)
MAX_DEPTH = 8  # of parts of parts whose names are read
Picked = tuple[ast.expr, list[ast.expr], str]  # the model, the conditions, and the name that stands for a name


class PickedByName:
    """Answers about the models of one program."""

    def __init__(self, program: Program, assigned: Assigned, within: Within, tied: Tied) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.assigned, self.within, self.tied = assigned, within, tied

    def owned(self, call: ast.Call) -> frozenset[Key] | None:
        """The networks of which a call makes an optimizer, where it is handed parameters that are picked by name; None
        where nothing is picked, or the text does not say what."""
        given = argument(call, 0, "params")
        if given is None or isinstance(given, ast.Starred) or not self._named_somewhere:
            return None
        return self._of(given, call)

    @property
    def _named_somewhere(self) -> bool:
        return bool(self.m.calls("named_parameters"))

    def _of(self, given: ast.expr, at: ast.Call) -> frozenset[Key] | None:
        match given:
            case ast.ListComp(elt=ast.Name() as elt, generators=[one]) | ast.GeneratorExp(
                elt=ast.Name() as elt, generators=[one]
            ):
                return self._comprehended(elt, one, at)
            case ast.Name(id=name):
                values = [value for _, value in self.assigned.to(name, given)]
                plain = len(values) == 1 and len(self.m.bindings(name, self.m.function(given))) == 1
                if not plain or self._changed(given):
                    return None
                return self._of(values[0], at)
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner], keywords=[]):
                return self._of(inner, at)
            case ast.Call(func=ast.Attribute(value=network, attr="parameters"), args=[], keywords=[]):
                return self.within.of(network) or None
            case ast.List(elts=groups) | ast.Tuple(elts=groups) if groups:
                return self._together(map(_of_group, groups), at)
            case _:
                return None

    def _together(self, groups: Iterable[ast.expr | None], at: ast.Call) -> frozenset[Key] | None:
        found: set[Key] = set()
        for one in groups:
            networks = self._of(one, at) if one is not None else None
            if networks is None:
                return None
            found |= networks
        return frozenset(found)

    def _changed(self, name: ast.Name) -> bool:
        """Whether a list may hold other items than it was made with: it is only gone through, or handed to others."""
        uses = [n for n in self.m.all(ast.Name) if n.id == name.id and isinstance(n.ctx, ast.Load)]
        return not all(map(self._only_read, uses))

    def _only_read(self, name: ast.Name) -> bool:
        match self.m.parent[name]:
            case ast.Call(func=func, args=args) as call if func is not name:
                return name in args and self._leaves(call)
            case ast.For(iter=source) | ast.comprehension(iter=source):
                return source is name
            case ast.Dict():
                return True
            case ast.keyword() as keyword:
                above = self.m.parent[keyword]
                return isinstance(above, ast.Call) and self._leaves(above)
            case _:
                return False

    def _leaves(self, call: ast.Call) -> bool:
        """Whether a call leaves a list as it is that it is handed: it makes an optimizer of it, clips its gradients, or
        is Python's own. What a function of another file does with it nobody knows here."""
        name, func = called_name(call), call.func
        own = isinstance(func, ast.Name) and hasattr(builtins, name)
        own = own or (isinstance(func, ast.Attribute) and last_name(func.value) == "optim")
        return not self.v.callees(call) and (own or name in TORCH_CLIPS or OPTIMIZERS_MADE.fit(name))

    def _comprehended(self, elt: ast.Name, one: ast.comprehension, at: ast.Call) -> frozenset[Key] | None:
        match one:
            case ast.comprehension(
                target=ast.Tuple(elts=[ast.Name(id=name), ast.Name(id=own)]),
                iter=ast.Call(func=ast.Attribute(value=network, attr="named_parameters"), args=[], keywords=[]),
                ifs=[_, *_],
            ) if own == elt.id and not self._wrapped(network, at):
                return self._picked(network, one.ifs, name)
            case _:
                return None

    def _wrapped(self, network: ast.expr, at: ast.Call) -> bool:
        """Whether a model may have other names than its class gives it: those of a wrapper begin with ``module.``."""
        if not isinstance(network, ast.Name) or network.id in self.m.function(network).params:
            return True
        above = [value for _, value in self.assigned.to(network.id, network) if self.m.start(value) < self.m.start(at)]
        calls = [n for value in above for n in walk(value) if isinstance(n, ast.Call)]
        return not above or any(called_name(call) in WRAPPERS for call in calls)

    def _picked(self, network: ast.expr, tests: list[ast.expr], name: str) -> frozenset[Key] | None:
        """The parts of a model some of whose parameters have a name that fits."""
        held = self.v.of(network)
        model = next(iter(held)) if len(held) == 1 else None
        if model is None or not self._listed(model) or self.tied.anything:
            return None
        found: set[Key] = set()
        for attr in sorted(filter(self.assigned.stored, self.v.attributes(model))):
            objects = self.v.field(model, attr)
            names = self._names(attr, objects, 0)
            if not any(self._may(tests, name, full, exact) for full, exact in names):
                continue
            keys = frozenset(map(self.naming.key, objects))
            if not objects or not keys <= self.within.parts(self.naming.key(model)):
                return None  # a parameter of its own, or nobody knows what
            found |= keys
        return frozenset(found) or None

    def _listed(self, model: Obj) -> bool:
        """Whether the text shows all parts of a model: its class and all that this is made of are written here."""
        cls = model.key
        if model.kind != "instance" or not isinstance(cls, ast.ClassDef):
            return False
        order = self.v.order(cls)
        known = {"Module", *(one.name for one in order)}
        if any(last_name(base) not in known for one in order for base in one.bases):
            return False
        called = {called_name(n) for one in order for n in walk(one) if isinstance(n, ast.Call)}
        return not called & _OTHER_WAYS and not any(map(self.m.calls, _OTHER_WAYS))

    # ------------------------------------------------------------ names

    def _names(self, attr: str, objects: Iterable[Obj], depth: int) -> list[tuple[str, bool]]:
        """The names of the parameters below an attribute, or what they begin with (not ``exact``)."""
        found: list[tuple[str, bool]] = []
        held = list(objects)
        for obj in held:
            inner = self._below(obj, depth)
            found += [(f"{attr}.", False)] if inner is None else [(f"{attr}.{name}", exact) for name, exact in inner]
        return found if held else [(attr, False)]

    def _below(self, obj: Obj, depth: int) -> list[tuple[str, bool]] | None:
        call = obj.key
        if obj.kind == "instance" and self._listed(obj) and depth < MAX_DEPTH:
            attributes = sorted(filter(self.assigned.stored, self.v.attributes(obj)))
            return [one for a in attributes for one in self._names(a, self.v.field(obj, a), depth + 1)]
        if obj.kind != "call" or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return None
        if last_name(call.func.value) != "nn":
            return None
        if call.func.attr in _LAYERS or NO_PARAMETERS.fit(call.func.attr):
            return [("weight", True), ("bias", True)] if call.func.attr in _LAYERS else []
        plain = not call.keywords and not any(isinstance(one, ast.Starred) for one in call.args)
        if call.func.attr == "Sequential" and plain and depth < MAX_DEPTH:
            items = [(str(number), self.v.of(one)) for number, one in enumerate(call.args)]
            return [one for number, held in items for one in self._names(number, held, depth + 1)]
        return None

    def _may(self, tests: list[ast.expr], name: str, full: str, exact: bool) -> bool:
        """Whether all of some conditions may hold of a name."""
        return all(True in self._value(test, name, full, exact) for test in tests)

    def _value(self, test: ast.expr, name: str, full: str, exact: bool) -> frozenset[bool]:
        """What a condition may say of a name, or of all that begin so."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return frozenset(not one for one in self._value(inner, name, full, exact))
            case ast.BoolOp(op=op, values=values):
                each = [self._value(one, name, full, exact) for one in values]
                ends = isinstance(op, ast.Or)  # what one of them says then is the answer
                certain = any(one == frozenset({ends}) for one in each)
                return frozenset({ends}) if certain else frozenset[bool]().union(*each)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=own), attr="startswith"), args=[begin], keywords=[]):
                texts = _texts(begin) if own == name else None
                return _EITHER if texts is None else _any(_begins(full, text, exact) for text in texts)
            case ast.Compare(left=ast.Constant(value=str() as text), ops=[op], comparators=[ast.Name(id=own)]):
                if own != name or not isinstance(op, (ast.In, ast.NotIn)):
                    return _EITHER
                said = _YES if text in full else _NO if exact else _EITHER
                return said if isinstance(op, ast.In) else frozenset(not one for one in said)
            case _:
                return _EITHER


def _begins(full: str, text: str, exact: bool) -> frozenset[bool]:
    if full.startswith(text):
        return _YES
    return _EITHER if text.startswith(full) and not exact else _NO


def _any(each: Iterable[frozenset[bool]]) -> frozenset[bool]:
    found = list(each)
    return _YES if _YES in found else frozenset[bool]().union(*found) if found else _NO


def _texts(expr: ast.expr) -> list[str] | None:
    items = expr.elts if isinstance(expr, ast.Tuple) else [expr]
    texts = [one.value for one in items if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return texts if len(texts) == len(items) else None


def _of_group(group: ast.expr) -> ast.expr | None:
    """The parameters of a group of an optimizer."""
    return item_of(group, "params") if isinstance(group, ast.Dict) else None
