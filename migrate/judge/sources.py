"""Whose parameters an optimizer was made of: those of models, of parts of models, and of other modules, such as a
criterion that has some and that nobody handed to Apex.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..facts.names import last_name
from ..facts.usual_names import dotted
from ..flow.objects import SELF_METHODS, Obj
from ..knowledge.models import NO_PARAMETERS, PARAMETERS
from ..nodes import item_of, walk
from .owners import Owners
from .program.program import Program
from .state import Key

_CONTAINERS = ("ModuleDict", "ModuleList", "Sequential")
_MAKES_PARAMETERS = ("Parameter", "register_parameter", "ParameterList", "ParameterDict")
_PLAIN_BASES = ("Module", "object")
_NO_MODULES = frozenset({"apex", "function", "method", "class", "module"})  # kinds of objects


@dataclass(frozen=True)
class Source:
    """Parameters that an optimizer has: of any one of these modules, as the text calls it."""

    maybe: frozenset[Key]
    text: str


class Sources:
    """Those of one program's optimizers. Modules are keys; a part of a model goes by the names that lead to it."""

    def __init__(self, program: Program, owners: Owners) -> None:
        self.program, self.m, self.v, self.naming = program, program.m, program.v, program.naming
        self.owners, self.models = owners, program.objects.models
        self._above: dict[Key, frozenset[Key]] = {}  # models and parts that parts belong to
        self._made_bare: dict[Obj, bool] = {}
        self.modules: dict[Key, list[ast.expr]] = {}  # of each optimizer in `of` what its parameters are listed of

    @cached_property
    def of(self) -> dict[Key, frozenset[Source] | None]:
        """For each optimizer that is made here its sources; None where they are not known."""
        made = {key[1]: key for key in self.program.objects.optimizers if key[0] == "call"}
        calls = {made[p]: call for call in self.m.all(ast.Call) if (p := self.naming.place(call)) in made}
        return {optimizer: self._sources_of(optimizer, call) for optimizer, call in calls.items()}

    def groups(self, optimizer: Key) -> int:
        """How many groups of parameters an optimizer has, as far as its text lists them."""
        calls = [c for c in self.m.all(ast.Call) if ("call", self.naming.place(c)) == optimizer]
        behind = [node for call in calls for node in self.owners.behind(call)]
        named = [n for n in behind if isinstance(n, ast.Dict) and item_of(n, "params") is not None]
        return max(len(named), 1) + len(self._added(optimizer))

    def _added(self, optimizer: Key) -> list[ast.Call]:
        """The calls that add a group to an optimizer."""
        calls = self.m.calls("add_param_group")
        return [c for c in calls if isinstance(c.func, ast.Attribute) and optimizer in self.naming.keys(c.func.value)]

    def _sources_of(self, optimizer: Key, call: ast.Call) -> frozenset[Source] | None:
        found: set[Source] = set()
        handed = [a for one in (call, *self._added(optimizer)) for a in (*one.args, *(k.value for k in one.keywords))]
        self.modules[optimizer] = self.listed(handed)
        for owner in self.modules[optimizer]:
            source = self._source(owner)
            if not source.maybe:
                return None
            found.add(source)
        found = {s for s in found if not self._bare(s.maybe)}
        if not found and (models := self.owners.made_of(call)):
            found.add(Source(models, ""))
        return frozenset(found) or None

    def listed(self, exprs: Iterable[ast.AST]) -> list[ast.expr]:
        """The modules whose parameters expressions list, through names of their function."""
        found: list[ast.expr] = []
        todo, met = list(exprs), set[str]()
        while todo:
            for node in walk(todo.pop()):
                match node:
                    case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in PARAMETERS:
                        found.append(owner)
                    case ast.Name(id=name, ctx=ast.Load()) if name not in met:
                        met.add(name)
                        values = self.owners.computed.values_of(node)
                        todo += [v for v in values if self.program.marks.kind.get(v) != "initialize"]
                    case _:
                        pass
        return found

    def _source(self, owner: ast.expr) -> Source:
        """Those of one module. What code that is not here makes of a model may be it, or have it."""
        maybe = self.owners.within.given(owner) or self.holders(owner)
        for obj in self.v.of(owner):
            if not maybe & self.models and obj.kind == "call" and isinstance(obj.key, ast.Call):
                maybe |= frozenset(k for n in walk(obj.key) for k in self.naming.keys(n) & self.models)
        return Source(maybe, self.m.src(owner))

    # ------------------------------------------------------------ what an expression stands for

    def holders(self, expr: ast.expr) -> frozenset[Key]:
        """The modules that an expression may stand for; none where that is not known."""
        return self.owners.meant(expr) or self._part(expr) or self._others(expr)

    def _others(self, expr: ast.expr) -> frozenset[Key]:
        return frozenset(key for key in self.naming.keys(expr) if key[0] not in _NO_MODULES)

    def _part(self, expr: ast.expr) -> frozenset[Key]:
        """A part of a model, by the text or by what a name holds."""
        chains = [self._names_below(expr), *map(self._names_of, self.v.of(expr))]
        for above, names in chains:
            if above and names:
                keys = [_part_of(above, names[: n + 1]) for n in range(len(names))]
                for n, key in enumerate(keys):
                    self._above[key] = self._above.get(key, frozenset()) | above | frozenset(keys[:n])
                return frozenset({keys[-1]})
        return frozenset()

    def _names_below(self, expr: ast.expr) -> tuple[frozenset[Key], list[str]]:
        """The model that an expression is a part of, and the names on the way to it."""
        names: list[str] = []
        while isinstance(expr, (ast.Attribute, ast.Subscript)):
            name = expr.attr if isinstance(expr, ast.Attribute) else _item(expr)
            if name != "module":  # what a wrapper wraps
                names.insert(0, name)
            expr = expr.value
            if models := self.naming.keys(expr) & self.models:
                return models, names
        return frozenset(), []

    def _names_of(self, obj: Obj) -> tuple[frozenset[Key], list[str]]:
        """The same for an object."""
        names: list[str] = []
        while obj.kind == "path":
            names.insert(0, obj.key[1])  # type: ignore[index]
            obj = obj.key[0]  # type: ignore[index]
            if (key := self.naming.key(obj)) in self.models:
                return frozenset({key}), [] if "*" in names else names
        return frozenset(), []

    # ------------------------------------------------------------ what has what

    def cleared(self, maybe: frozenset[Key], zeroed: frozenset[Key]) -> bool:
        """Whether no gradient of a source is left where those of some modules were cleared."""
        return any(one in zeroed or self._in_others(one, zeroed) for one in maybe)

    def _in_others(self, one: Key, zeroed: frozenset[Key]) -> bool:
        """Whether all parts of a module were cleared, or a module that has it."""
        parts = self.parts.get(one, frozenset())
        above = self._above.get(one, frozenset()) | self._containers.get(one, frozenset())
        return (bool(parts) and parts <= zeroed) or not zeroed.isdisjoint(above)

    def touched(self, maybe: frozenset[Key], zeroed: frozenset[Key]) -> bool:
        """Whether a part of a source was cleared."""
        return any(not self._above.get(one, frozenset()).isdisjoint(maybe) for one in zeroed)

    @cached_property
    def known(self) -> frozenset[Key]:
        """All modules and parts that optimizers were made of."""
        sources = [one.maybe for s in self.of.values() if s is not None for one in s]
        return frozenset[Key]().union(*sources)

    @cached_property
    def to_remember(self) -> frozenset[Key]:
        """What has to be remembered, as it is cleared one by one."""
        several = [one.maybe for s in self.of.values() if s is not None and len(s) > 1 for one in s]
        return frozenset[Key]().union(*several, *self.parts.values())

    @cached_property
    def _containers(self) -> dict[Key, frozenset[Key]]:
        """For each module that is no model those that it was handed to, or is an attribute of."""
        mine = frozenset(k for s in self.of.values() if s for one in s for k in one.maybe if k[0] != "part")
        found: dict[Key, frozenset[Key]] = defaultdict(frozenset)
        if mine <= self.models:
            return found
        for node in self.m.nodes:
            inner: frozenset[Key] = frozenset()
            outer: frozenset[Key] = frozenset()
            match node:
                case ast.Call(func=func, args=args, keywords=keywords):
                    if self.program.marks.kind.get(node) not in (None, "call"):
                        continue
                    handed = [*args, *(k.value for k in keywords)]
                    inner = frozenset[Key]().union(*map(self.naming.keys, handed)) & mine
                    if inner:
                        owner = self.naming.keys(func.value) if isinstance(func, ast.Attribute) else frozenset()
                        outer = self.naming.keys(node) | (owner & (self.models | mine))
                case ast.Assign(targets=[ast.Attribute(value=owner_of)], value=value):
                    inner, outer = self.naming.keys(value) & mine, self.naming.keys(owner_of)
                case _:
                    continue
            for one in inner:
                found[one] |= outer - inner
        return found

    @cached_property
    def parts(self) -> dict[Key, frozenset[Key]]:
        """For each model whose parts the text lists these: those of a class of the program, or of a container."""
        found: dict[Key, frozenset[Key]] = {}
        for cls in self.m.all(ast.ClassDef):
            made = Obj("instance", cls, cls.name)
            key = self.naming.key(made)
            if key in self.models:
                held = {name: self.v.field(made, name) for name in self.v.attributes(made)}
                mine = [name for name, objects in held.items() if self._is_module(objects)]
                found[key] = frozenset(_part_of(frozenset({key}), [name]) for name in mine)
        for call in self.m.all(ast.Call):
            names = _items(call) if last_name(call.func) in _CONTAINERS else ()
            for key in self.naming.keys(_chain(self.m.parent, call)) & self.models if names else ():
                found[key] = frozenset(_part_of(frozenset({key}), [name]) for name in names)
        return found

    def _is_module(self, objects: frozenset[Obj]) -> bool:
        made = [o for o in objects if o.kind in ("call", "instance")]
        return any(not self._has_none(o) for o in made)

    def _bare(self, maybe: frozenset[Key]) -> bool:
        """Whether a module has no parameters at all, as most losses have none."""
        return bool(maybe) and maybe <= self._without

    @cached_property
    def _without(self) -> frozenset[Key]:
        objects = {o for call in self.m.all(ast.Call) for o in self.v.of(call) if o.kind in ("call", "instance")}
        return frozenset(self.naming.key(o) for o in objects if self._has_none(o)) - self.models

    def _has_none(self, obj: Obj) -> bool:
        """Whether an object has no parameters; one that ``.cuda()`` gives back is any that its receiver may be."""
        todo, met, made = [obj], {obj}, False
        while todo:
            one = todo.pop()
            receiver = _given_back(one)
            if receiver is None:
                if not self._made_without(one):
                    return False
                made = True
                continue
            held = self.v.of(receiver)
            if not held:
                return False
            todo += held - met
            met |= held
        return made

    def _made_without(self, obj: Obj) -> bool:
        """Whether what makes an object gives it no parameters."""
        if obj not in self._made_bare:
            if obj.kind == "instance" and isinstance(obj.key, ast.ClassDef):
                bare = not any(self._class_makes_parameters(cls) for cls in self.v.order(obj.key))
            else:
                bare = obj.kind in ("call", "instance") and isinstance(obj.key, ast.Call)
                bare = bare and not self._makes_parameters(obj.key)  # type: ignore[arg-type]
            self._made_bare[obj] = bare
        return self._made_bare[obj]

    def _class_makes_parameters(self, cls: ast.ClassDef) -> bool:
        """Whether a class makes parameters or layers, or has a base that may."""
        if any(last_name(base) not in (*_PLAIN_BASES, *(c.name for c in self.v.order(cls))) for base in cls.bases):
            return True
        kept = [n.value for n in walk(cls) if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Attribute)]
        made = [n for value in kept for n in walk(value) if isinstance(n, ast.Call)]
        said = any(isinstance(n, ast.Call) and last_name(n.func) in _MAKES_PARAMETERS for n in walk(cls))
        return said or any(map(self._makes_parameters, made))

    def _makes_parameters(self, call: ast.Call) -> bool:
        """Whether a call may make a module with parameters, or a parameter."""
        name, text = last_name(call.func), dotted(call.func) or self.m.src(call.func)
        if name in _MAKES_PARAMETERS:
            return True
        if NO_PARAMETERS.fit(name) or hasattr(builtins, name) or not name:
            return False
        if text.startswith(("F.", "nn.functional.", "nn.init.", "torch.nn.functional.", "torch.nn.init.")):
            return False
        return not text.startswith("torch.") or text.startswith(("torch.nn.", "torch.hub."))


def _part_of(models: frozenset[Key], names: Sequence[str]) -> Key:
    """A part of a model, or of one of several, by the names on the way to it."""
    return ("part", models, ".".join(names))


def _given_back(obj: Obj) -> ast.expr | None:
    """The receiver of the call that made an object, where that gives it back: ``loss.cuda()``."""
    call = obj.key
    if obj.kind not in ("call", "instance") or not isinstance(call, ast.Call):
        return None
    own = isinstance(call.func, ast.Attribute) and call.func.attr in SELF_METHODS
    return call.func.value if own else None  # type: ignore[attr-defined]


def _item(expr: ast.Subscript) -> str:
    return str(expr.slice.value) if isinstance(expr.slice, ast.Constant) else "?"


def _items(call: ast.Call) -> tuple[str, ...]:
    """The names of the modules that a container is written out with."""
    match call.args:
        case [ast.Dict(keys=keys)]:
            return tuple(str(k.value) if isinstance(k, ast.Constant) else "?" for k in keys)
        case [ast.List(elts=items) | ast.Tuple(elts=items)]:
            return () if any(isinstance(i, ast.Starred) for i in items) else tuple(map(str, range(len(items))))
        case items if last_name(call.func) == "Sequential" and not any(isinstance(i, ast.Starred) for i in items):
            return tuple(map(str, range(len(items))))
        case _:
            return ()


def _chain(parent: dict[ast.AST, ast.AST], call: ast.Call) -> ast.AST:
    """The last call of a chain of methods: ``nn.Sequential(…).cuda()``."""
    at: ast.AST = call
    while isinstance(parent[at], ast.Attribute) and isinstance(parent[parent[at]], ast.Call):
        at = parent[parent[at]]
    return at
