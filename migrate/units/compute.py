"""Which calls run the model: what has to happen under autocast, and what must not."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from ..facts.constructed import asked_elsewhere
from ..facts.module import Module
from ..facts.names import called_name, last_name, root_name
from ..facts.networks import (
    applied_elsewhere,
    handed_called,
    idles_elsewhere,
    is_network,
    kept_elsewhere,
    made_elsewhere,
    may_be_network,
    only_asked,
    runs_elsewhere,
)
from ..facts.once import once, once_each
from ..facts.scopes import Scope
from ..facts.sites import no_module, of_optimizers, opened
from ..facts.usual_names import dotted
from ..flow.objects import ELEMENT_KEY, MODULE_LISTS, Obj, unbound
from ..knowledge.host import HOST_MODULES, NO_COMPUTATION
from ..knowledge.models import (
    FORWARDING,
    GENERATING,
    LISTS_PARTS,
    MAKE_EVALUATORS,
    MAPPING,
    MODULE_METHODS,
    NETWORK_MADE,
    NO_MODULE,
    NO_MODULE_MADE,
    NO_NETWORK,
    NOT_RUN_BY_FUNCTION,
    NOT_RUN_BY_METHOD,
    OPTIONS,
    RUN_BY_FUNCTION,
    evaluates,
)
from ..knowledge.operations import NATIVE_HALF
from ..nodes import children, constructs, walk
from .unit import Context, Unit, step_calls


class Compute:
    """Answers about one unit's model calls; remembers what it found for functions."""

    def __init__(self, ctx: Context, unit: Unit) -> None:
        self.ctx, self.unit = ctx, unit
        known = frozenset(o for o in unit.model_objects if not _no_module(o))
        self.copied_before: list[ast.Call] = []  # copies that O2 and O3 left in float32
        self.models = _with_members(ctx, known, self._left_alone)
        self.beside: frozenset[ast.Call] = frozenset()  # that run another network in code of another file
        self.around: frozenset[Scope] = frozenset()  # the functions around the training, networks' own apart
        if unit.by_functions:
            own = _own(ctx, unit)
            self.around = _around(ctx, own)
            self.models |= frozenset(o for o in _neighbours(ctx, unit, own, self.around) if not _no_module(o))
            self.beside = _beside(ctx, unit, self.around)
        self._told: dict[Obj, bool] = {}
        self._functions: dict[ast.AST, bool] = {}
        self._forbids: dict[ast.AST, bool] = {}
        self._own: dict[ast.AST, bool] = {}
        self.model_classes = {o.key for o in self.models if o.kind == "instance"}
        if self.around:
            self.beside |= self._runs_of_listed()
        self.beside |= self._runs_of_evaluators()
        related = {*self._related(), *ctx.partials}
        touching = ctx.touching(o for o in related if self._model(o) or self._bound(o) or self._begun(o))
        above = ((call, ctx.m.parent[call]) for call in touching)  # who calls what such a call gives
        given = {outer for call, outer in above if isinstance(outer, ast.Call) and outer.func is call}
        self.near = dict.fromkeys(ctx.m.in_order({*touching, *given, *self.beside}))

    def _related(self) -> set[Obj]:
        """The objects that may be the model or a part of it: what is reached from it, or from what holds it."""
        roots = {*self.models, *(o.key[0] for o in self.models if o.kind == "path" and o.key[1] == ELEMENT_KEY)}  # type: ignore[index]
        return {o for root in roots for o in self.ctx.beneath.get(root, ())}

    def _runs_of_evaluators(self) -> frozenset[ast.Call]:
        """Calls of what a library made of a model to evaluate it: ``create_supervised_evaluator(model).run(xs)``, or
        of another file's function that runs it."""
        m, v = self.ctx.m, self.ctx.v
        made = {
            call
            for name in MAKE_EVALUATORS
            for call in m.calls(name)
            if call.args and self.is_model(v.of(call.args[0])) and not v.callees(call)
        }
        if not made:
            return frozenset()

        def held(expr: ast.expr) -> bool:
            return any(o.kind == "call" and o.key in made for o in v.of(expr))

        plain = {call for call in m.calls("run") if isinstance(call.func, ast.Attribute) and held(call.func.value)}
        handing = {c for c in m.all(ast.Call) if any(map(held, handed_called(v, c, "run", self.ctx.facts.elsewhere)))}
        return frozenset(plain | handing)

    def _runs_of_listed(self) -> frozenset[ast.Call]:
        """Calls of the parts that a model lists (``for name, part in model.named_children(): x = part(x)``), outside of
        networks' own classes."""
        m, v = self.ctx.m, self.ctx.v
        lists = {
            o: name
            for name in LISTS_PARTS
            for call in m.calls(name)
            if isinstance(call.func, ast.Attribute) and self.is_model(v.of(call.func.value))
            for o in v.of(call)
            if o.kind == "call" and o.key is call
        }

        def listed(obj: Obj) -> bool:
            if obj.kind != "path":
                return False
            owner = obj.key[0]  # type: ignore[index]
            if owner in lists:
                return not lists[owner].startswith("named")
            return owner.kind == "path" and owner.key[0] in lists and obj.key[1] == "1"  # type: ignore[index]

        return frozenset(
            call
            for call in (m.all(ast.Call) if lists else ())
            if isinstance(call.func, ast.Name) and any(map(listed, v.of(call.func)))
            if not self.own_method(m.function(call))
        )

    @cached_property
    def candidates(self) -> list[ast.Call]:
        """The calls that may run the model: those that touch it, and those of functions around these."""
        m, found, met = self.ctx.m, set(self.near), set()
        todo = [*self.near]
        while todo:
            for outer in m.ancestors(todo.pop()):
                if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and outer not in met:
                    met.add(outer)
                    todo += (more := self.ctx.calls_of.get(outer, ()))
                    found.update(more)
        return m.in_order(found)

    def _left_alone(self, copy: ast.Call) -> bool:
        """Whether a copy of a model was made before O2 or O3 turned the model itself into half."""
        m = self.ctx.m
        inits = [i for i in self.unit.initializes if m.function(i.call) is m.function(copy)]
        half = all(o.levels <= {"O2", "O3"} for o in self.unit.options.values()) and bool(self.unit.options)
        if not half or not inits or any(m.start(i.call) < m.start(copy) for i in inits) or m.loops(copy):
            return False
        self.copied_before.append(copy)
        return True

    # ------------------------------------------------------------ forward

    def is_model(self, held: frozenset[Obj]) -> bool:
        return any(map(self._is_model, held))

    def _is_model(self, obj: Obj) -> bool:
        said = self._told.get(obj)
        if said is None:
            said = self._told[obj] = self._model(obj)
        return said

    def _model(self, obj: Obj) -> bool:
        if obj in self.models:
            return True
        if obj.kind == "path":
            if obj.key[1] in NO_MODULE:  # type: ignore[index]
                return False
            owner = obj.key[0]  # type: ignore[index]
            if Obj("path", (owner, ELEMENT_KEY)) in self.models:
                return True  # another item of the container that the models came from
            return isinstance(owner, Obj) and owner.kind != "instance" and self._model(owner)
        return False

    def runs_model(self, call: ast.Call) -> bool:
        """Whether ``call`` calls a model of the unit, or a function that surely does."""
        if call not in self.near:
            return False  # it has nothing to do with a model
        if call in self.beside:
            return True
        v = self.ctx.v
        func = call.func
        if _of_the_host(func) or any(name.startswith("apex.amp.") for name in v.apex_names(func)):
            return False  # `trainer.amp.scale_loss`, where the trainer itself is one of its networks
        if isinstance(func, ast.Attribute):
            if self.is_model(v.of(func)) and not NOT_RUN_BY_METHOD.fit(func.attr):
                if not any(o.kind == "method" for o in v.of(func)):
                    return True
            if self._owner_is_model(func.value):
                callees = v.callees(call)
                if not callees:
                    return not NOT_RUN_BY_METHOD.fit(func.attr)
                return any(self._runs_itself(c) and not self.forbids_function(c) for c in self._of_networks(callees))
        elif self.is_model(v.of(func)):
            return not self._trains_itself(v.callees(call))
        if self._runs_bound(call) or any(map(self._begun, v.of(func))) or self._runs_given(func):
            return True
        if any(o.kind == "class" for o in v.of(func)):
            return False
        callees = v.callees(call)
        if callees and not all(_abstract(c) for c in callees):
            return False
        name = last_name(func) or _key(func)
        if v.apex_names(func) or idles_elsewhere(v, call, self.ctx.facts.elsewhere):
            return False
        if name in MAPPING and call.args and last_name(getattr(func, "value", func)) in (*MAPPING, "itertools"):
            begun = any(map(self._begun, v.of(call.args[0])))
            return begun or (self.is_model(v.of(call.args[0])) and not NOT_RUN_BY_METHOD.fit(last_name(call.args[0])))
        if name in RUN_BY_FUNCTION and _hands_back(self.ctx.m, call):
            return False  # `model = engine.data_parallel(model)`, which wraps it
        if name in RUN_BY_FUNCTION and any(self.is_model(opened(v, v.of(a))) for a in call.args):
            return True  # a part of it, too
        if name in RUN_BY_FUNCTION or evaluates(name):
            return self.takes_model(call)
        if name[:1].isupper() or name == "__init__":  # a constructor, of what derives from it as well
            asked = asked_elsewhere(v, call, self.ctx.facts.elsewhere, self.is_model)
            return any(map(self._runs_itself, asked))
        return not NOT_RUN_BY_FUNCTION.fit(name) and self.takes_model(call) and not _hands_back(self.ctx.m, call)

    def _of_networks(self, callees: list[ast.AST]) -> list[ast.AST]:
        """Without the methods of optimizers, which one registry makes as well as networks."""
        m = self.ctx.m
        return [one for one in callees if not of_optimizers(self.ctx.v, m.class_of(m.scope_of[one]))]

    def _runs_given(self, func: ast.expr) -> bool:
        """Whether a part of a model is called that a method gives whose text is not here:
        ``model.get_input_embeddings()(ids)``."""
        match func:
            case ast.Call(func=ast.Attribute(value=owner)) if not self.ctx.v.callees(func):
                return self._owner_is_model(owner)
            case _:
                return False

    def _trains_itself(self, forwards: list[ast.AST]) -> bool:
        """Whether a network's forward trains what it holds, where the loss is scaled in its own class: what it runs is
        looked at there."""
        m = self.ctx.m
        return bool(forwards) and all(
            self.forbids_function(f) and m.class_of(m.scope_of[f]) in self._trainers for f in forwards
        )

    def _bound(self, obj: Obj, seen: frozenset[Obj] = frozenset()) -> bool:
        """Whether an object is a method of a model, by whatever name it goes: ``predict = model.predict``. ``seen`` are
        those it was made of, as ``f = partial(f, x)`` in a loop is made of itself."""
        if obj in seen:
            return False
        if obj.kind == "method":
            return self._model(obj.key[0])  # type: ignore[index]
        part = obj.key if obj.kind == "partial" else None
        inner = part.args[:1] if isinstance(part, ast.Call) else []
        return any(self._bound(o, seen | {obj}) for arg in inner for o in self.ctx.v.of(arg))

    def _begun(self, obj: Obj) -> bool:
        """Whether an object is a call of a model that lacks arguments: ``partial(model, features=True)``."""
        part = obj.key if obj.kind == "partial" else None
        if not isinstance(part, ast.Call) or not part.args:
            return False
        handed = part.args[1:] if last_name(part.args[0]) in RUN_BY_FUNCTION else part.args[:1]
        return any(self.is_model(self.ctx.v.of(arg)) for arg in handed)

    def _runs_bound(self, call: ast.Call) -> bool:
        """Whether a call runs a method of a model that it knows by another name, or takes from its class."""
        v = self.ctx.v
        held = v.of(call.func)
        taken = any(map(unbound, held)) and bool(call.args) and self.is_model(v.of(call.args[0]))
        if not taken and not any(map(self._bound, held)):
            return False
        return any(self._runs_itself(c) and not self.forbids_function(c) for c in v.callees(call))

    def runs_called(self, expr: ast.expr) -> bool:
        """Whether what an expression holds is a method of a model that runs it when it is called: `net.encode`."""
        bound = [o for o in self.ctx.v.of(expr) if self._bound(o)]
        if bound:
            known = [callee for o in bound if (callee := self.ctx.v.callee(o)) is not None]
            return any(self._runs_itself(c) and not self.forbids_function(c) for c in known)
        if not isinstance(expr, ast.Attribute) or not self.is_model(self.ctx.v.of(expr.value)):
            return False
        return FORWARDING.fit(expr.attr) or GENERATING.fit(expr.attr)

    def _runs_itself(self, node: ast.AST) -> bool:
        """Whether a method of a model calls one of the model's parts, or computes with what it holds."""
        if node not in self._own:
            self._own[node] = False  # recursion
            self._own[node] = self._uses_parts(node)
        return self._own[node]

    def _uses_parts(self, node: ast.AST) -> bool:
        first = self.ctx.m.self_name(self.ctx.m.scope_of[node])
        parts = _parts(node, first) if first else frozenset()
        for call in walk(node):
            if isinstance(call, ast.BinOp) and isinstance(call.op, ast.MatMult):
                if root_name(call.left) in parts or root_name(call.right) in parts:
                    return True
            if not isinstance(call, ast.Call):
                continue
            if isinstance(call.func, (ast.Name, ast.Subscript)) and root_name(call.func) in parts:
                return True
            name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if root_name(call.func) in parts and name and not NOT_RUN_BY_METHOD.fit(name):
                callees = self.ctx.v.callees(call)
                if not callees or any(self._runs_itself(c) for c in callees):
                    return True
            if name in NATIVE_HALF and any(root_name(a) in parts for a in call.args):
                return True  # F.linear(x, self.weight)
        return False

    def _owner_is_model(self, base: ast.expr) -> bool:
        while True:
            if isinstance(base, ast.Attribute) and base.attr in NO_MODULE:
                return False
            if self.is_model(self.ctx.v.of(base)):
                return True
            if not isinstance(base, ast.Attribute):
                return False
            base = base.value

    def takes_model(self, call: ast.Call) -> bool:
        v = self.ctx.v
        asked = only_asked(v, call, self.ctx.facts.elsewhere)
        handed = (a for a in (*call.args, *(k.value for k in call.keywords)) if a not in asked)
        return any(self._whole_model(o) for a in handed for o in opened(v, v.of(a)))

    def _whole_model(self, obj: Obj) -> bool:
        """A model itself, not what an attribute of it holds (``model.stride``)."""
        if obj.kind == "path" and obj not in self.models:
            key = str(obj.key[1])  # type: ignore[index]
            if key not in ("module", ELEMENT_KEY) and not key.isdigit():
                return False
        return self._model(obj)

    def computes_function(self, node: ast.AST) -> bool:
        """Whether a function of the module runs the model, itself or through others, and no backward."""
        if node not in self._functions:
            self._functions[node] = False  # recursion
            self._functions[node] = not self.forbids_function(node) and any(
                self.strong(n) for n in walk(node) if isinstance(n, ast.Call)
            )
        return self._functions[node]

    def strong(self, call: ast.Call) -> bool:
        """A call that runs the model, directly or through functions of this module."""
        if self.runs_model(call):
            return True
        return any(self.computes_function(c) and not runs_later(self.ctx, c) for c in self.ctx.v.callees(call))

    def forwards(self, node: ast.AST) -> bool:
        return any(isinstance(n, ast.Call) and self.strong(n) for n in walk_now(node))

    def weak(self, node: ast.AST) -> bool:
        """Whether a statement computes on tensors in a way that autocast's lists could matter for."""
        return any(map(self.computes, walk_now(node)))

    def computes(self, n: ast.AST) -> bool:
        """The same for one node, whatever stands in it."""
        if isinstance(n, ast.Call):
            name = called_name(n)
            if name not in NO_COMPUTATION and not _of_the_machine(n.func) and not _of_the_host(n.func):
                return True
            return name == "mean" and isinstance(n.func, ast.Attribute) and isinstance(n.func.value, ast.BinOp)
        return isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Pow, ast.MatMult))

    # ------------------------------------------------------------ what must stay outside

    def forbidden(self, stmt: ast.AST) -> bool:
        """Whether a statement holds a backward, a step or zeroes gradients: it stays out of every region."""
        return any(self._forbidden(n) for n in walk_now(stmt))

    def _forbidden(self, n: ast.AST, called: bool = False) -> bool:
        """``called``: in a function that is called. One that zeroes gradients ahead of the forward may be wrapped."""
        if isinstance(n, (ast.Yield, ast.YieldFrom)):
            return True
        if not isinstance(n, ast.Call):
            return False
        name = called_name(n)
        callees = self.ctx.v.callees(n)
        if isinstance(n.func, ast.Call) and getattr(n.func.func, "id", "") == "getattr" and not callees:
            match n.func.args:
                case [_, ast.Constant(value=str() as spelled), *_]:
                    name = spelled
                case _:
                    return not self.own_method(self.ctx.m.function(n))  # which method that runs is not known
        if name in ("backward", "scale_loss", "manual_backward") or (name == "zero_grad" and not called):
            return True
        if n in step_calls(self.ctx, self.unit):
            return True
        return any(self.forbids_function(c) for c in callees)

    def forbids_function(self, node: ast.AST) -> bool:
        if node not in self._forbids:
            self._forbids[node] = False
            self._forbids[node] = any(self._forbidden(n, True) for n in walk(node) if n is not node) and not (
                only_yields(node)
            )
        return self._forbids[node]

    def own_method(self, scope: Scope) -> bool:
        """Whether a function belongs to a network's own class: its callers are what is wrapped."""
        at: Scope | None = scope
        while at is not None:
            if isinstance(at.node, ast.ClassDef):
                if at.node in self.model_classes or (at.node not in self._trainers and _network(self.ctx, at.node)):
                    return True
            at = at.parent
        return False

    def inner(self, call: ast.Call) -> bool:
        """Whether a call stands in a network's own class, where its callers are what is wrapped: not what a
        constructor is handed and runs."""
        scope = self.ctx.m.function(call)
        constructor = constructs(scope.node)
        handed = {*scope.params} - {self.ctx.m.self_name(scope)}
        if self._trains_itself([scope.node]):
            return False  # its callers cannot be wrapped
        if self._asked_from_outside(scope):
            return False
        return self.own_method(scope) and not (constructor and root_name(call.func) in handed)

    def _asked_from_outside(self, scope: Scope) -> bool:
        """Whether a method of a network that is its own trainer has its callers in files that know nothing of Apex
        (``net.evaluate(loader)``): nobody else can be wrapped. What Python calls by itself is no such method."""
        name = getattr(scope.node, "name", "__")
        if name.startswith("__") or name == "forward" or self.ctx.v.calls.get(scope.node):
            return False
        return self.ctx.m.class_of(scope) in self._trainers

    @cached_property
    def _trainers(self) -> set[ast.ClassDef | None]:
        """The classes whose methods train: a network may be its own trainer."""
        return {self.ctx.m.class_of(self.ctx.m.function(site.call)) for site in self.unit.sites}


def _abstract(node: ast.AST) -> bool:
    """A method that only says that a subclass has to do it."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return all(isinstance(s, (ast.Raise, ast.Pass)) for s in body)


def _with_members(ctx: Context, models: frozenset[Obj], but: Callable[[ast.Call], bool]) -> frozenset[Obj]:
    """The models and, for containers such as ``nn.ModuleList``, what was put into them; copies too, ``but`` some."""
    found, todo = set(models), list(models)
    for node in ctx.copying_calls:  # running averages and copies of a model are models
        if opened(ctx.v, ctx.v.of(node.args[0])) & models and not but(node):
            made = {o for o in ctx.v.of(node) if o.kind == "call" and o.key is node}
            found |= made
            todo += made
    while todo:
        obj = todo.pop()
        if obj.kind == "call" and isinstance(obj.key, ast.Call) and obj.label in MODULE_LISTS:
            for arg in obj.key.args:
                value = arg.value if isinstance(arg, ast.Starred) else arg
                for held in opened(ctx.v, ctx.v.of(value)):
                    if held not in found and held.kind in ("call", "instance"):
                        found.add(held)
                        todo.append(held)
        if obj.kind == "instance":  # layers that its class gives it, which may be asked for and called elsewhere
            for name in ctx.v.attributes(obj):
                layers = {held for held in ctx.v.field(obj, name) if held not in found and _layer(ctx, held)}
                found |= layers
                todo += layers
    return frozenset(found)


def _layer(ctx: Context, obj: Obj) -> bool:
    """Whether an object is one of ``torch.nn``'s layers."""
    if obj.kind != "call" or not isinstance(obj.key, ast.Call) or not isinstance(obj.key.func, ast.Attribute):
        return False
    func = obj.key.func
    return func.attr[:1].isupper() and dotted(func.value) in ("nn", "torch.nn") and not NO_NETWORK.fit(func.attr)


def _own(ctx: Context, unit: Unit) -> set[Scope]:
    """The unit's functions, and the methods of their classes."""
    scopes = {ctx.m.function(s.call) for s in unit.sites}
    classes = {cls for s in scopes if (cls := ctx.m.class_of(s)) is not None}
    return scopes.union(*(ctx.methods.get(cls, ()) for cls in classes))


def _around(ctx: Context, own: set[Scope]) -> frozenset[Scope]:
    """The unit's functions, those that call them, those that hand out batches, and what all these call: not what a
    network does inside, nor what trains apart."""
    m = ctx.m
    seen = own | _batches(ctx) | _callers(ctx, own)
    todo, found = [*seen], set[Scope]()
    while todo:
        at = todo.pop()
        if at not in own and (at in _with_backward(ctx) or _of_module(ctx, at)):
            continue
        found.add(at)
        more = {m.scope_of[f] for call in ctx.calls_in.get(at, ()) for f in ctx.v.callees(call)} - seen
        seen |= more
        todo += more
    return frozenset(found)


def _callers(ctx: Context, scopes: set[Scope]) -> set[Scope]:
    """The functions, and files, that call some of ``scopes``, directly or not."""
    found, todo = set[Scope](), [*scopes]
    while todo:
        node = todo.pop().node
        more = {ctx.m.function(call) for call in ctx.v.calls.get(node, ())} - found - scopes
        found |= more
        todo += more
    return found


@once
def _with_backward(ctx: Context) -> frozenset[Scope]:
    """The functions in which something called ``backward`` is called."""
    return frozenset(ctx.m.function(call) for call in ctx.m.calls("backward"))


@once
def _batches(ctx: Context) -> frozenset[Scope]:
    """The methods that hand out batches."""
    return frozenset(scope for methods in ctx.methods.values() for scope in methods if _hands_out(scope))


def _hands_out(scope: Scope) -> bool:
    return getattr(scope.node, "name", "") in ("__iter__", "__next__", "__getitem__")


def _of_module(ctx: Context, scope: Scope) -> bool:
    """Whether a function is a method of a network."""
    cls = ctx.m.class_of(scope)
    return cls is not None and _network(ctx, cls)


def _network(ctx: Context, cls: ast.ClassDef) -> bool:
    """Whether a class is a network, as far as its bases tell."""
    bases = [last_name(base) for one in ctx.v.order(cls) for base in one.bases]
    known = ctx.facts.elsewhere.networks
    return any(b.endswith(("Module", "Sequential")) or b in known or NETWORK_MADE.fit(b) for b in bases)


def _beside(ctx: Context, unit: Unit, around: frozenset[Scope]) -> frozenset[ast.Call]:
    """The calls that run code of another file that runs a network, or a model of the unit that it is handed."""
    runs = [_runs_in(ctx, scope) for scope in around]
    applied = {call for one in runs for call, those in one.applied if not unit.model_objects.isdisjoint(those)}
    return frozenset(applied.union(*(one.elsewhere for one in runs)))


@dataclass(frozen=True)
class _Runs:
    """What the calls in one function run beside the models of whichever unit asks."""

    elsewhere: frozenset[ast.Call]  # code of another file that runs a network
    applied: list[tuple[ast.Call, frozenset[Obj]]]  # such code that would run these, if Apex was handed them
    networks: frozenset[Obj]  # by what is known of them
    holding: list[tuple[Obj, frozenset[Obj]]]  # objects of other files, each with the models that it keeps


@once_each
def _runs_in(ctx: Context, scope: Scope) -> _Runs:
    calls, elsewhere = ctx.calls_in.get(scope, ()), ctx.facts.elsewhere
    run = [_run_by(ctx, call) for call in calls]
    applied = [(call, those) for call in calls if (those := applied_elsewhere(ctx.v, call, elsewhere))]
    return _Runs(
        frozenset(call for call in calls if runs_elsewhere(ctx.v, call, elsewhere)),
        applied,
        frozenset[Obj]().union(*(networks for networks, _ in run)),
        [one for _, holding in run for one in holding],
    )


def _run_by(ctx: Context, node: ast.Call) -> tuple[frozenset[Obj], list[tuple[Obj, frozenset[Obj]]]]:
    """The networks that a call runs, by what is known of them; and what it has to do with that objects of other files
    keep, each with the models of which it is one if Apex was handed that."""
    v, elsewhere = ctx.v, ctx.facts.elsewhere
    run = v.of(node.func)
    if isinstance(node.func, ast.Attribute) and FORWARDING.fit(node.func.attr):
        run |= v.of(node.func.value)
    elif isinstance(node.func, ast.Attribute) and node.args and not NOT_RUN_BY_METHOD.fit(node.func.attr):
        run |= {o for o in v.of(node.func.value) if made_elsewhere(v, o, elsewhere)}
    held = run | (v.of(node.func.value) if isinstance(node.func, ast.Attribute) else frozenset())
    networks = frozenset(o for o in run if is_network(v, o, elsewhere) or _layer(ctx, o))
    holding = [(o, models) for o in held if (models := kept_elsewhere(v, o, elsewhere))]
    return networks | may_be_network(v, node, elsewhere), holding


def _key(func: ast.expr) -> str:
    """What a function is called that is kept under a name: ``config["parameters"](model)``."""
    match func:
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case _:
            return ""


def _neighbours(ctx: Context, unit: Unit, own: set[Scope], around: frozenset[Scope]) -> frozenset[Obj]:
    """Other modules that run beside the unit's (a teacher, a feature network): O1 cast their forwards too.

    A module is what is one by its class or name; in the unit's own functions also what ``torch.nn`` made, or is asked
    for its parameters or mode."""
    v = ctx.v
    found, kept = set[Obj](), set[Obj]()
    for runs in (_runs_in(ctx, scope) for scope in around):
        found |= runs.networks
        kept |= {one for one, models in runs.holding if not unit.model_objects.isdisjoint(models)}
    for node in (call for here in own for call in ctx.calls_in.get(here, ())):
        if not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in MODULE_METHODS or (
            node.func.attr in ("to", "cuda")
            and (_called_model(node.func.value) or any("model" in o.label.lower() for o in v.of(node.func.value)))
        ):
            found |= {o for o in v.of(node.func.value) if o.kind in ("call", "instance")}
        elif node.func.attr[:1].isupper() and dotted(node.func.value) in ("nn", "torch.nn"):
            found |= {o for o in v.of(node) if o.kind == "call"}
    found |= kept  # whatever their names say: `ema.model`
    others = {o for o in found if any(i not in unit.initializes for i in ctx.initialized.get(o, ()))}
    others |= {o for o in found if _result(ctx, unit, o)}
    return frozenset(
        o
        for o in found - others - ctx.optimizers
        if (o in kept or not NO_NETWORK.fit(o.label)) and not _stands_alone(ctx, o) and not no_module(v, o)
    )


def _result(ctx: Context, unit: Unit, obj: Obj) -> bool:
    """Whether an object is what a network gave back: ``out = model(x); out = out.to("cpu")`` moves no network."""
    if obj.kind != "call" or not isinstance(obj.key, ast.Call):
        return False
    run, elsewhere = ctx.v.of(obj.key.func), ctx.facts.elsewhere
    return any(o in unit.model_objects or is_network(ctx.v, o, elsewhere) or _layer(ctx, o) for o in run)


def _stands_alone(ctx: Context, obj: Obj) -> bool:
    """Whether an object's class derives from nothing and cannot be called: it may hold a network, and is none."""
    if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
        return False
    order = ctx.v.order(obj.key)
    methods = {s.name for cls in order for s in cls.body if isinstance(s, ast.FunctionDef)}
    bases = {last_name(base) for cls in order for base in cls.bases} - {cls.name for cls in order}
    return bases <= {"object", "ABC"} and methods.isdisjoint({"forward", "__call__"})


def _called_model(expr: ast.expr) -> bool:
    """Whether a name says that it holds a model: ``model``, ``self.teacher_model``."""
    return last_name(expr).lower().split("_")[-1] == "model"


def _parts(node: ast.AST, first: str) -> frozenset[str]:
    """The names in a method that stand for its object or, as those of a loop do, for a part of it."""
    found = {first}
    for _ in range(3):
        for n in walk(node):
            match n:
                case ast.For(target=target, iter=source) | ast.comprehension(target=target, iter=source):
                    pass
                case ast.Assign(targets=[ast.Name() as target], value=ast.Attribute() | ast.Subscript() as source):
                    pass
                case ast.Assign(targets=[ast.Name() as target], value=ast.Call(func=ast.Name(id="getattr")) as source):
                    pass
                case _:
                    continue
            # `zip(self.layers, xs)` hands on parts, `self.split(x)` results
            whole = source.args if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else [source]
            if any(root_name(a) in found for a in whole):
                found |= {t.id for t in walk(target) if isinstance(t, ast.Name)}
    return frozenset(found)


def _no_module(obj: Obj) -> bool:
    """Whether an object is none of a unit's models, though ``getattr`` by a computed name may hand it on as one."""
    match obj.kind:
        case "apex":
            return True
        case "param":
            return obj.label in OPTIONS
        case "call":
            return NO_MODULE_MADE.fit(obj.label)
        case "path":
            return isinstance(obj.key, tuple) and isinstance(obj.key[0], Obj) and _no_module(obj.key[0])
        case _:
            return False


def _hands_back(m: Module, call: ast.Call) -> bool:
    """Whether a function takes nothing but a model, with options, and its result takes that one's place:
    ``model = auto_wrap(model)``."""
    plain = all(isinstance(k.value, (ast.Constant, ast.Attribute)) for k in call.keywords)
    match m.parent[call]:
        case ast.Assign(targets=[target], value=value) if value is call and len(call.args) == 1 and plain:
            return m.src(target) == m.src(call.args[0])
        case _:
            return False


def _of_the_host(func: ast.expr) -> bool:
    """Whether a function is one of a module that knows nothing of tensors, or a method of a text: ``"…".join``."""
    if not isinstance(func, ast.Attribute):
        return False
    if isinstance(func.value, (ast.JoinedStr, ast.Constant)):
        return True
    return root_name(func) in HOST_MODULES


def _of_the_machine(func: ast.expr) -> bool:
    """Whether a function asks or tells torch about devices and processes: ``torch.cuda.device_count``."""
    text = ast.unparse(func)
    return text.startswith(("torch.cuda.", "torch.backends.", "torch.distributed.", "dist."))


def generates(node: ast.AST) -> bool:
    """Whether a function is a generator: a call of it runs nothing yet."""
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(
        isinstance(n, (ast.Yield, ast.YieldFrom)) for stmt in node.body for n in walk_now(stmt)
    )


def runs_later(ctx: Context, node: ast.AST) -> bool:
    """Whether a call of a function runs nothing yet: a generator, or a coroutine that is not waited for at once."""
    if isinstance(node, ast.AsyncFunctionDef):
        if any(not isinstance(ctx.m.parent[call], ast.Await) for call in ctx.v.calls[node]):
            return True
    return generates(node)


def only_yields(node: ast.AST) -> bool:
    """A generator without backward: a data source."""
    calls = {n.func.attr for n in walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
    return not calls & {"backward", "zero_grad", "step", "scale_loss"} and any(
        isinstance(n, (ast.Yield, ast.YieldFrom)) for n in walk(node)
    )


def walk_now(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that run when a statement runs: bodies of functions defined in it do not."""
    todo = [node]
    while todo:
        at = todo.pop()
        if at is not node and isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if at is node and isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return
        yield at
        todo.extend(children(at))
