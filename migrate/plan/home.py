"""Where the GradScaler lives and how each function reaches it: the scaler follows the optimizer.

A GradScaler depends on neither model nor optimizer, so its home is beside the optimizer: a local or
global variable, or an attribute of the object that holds the optimizer. Functions that are handed
the optimizer are handed the scaler too, by one more parameter behind the optimizer's.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations, pairwise

from ..facts.loops import gone_through
from ..facts.module import Module, Scope
from ..facts.networks import comes_from_elsewhere, name_elsewhere
from ..facts.sites import Initialize, opened
from ..nodes import walk
from ..units.conditions import FALSE, TRUE, Term, conjunction, negation, reads
from ..units.order import Order
from ..units.references import escape
from ..units.translate import paired, partial_of, passed, receiver, translate, translate_open
from ..units.unit import Context, Manual, Unit
from . import switch
from .ahead import changes
from .decorators import hands_on
from .places import Creation, Homes, Parameter, Place
from .schedule import Scaler
from .unmade import unmade

_COMMON_NAMES = ("scaler", "grad_scaler", "amp_scaler", "loss_scaler")


class Finder:
    """Finds the home of one unit's scalers; raises Manual where a function cannot reach it."""

    def __init__(self, ctx: Context, unit: Unit, scalers: Sequence[Scaler], order: Order) -> None:
        self.ctx, self.unit, self.scalers, self.order = ctx, unit, scalers, order
        self.homes = Homes()
        self._parameters: dict[tuple[ast.AST, str], Parameter] = {}
        self._places: dict[int, list[Place]] = {}
        self._uses: dict[int, list[ast.AST]] = {}
        self._without: dict[tuple[ast.AST, str], list[ast.Call]] = {}  # calls that hand on no optimizer

    def snapshot(self) -> tuple[object, ...]:
        """What `restore` needs to undo a question that came to nothing."""
        handed = [(p, dict(p.calls)) for p in self.homes.parameters]
        places = {key: list(value) for key, value in self._places.items()}
        uses = {key: list(value) for key, value in self._uses.items()}
        return handed, dict(self._parameters), places, uses, {key: list(v) for key, v in self._without.items()}

    def restore(self, state: tuple[object, ...]) -> None:
        """Forget every parameter and place that was found since `snapshot`."""
        handed, parameters, places, uses, without = state
        for parameter, calls in handed:  # type: ignore[attr-defined]
            parameter.calls = calls
        self.homes.parameters = [p for p, _ in handed]  # type: ignore[attr-defined]
        self._parameters = parameters  # type: ignore[assignment]
        self._places, self._uses, self._without = places, uses, without  # type: ignore[assignment]

    # ------------------------------------------------------------ asking

    def reach(self, scaler: Scaler, node: ast.AST, optimizer: ast.expr | None) -> str:
        """The expression by which the code at ``node`` reaches ``scaler``."""
        self._uses.setdefault(id(scaler), []).append(node)
        if optimizer is None:
            return self._reach_without(scaler, node)
        return self._follow(scaler, node, optimizer)

    def _follow(self, scaler: Scaler, node: ast.AST, optimizer: ast.expr) -> str:
        m, v = self.ctx.m, self.ctx.v
        root = self._root(optimizer)
        match root:
            case ast.Attribute(value=base):
                owners = {
                    self._defining_class(o.key, root)
                    for o in v.of(base)
                    if o.kind == "instance" and isinstance(o.key, ast.ClassDef)
                }
                if len(owners) == 1:
                    owner = owners.pop()
                    if isinstance(base, ast.Attribute) and self._only_declares(owner, root.attr):
                        return self._follow(scaler, node, base)  # a record: the scaler goes beside the record
                    self._place(scaler, Place(owner=owner))
                    return f"{m.src(base)}.{scaler.name}"
                if isinstance(base, ast.Name) and not owners:
                    scope = m.binding_scope(base.id, m.scope(node))
                    return self._variable(scaler, node, base.id, scope)
            case ast.Name(id=name):
                return self._variable(scaler, node, name, m.binding_scope(name, m.scope(node)))
            case _:
                pass
        raise Manual(node, f"how {m.src(optimizer)} gets here is not known, so neither is the way of the scaler")

    def _only_declares(self, owner: ast.ClassDef, attr: str) -> bool:
        """Whether a class is a record (dataclass, NamedTuple) that declares the attribute and never assigns it."""
        return any(
            isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name) and n.target.id == attr for n in owner.body
        )

    def _variable(self, scaler: Scaler, node: ast.AST, name: str, scope: Scope | None) -> str:
        if scope is None:
            raise Manual(node, f"{name} is defined nowhere in this file")
        handed = scope.is_function and name in scope.params and not self._initializes(scope)
        begun_below = self._switched_below(scope) and not self.ctx.v.calls[scope.node]
        if handed and not begun_below and not self._anew(scope, name):
            if (own := self._own_of_callers(scope, name)) is not None:
                return self._follow(scaler, node, own)
            self._parameter(scaler, scope, name)
            return scaler.name
        source = self._alias_of(scaler, scope, name)
        if source is not None:
            return self._follow(scaler, source, source)
        self._place(scaler, Place(scope=scope))
        return scaler.name

    def _own_of_callers(self, scope: Scope, name: str) -> ast.expr | None:
        """``self.optimizer``, where it is what methods of the same object hand to a method's parameter: its scaler is
        an attribute beside it, and needs no parameter."""
        m = self.ctx.m
        cls, own = m.class_of(scope), m.self_name(scope)
        calls = self.ctx.v.calls[scope.node]
        handed = [passed(self.ctx, call, scope, name) for call in calls]
        if cls is None or own is None or m.stores(name, scope) or not handed:
            return None
        for call, arg in zip(calls, handed, strict=True):
            around = m.function(call)
            func = call.func.value if isinstance(call.func, ast.Attribute) else None
            root = self._root(arg) if arg is not None else None
            base = root.value if isinstance(root, ast.Attribute) else None
            mine = all(isinstance(one, ast.Name) and one.id == own for one in (func, base))
            if not mine or m.class_of(around) is not cls or m.self_name(around) != own:
                return None
        return handed[0]

    def _alias_of(self, scaler: Scaler, scope: Scope, name: str) -> ast.expr | None:
        """The attribute, item or parameter that a local variable takes its optimizer from, if it makes none itself."""
        m, v = self.ctx.m, self.ctx.v
        sources: list[ast.expr] = []
        for node in m.stores(name, scope):
            above = m.parent[node]
            if isinstance(above, (ast.Tuple, ast.List)):  # `one, other = optimizers`
                taken = m.parent[above]
                given = taken.value if isinstance(taken, ast.Assign) else None
                if isinstance(given, ast.Name) and scope.is_function and given.id in scope.params:
                    return given
            value = self._given(node)
            if value is None or not opened(v, v.of(value)) & scaler.objects:
                return None
            if not isinstance(value, (ast.Attribute, ast.Subscript, ast.ListComp, ast.List, ast.Tuple)):
                return None
            sources.append(value)
        if not sources:
            return None
        root = self._root(sources[0])
        held_by_self = isinstance(root, ast.Attribute) and any(o.kind == "instance" for o in v.of(root.value))
        return sources[0] if held_by_self else None

    def _given(self, name: ast.Name) -> ast.expr | None:
        """What an assignment gives a name, be it one of a tuple."""
        stmt = self.ctx.m.statement(name)
        for init in self.unit.initializes:  # `model, opt = amp.initialize(model, optim.optimizer)`
            if isinstance(stmt, ast.Assign) and stmt.value is init.call and len(init.optimizers) == 1:
                return init.optimizers[0]
        pairs = [pair for t in stmt.targets for pair in paired(t, stmt.value)] if isinstance(stmt, ast.Assign) else []
        return next((value for target, value in pairs if target is name), None)

    def _initializes(self, scope: Scope) -> bool:
        """Whether an initialize of this unit stands in a function: it fills the parameters anew."""
        return any(self.ctx.m.function(init.call) is scope for init in self.unit.initializes)

    def _switched_below(self, scope: Scope) -> bool:
        """Whether a function calls, or lets others call, ``initialize``: there the loss scale begins anew."""
        return self.order.switches(scope.node) and any(
            self.ctx.v.of(target) & self.unit.optimizer_objects
            for call in self.order.calls(scope.node)
            for stmt in [self.ctx.m.statement(call)]
            if isinstance(stmt, ast.Assign)
            for target in walk(stmt.targets[0])
            if isinstance(target, ast.Name)
        )

    @cached_property
    def _saves(self) -> bool:
        """Whether somebody saves or loads amp's state."""
        return any(d.endswith("state_dict") for d in self.ctx.facts.uses.values())

    def _anew(self, scope: Scope, name: str) -> bool:
        """Whether a function gives a parameter what the one with ``initialize`` makes of it, and nobody saves amp's
        state: each run of it begins with a loss scale of its own."""
        m, v = self.ctx.m, self.ctx.v
        begins = {m.function(i.call) for i in self.unit.initializes if i.optimizers}
        if len(begins) != 1 or self._saves:
            return False
        begin = begins.pop()
        given = [stmt.value for node in m.stores(name, scope) if isinstance(stmt := m.statement(node), ast.Assign)]
        made = [value for value in given if isinstance(value, ast.Call) and begin.node in v.callees(value)]
        return bool(made) and len(made) == len(given) == len(list(m.stores(name, scope)))

    def used(self, scaler: Scaler, node: ast.AST) -> None:
        """The scaler has to be there at ``node``, which reaches it as `at_hand` says."""
        self._uses.setdefault(id(scaler), []).append(node)

    def always_handed(self, scaler: Scaler, node: ast.AST) -> None:
        """The code at ``node`` asks the scaler without an optimizer, too: every call has to hand one on."""
        scope = self.ctx.m.function(node)
        parameter = self._parameters.get((scope.node, scaler.name))
        if parameter is None or parameter.after is None:
            return
        asked = {n.id for test in self._tests_around(node) for n in walk(test) if isinstance(n, ast.Name)}
        if parameter.after not in asked:
            self._hand_always(scaler, parameter, frozenset())

    def _tests_around(self, node: ast.AST) -> Iterator[ast.expr]:
        for outer in self.ctx.m.spine(node):
            if isinstance(outer, (ast.If, ast.While)):
                yield outer.test

    def _hand_always(self, scaler: Scaler, parameter: Parameter, seen: frozenset[ast.AST]) -> None:
        """Hand the scaler on in every call of a function, of those that call it with their own parameter, and so on."""
        node = parameter.function.node
        for call in self._without.pop((node, scaler.name), []):
            before = self.snapshot()
            try:
                parameter.calls[call] = self._reach_without(scaler, call)
                self._uses.setdefault(id(scaler), []).append(call)
            except Manual:  # no scaler is there: the judge says whether one is asked for
                self.restore(before)
        for call in list(parameter.calls):
            above = self._parameters.get((self.ctx.m.function(call).node, scaler.name))
            if above is not None and above.function.node not in seen:
                self._hand_always(scaler, above, seen | {node})

    def at_hand(self, scaler: Scaler, node: ast.AST) -> str | None:
        """How the code at ``node`` reaches ``scaler`` with nothing more handed on; None where it does not."""
        m, v = self.ctx.m, self.ctx.v
        scope = m.function(node)
        at: Scope | None = scope
        while at is not None:
            for place in self._places.get(id(scaler), []):
                if place.scope is at:
                    return scaler.name
                if place.owner is not None and m.class_of(at) is place.owner and m.self_name(at):
                    return f"{m.self_name(at)}.{scaler.name}"
            for (function, _), _parameter in self._parameters.items():
                if function is at.node:
                    return scaler.name
            at = at.parent
        for name in self._nearest_names(node, scope):
            for held in v.in_order(opened(v, v.variable(name, scope))):
                for place in self._places.get(id(scaler), []):
                    if place.owner is None or held.kind != "instance":
                        continue
                    if held.key is place.owner:
                        return f"{name}.{scaler.name}"
                    for attr in sorted(v.attributes(held)):
                        if attr.isidentifier() and any(
                            o.kind == "instance" and o.key is place.owner for o in v.field(held, attr)
                        ):
                            return f"{name}.{attr}.{scaler.name}"
        return None

    def _nearest_names(self, node: ast.AST, scope: Scope) -> list[str]:
        """The names of a function: first what ``node`` itself is read from, then what its statement calls, then all."""
        root = node
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        first = [root.id] if isinstance(root, ast.Name) else []
        called = [n.func for n in walk(self.ctx.m.statement(node)) if isinstance(n, ast.Call)]
        near = [n.id for func in called for n in walk(func) if isinstance(n, ast.Name)]
        every = {*scope.names, *scope.params}
        return [*dict.fromkeys(n for n in (*first, *sorted(near), *sorted(every)) if n in every)]

    def _reach_without(self, scaler: Scaler, node: ast.AST) -> str:
        """A use with no optimizer beside it (state, evaluation)."""
        scope = self.ctx.m.function(node)
        near = self.at_hand(scaler, node)
        if near is not None:
            return near
        kept = self._kept_by_instance(scaler, scope)
        if kept is not None:
            return self._follow(scaler, node, kept)
        if (owner := self._handed_to_constructor(scaler, scope)) is not None:
            self._place(scaler, Place(owner=owner))
            return f"{self.ctx.m.self_name(scope)}.{scaler.name}"
        for name in scope.params:
            if opened(self.ctx.v, self.ctx.v.variable(name, scope)) & scaler.objects and scope.is_function:
                if not self._initializes(scope):
                    return self._variable(scaler, node, name, scope)
        if node in self.ctx.facts.uses and (found := unmade(self.ctx, scope)) is not None:
            return self._hand_to_unmade(scaler, scope, *found)
        if scope.is_function and self.ctx.v.calls[scope.node] and self._places.get(id(scaler)):
            self._parameter(scaler, scope, None)
            return scaler.name
        for name in sorted(scope.names):
            if opened(self.ctx.v, self.ctx.v.variable(name, scope)) & scaler.objects:
                return self._variable(scaler, node, name, scope)
        raise Manual(
            node,
            "the scaler cannot be reached from here: no optimizer is at hand and the callers are not known",
            "hand the GradScaler on to here from where the optimizer is made: as a result, an argument, an attribute",
        )

    def _hand_to_unmade(
        self, scaler: Scaler, scope: Scope, taker: Scope, kept: ast.stmt | None, after: str | None
    ) -> str:
        """Code that nothing in the program runs gets the scaler by one more parameter."""
        if not any(p.function is taker for p in self.homes.parameters):
            self.homes.parameters.append(Parameter(taker, after, scaler.name))
            cls = self.ctx.m.class_of(taker)
            name = cls.name if cls is not None else getattr(taker.node, "name", "")
            self.unit.review(
                taker.node,
                "APX023",
                f"nothing that is read here calls {name}(): whoever does hands it the GradScaler, too, from now on",
            )
        own = f"{self.ctx.m.self_name(taker)}.{scaler.name}"
        if kept is None:
            return scaler.name
        if not any(stmt is kept for stmt, _ in self.homes.kept):
            self.homes.kept.append((kept, f"{own} = {scaler.name}"))
        return f"{self.ctx.m.self_name(scope)}.{scaler.name}"

    def _kept_by_instance(self, scaler: Scaler, scope: Scope) -> ast.Attribute | None:
        """``self.optimizer`` as some method of a function's class says it."""
        m, v = self.ctx.m, self.ctx.v
        cls, own = m.class_of(scope), m.self_name(scope)
        if cls is None or own is None:
            return None
        for node in m.all(ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == own and v.of(node) & scaler.objects:
                if m.class_of(m.function(node)) is cls and m.self_name(m.function(node)) == own:
                    return node
        return None

    def _handed_to_constructor(self, scaler: Scaler, scope: Scope) -> ast.ClassDef | None:
        """The class of a method whose constructor is handed the optimizer, and puts it away somewhere."""
        m, v = self.ctx.m, self.ctx.v
        cls = m.class_of(scope)
        init = switch.constructor(cls) if cls is not None else None
        if cls is None or init is None or init is scope.node or m.self_name(scope) is None:
            return None
        inner = m.scope_of[init]
        handed = self._holders(scaler, inner)
        return cls if len(handed) == 1 and v.calls[init] else None

    def _holders(self, scaler: Scaler, scope: Scope) -> list[str]:
        """The parameters of a function that hold an optimizer of the scaler."""
        v = self.ctx.v
        return [p for p in scope.params if opened(v, v.variable(p, scope)) & scaler.objects]

    def _root(self, expr: ast.expr) -> ast.expr:
        for _ in range(8):
            match expr:
                case ast.Subscript(value=value) | ast.Starred(value=value):
                    expr = value
                case ast.List(elts=[first, *_] as elts) | ast.Tuple(elts=[first, *_] as elts):
                    mine = self.unit.optimizer_objects
                    expr = next((e for e in elts if opened(self.ctx.v, self.ctx.v.of(e)) & mine), first)
                case ast.IfExp(body=one):
                    expr = one
                case ast.Call(func=ast.Attribute(value=value)):
                    expr = value
                case ast.Call(args=[first, *_]):
                    expr = first
                case ast.ListComp(elt=elt, generators=[gen, *_]):
                    targets = {n.id for n in walk(gen.target) if isinstance(n, ast.Name)}
                    expr = gen.iter if isinstance(elt, ast.Name) and elt.id in targets else elt
                case ast.Name(id=name):
                    loop = self._loop_of(name, expr)
                    if loop is None:
                        return expr
                    expr = loop
                case ast.Attribute(value=value, attr=attr) if (
                    attr in ("optimizer", "_optimizer", "optim")
                    and not any(o.kind == "instance" for o in self.ctx.v.of(value))
                    and self.ctx.v.of(value) & self.unit.optimizer_objects
                ):
                    expr = value
                case _:
                    return expr
        return expr

    def _loop_of(self, name: str, node: ast.AST) -> ast.expr | None:
        for outer in self.ctx.m.spine(node):
            if isinstance(outer, ast.For) and name in {n.id for n in walk(outer.target) if isinstance(n, ast.Name)}:
                return gone_through(outer.target, outer.iter, name)
        return None

    def _defining_class(self, owner: ast.ClassDef, attribute: ast.Attribute) -> ast.ClassDef:
        """The class of the hierarchy in this file whose method assigns the optimizer's attribute."""
        m = self.ctx.m
        name = self._kept_as(owner, attribute.attr)
        for node in m.attributes(name):
            if isinstance(node.ctx, ast.Store):
                scope = m.function(node)
                cls = m.class_of(scope)
                if cls is not None and isinstance(node.value, ast.Name) and node.value.id == m.self_name(scope):
                    held = {o.key for o in self.ctx.v.of(node.value)}
                    if owner in held:
                        return cls
        return owner

    def _kept_as(self, owner: ast.ClassDef, attr: str) -> str:
        """The attribute that a property hands out: ``_optimizer`` where all its returns say ``self._optimizer``."""
        run = self.ctx.v.property_of(owner, attr)
        if run is None:
            return attr
        first = self.ctx.m.self_name(self.ctx.m.scope_of[run])
        returned = {
            n.value.attr if isinstance(n.value, ast.Attribute) and self.ctx.m.src(n.value.value) == first else ""
            for n in walk(run)
            if isinstance(n, ast.Return)
        }
        return returned.pop() or attr if len(returned) == 1 else attr

    # ------------------------------------------------------------ parameters

    def _parameter(self, scaler: Scaler, scope: Scope, after: str | None) -> None:
        key = (scope.node, scaler.name)
        if key in self._parameters:
            return
        ctx = self.ctx
        node = scope.node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            raise Manual(node, "the optimizer comes in through a lambda")
        calls = ctx.v.calls[node]
        if not calls:
            raise Manual(
                node,
                f"{node.name}() gets its optimizer from callers outside this file, so the scaler has to come from "
                "there too",
                f"create torch.amp.GradScaler beside the optimizer and hand it to {node.name}() as one more argument",
            )
        owner = ctx.m.class_of(scope)
        private = node.name.startswith("_") and not node.name.endswith("__")
        exported = ctx.exported(node)
        public = owner is not None and owner.name in exported and not private
        if node.name in exported or public or "*" in exported:
            raise Manual(
                node,
                f"{node.name}() is called from other files too, and they would have to hand it the scaler",
                f"give {node.name}() a parameter for the scaler, and its callers in the other files the argument",
            )
        if owner is not None and self._called_elsewhere(owner, node.name):
            raise Manual(
                node,
                f"code of another file is handed an object of {owner.name} and calls {node.name}() without the scaler",
                f"give {node.name}() a parameter for the scaler, and its callers in the other files the argument",
            )
        of_class = owner.decorator_list if owner is not None and node.name == "__init__" else []
        if of_class or any(not hands_on(ctx, d) for d in node.decorator_list):
            raise Manual(node, f"{node.name}() is handed to a decorator, which may call it with other arguments")
        self._check_plain_references(node)
        alone = all(len(ctx.v.callees(call)) == 1 for call in calls)
        parameter = Parameter(scope, self._last_optimizer(scope, after) if alone else after, scaler.name)
        self._parameters[key] = parameter
        self.homes.parameters.append(parameter)
        for call in calls:
            partials = [o.key for o in ctx.v.of(call.func) if o.kind == "partial" and isinstance(o.key, ast.Call)]
            if after is not None and any(scope.params.index(after) < len(partial.args) - 1 for partial in partials):
                raise Manual(
                    call,
                    f"{node.name}() is called through functools.partial, which has filled its first parameters",
                    "bind the scaler in the partial, too, in front of what it is called with",
                )
            for other in ctx.v.callees(call):
                if other is not node:
                    self._beside(scaler, ctx.m.scope_of[other], after, call)
            if after is None:
                self._uses[id(scaler)].append(call)
                parameter.calls[call] = self._reach_without(scaler, call)
                continue
            if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
                if passed(ctx, call, scope, after) is None:
                    raise Manual(call, f"the optimizer reaches {node.name}() through *args or **kwargs")
            argument = self._handed(scaler, call, scope, after)
            if argument is None and not _has_default(node, after):
                raise Manual(call, f"which optimizer this call hands to {node.name}() is not known")
            if argument is None or (isinstance(argument, ast.Constant) and argument.value is None):
                if argument is not None:
                    parameter.calls[call] = "None"
                self._without.setdefault(key, []).append(call)
                continue  # else the default is taken: no optimizer, no scaler
            self._uses[id(scaler)].append(call)
            parameter.calls[call] = self._follow(scaler, call, argument)

    def _called_elsewhere(self, owner: ast.ClassDef, method: str) -> bool:
        """Whether code of another file calls a method of an object of a class that it is handed; a saved state is asked
        for by libraries as well."""
        v, known = self.ctx.v, self.ctx.facts.elsewhere.methods
        for call in self.ctx.m.all(ast.Call):
            if not comes_from_elsewhere(v, call.func):
                continue
            asked = known.get(name_elsewhere(v, call.func), frozenset())
            for at, given in (*enumerate(call.args), *((k.arg, k.value) for k in call.keywords)):
                if (at, method) in asked or (None, method) in asked or method in ("state_dict", "load_state_dict"):
                    held = (o for o in opened(v, v.of(given)) if o.kind == "instance")
                    if any(isinstance(o.key, ast.ClassDef) and owner in v.order(o.key) for o in held):
                        return True
        return False

    def _last_optimizer(self, scope: Scope, after: str | None) -> str | None:
        """The last of the optimizers that follow each other among the parameters: the scaler does not part them."""
        assert isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        args = scope.node.args
        required = [p.arg for p in (*args.posonlyargs, *args.args)]
        required = required[: len(required) - len(args.defaults)]
        if after not in required:
            return after
        for name in required[required.index(after) + 1 :]:
            if not self.ctx.v.variable(name, scope) & self.ctx.optimizers:
                break
            after = name
        return after

    def _handed(self, scaler: Scaler, call: ast.Call, scope: Scope, after: str) -> ast.expr | None:
        """What a call hands to a parameter: the object in front of the dot to ``self``, to ``*optimizers`` each."""
        m, v, node = self.ctx.m, self.ctx.v, scope.node
        if after == m.self_name(scope) and isinstance(call.func, ast.Attribute) and receiver(self.ctx, call, scope):
            return call.func.value if not isinstance(call.func.value, ast.Call) else None
        if not _is_vararg(node, after) or any(isinstance(a, ast.Starred) for a in call.args):
            return passed(self.ctx, call, scope, after)
        return next((a for a in call.args if opened(v, v.of(a)) & scaler.objects), None)

    def _beside(self, scaler: Scaler, other: Scope, after: str | None, call: ast.Call) -> None:
        """Another function that the same call may run has to take the scaler at the same place."""
        if after is None or after not in other.params:
            raise Manual(call, "this call may run functions with different parameters; the scaler fits only one")
        self._parameter(scaler, other, after)

    def _check_plain_references(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A function that is handed around as a value may be called from anywhere."""
        use = escape(self.ctx, node)
        if use is not None:
            raise Manual(use, f"{node.name} is handed on as a value; who calls it with which arguments is not known")

    # ------------------------------------------------------------ places

    def _place(self, scaler: Scaler, place: Place) -> None:
        known = self._places.setdefault(id(scaler), [])
        if not any(p.key is place.key for p in known):
            known.append(place)

    def finish(self) -> Homes:
        """Decide the statements that create the scalers."""
        for scaler in self.scalers:
            self._hand_to_wrappers(scaler)
            places = self._places.get(id(scaler), [])
            for place in places:
                self.homes.creations += self._create(scaler, place, len(places))
                self._slots(scaler, place)
                if place.owner is not None:
                    self._tell_listed(scaler, place.owner)
        return self.homes

    def _slots(self, scaler: Scaler, place: Place) -> None:
        slots = switch.slots(self.ctx, place.owner) if place.owner is not None else None
        if slots is not None:
            self.homes.slots.append((slots, scaler.name))

    def _tell_listed(self, scaler: Scaler, owner: ast.ClassDef) -> None:
        """Who lists all attributes of an object finds the scaler among them."""
        m, v = self.ctx.m, self.ctx.v
        family = set(v.order(owner))
        nodes: list[ast.Attribute | ast.Call] = [*m.attributes("__dict__"), *m.calls("vars"), *m.calls("dir")]
        for node in m.in_order(nodes):
            match node:
                case ast.Attribute(value=listed, ctx=ast.Load()) | ast.Call(func=ast.Name(), args=[listed]):
                    pass
                case _:
                    continue
            own = isinstance(listed, ast.Name) and listed.id == m.self_name(m.function(node))
            here = own and m.class_of(m.function(node)) in family
            if here or any(o.kind == "instance" and owner in v.order(o.key) for o in v.of(listed)):  # type: ignore[arg-type]
                said = f"this lists {m.src(listed)}.{scaler.name}, too, from now on"
                self.unit.review(node, "APX020", said)

    # ------------------------------------------------------------ wrappers

    def _hand_to_wrappers(self, scaler: Scaler) -> None:
        """An object that is handed the optimizer when it is made, and keeps it, is handed the scaler too: where one
        scaler serves it and others, or where it cannot say when mixed precision is on."""
        places = self._places.get(id(scaler), [])
        for _ in range(4):  # a wrapper of a wrapper
            for place in list(places):
                kept = self._wrapped(scaler, place, len(places))
                if kept is None or place.owner is None:
                    continue
                init, stmt, name = kept
                places.remove(place)
                self._parameter(scaler, init, name)
                self.homes.kept.append((stmt, f"{self.ctx.m.self_name(init)}.{scaler.name} = {scaler.name}"))
                self._slots(scaler, place)

    def _wrapped(self, scaler: Scaler, place: Place, rivals: int) -> tuple[Scope, ast.stmt, str] | None:
        """The constructor of a class that keeps the optimizer it is handed, the statement that does, and the name of
        the parameter; None where the scaler can be made there, or where the class gets its optimizer otherwise."""
        m = self.ctx.m
        training = [i for i in self.unit.initializes if i.optimizers]
        node = switch.constructor(place.owner) if place.owner is not None else None
        if node is None or not training or any(self._in_place(i, place) for i in training):
            return None
        init = m.scope_of[node]
        if rivals == 1 and not self._made_again(node):
            enabled = said_there(self.ctx, guards(self.ctx, self.unit, training[0], None), init)
            if len(training) > 1 or not isinstance(enabled, str):
                return None
        stored = [n for n in self._stored(scaler) if m.class_of(m.function(n)) is place.owner]
        if not stored:
            return self._put_away(scaler, init)
        stmt = m.statement(stored[0]) if len(stored) == 1 else None
        if not isinstance(stmt, ast.Assign) or stmt not in node.body:
            return None
        pairs = [pair for target in stmt.targets for pair in paired(target, stmt.value)]
        value = next((value for target, value in pairs if target is stored[0]), None)
        if not isinstance(value, ast.Name) or value.id not in init.params or value.id in self._assigned(init):
            return None
        return init, stmt, value.id

    def _made_again(self, init: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
        """Whether several objects of a class may be made for one ``initialize``: in a loop that it is not in, or by
        several calls."""
        ctx, m = self.ctx, self.ctx.m
        calls = [call for call in ctx.v.calls[init] if not m.idle(call)]
        begun = [set(m.loops(i.call)) for i in self.unit.initializes if i.optimizers]
        return len(calls) > 1 or any(set(m.loops(call)) - loops for call in calls for loops in begun)

    def _put_away(self, scaler: Scaler, init: Scope) -> tuple[Scope, ast.stmt, str] | None:
        """The same for a constructor that keeps the optimizer in a list or a dictionary: the first statement of it
        that has to do with the parameter."""
        node, handed = init.node, self._holders(scaler, init)
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if len(handed) != 1 or handed[0] in self._assigned(init):
            return None
        for stmt in node.body:
            if any(isinstance(n, ast.Name) and n.id == handed[0] for n in walk(stmt)):
                return (init, stmt, handed[0]) if isinstance(stmt, (ast.Assign, ast.Expr)) else None
        return None

    def _stored(self, scaler: Scaler) -> list[ast.Attribute]:
        """The attributes that are given one of the scaler's optimizers, where they are."""
        return [n for n in self.ctx.given(scaler.objects) if isinstance(n, ast.Attribute)]

    def _assigned(self, scope: Scope) -> set[str]:
        return {n.id for n in self.ctx.m.own(scope, ast.Name) if not isinstance(n.ctx, ast.Load)}

    def late(self) -> bool:
        """Whether a scaler that was asked for so far may be needed before mixed precision is switched on."""
        return any(self._late(s, place) for s in self.scalers for place in self._places.get(id(s), []))

    def _late(self, scaler: Scaler, place: Place) -> bool:
        return switch.late(self.ctx, self.unit, self.order, scaler, place, self._uses.get(id(scaler), []))

    def _create(self, scaler: Scaler, place: Place, rivals: int) -> list[Creation]:
        """One statement where a condition says when mixed precision is on; else where it is switched on."""
        uses = self._uses.get(id(scaler), [])
        if self._late(scaler, place):
            made = switch.creations(self.ctx, self.unit, scaler, place, uses)
            if made is not None:
                return made
        try:
            return self._create_each(scaler, place) or self._create_once(scaler, place, rivals)
        except Manual:
            made = switch.creations(self.ctx, self.unit, scaler, place, uses) if rivals == 1 else None
            if made is None:
                raise
            return made

    def _create_each(self, scaler: Scaler, place: Place, least: int = 2) -> list[Creation]:
        """Training, then another ``initialize`` in the same function, or another call of one that initializes: Apex
        began with a new loss scale there."""
        ctx, m = self.ctx, self.ctx.m
        begins = sorted(self._begins(scaler, place), key=lambda pair: m.start(pair[1]))
        if place.scope is None or len(begins) < least:
            return []
        trains = switch.training_calls(ctx, self.unit, place.scope)
        between = [any(m.start(a) < m.start(x) < m.start(b) for x in trains) for (_, a), (_, b) in pairwise(begins)]
        if not all(between):
            return []
        found = []
        for init, call in begins:
            others = [m.statement(c) for _, c in begins if c is not call]
            anchor = self._dominator(m.statement(call), others)
            terms = self._begun_by(init, call, anchor)
            if terms is None:
                return []
            enabled = conjunction(terms)
            self._check_defined(anchor, enabled, [init])
            found.append(Creation(scaler, anchor, scaler.name, enabled, init=init))
        return found

    def _begins(self, scaler: Scaler, place: Place) -> list[tuple[Initialize, ast.Call]]:
        """Where a function initializes, itself or by a function that it calls; nothing where one does that is no home
        of the scaler."""
        ctx, m = self.ctx, self.ctx.m
        found: list[tuple[Initialize, ast.Call]] = []
        for init in self.unit.initializes:
            if init.optimizers:
                scope = m.function(init.call)
                helper = scope is not place.scope and scope.is_function
                found += [(init, call) for call in (ctx.v.calls[scope.node] if helper else [init.call])]
        homes = [one.scope for one in self._places.get(id(scaler), [])]
        known = all(m.function(call) in homes for _, call in found)
        return [(init, call) for init, call in found if known and m.function(call) is place.scope]

    def _begun_by(self, init: Initialize, call: ast.Call, anchor: ast.stmt) -> list[Term] | None:
        """The conditions under which one call initializes, as its function says them."""
        ctx, scope = self.ctx, self.ctx.m.function(init.call)
        if call is init.call:
            return [term for _, term in guards(ctx, self.unit, init, anchor)]
        options = self.unit.options_of(init)
        if options.scale or options.init_scale:
            return None
        own = [*_early_exits(ctx, init), *_around(ctx, init, init.call, None), *options.enabled]
        said = [said_by(ctx, call, scope, expr, term) for expr, term in own]
        around = [term for _, term in _around(ctx, init, call, anchor)]
        return None if any(term is None for term in said) else [*around, *(term for term in said if term is not None)]

    def _create_once(self, scaler: Scaler, place: Place, rivals: int) -> list[Creation]:
        ctx, m = self.ctx, self.ctx.m
        training = [i for i in self.unit.initializes if i.optimizers]
        inits = [i for i in training if self._in_place(i, place)]
        if not inits or (place.owner is not None and self._called_under_condition(inits[0])):
            if rivals > 1 and not self._begun_for_each(scaler):
                raise Manual(
                    self.unit.line_node,
                    "several variables or attributes hold an optimizer that is trained here, and Apex is not "
                    "initialized beside each of them (a script without amp that shares this loop); one scaler has to "
                    "serve all",
                    "hand the loop a scaler; a script without amp one that is switched off: GradScaler(enabled=False)",
                )
            return self._create_apart(scaler, place)
        scope = m.function(inits[0].call)
        if any(m.function(i.call) is not scope for i in inits):
            raise Manual(inits[1].call, "the same optimizer is initialized in several functions")
        stmts = [m.statement(i.call) for i in inits]
        near = [m.statement(n) for n in self._uses.get(id(scaler), []) if m.function(n) is scope]
        near = [s for s in near if not isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))]
        near += self._optimizer_statements(scaler, scope)
        made = self._dominator(stmts[0], [*stmts[1:], *near])
        anchor = self._above_conditions(made) if place.owner is not None else made
        ahead_of_all = anchor is not made
        enabled = either([[t for _, t in guards(ctx, self.unit, i, anchor)] for i in inits])
        self._check_defined(anchor, enabled, inits)
        changed = changes(ctx, anchor, max(m.start(i.call) for i in inits), enabled) if ahead_of_all else None
        if changed is not None:
            raise Manual(changed, f"this may change what `{enabled.text}` reads, and the scaler is made ahead of it")
        text = f"{m.self_name(scope) or 'self'}.{scaler.name}" if place.owner is not None else scaler.name
        declared = None
        if place.scope is not None and place.scope is not scope:
            declared = self._global_statement(scope, inits[0])
        held = [n for n in self._uses.get(id(scaler), []) if m.inside(n, anchor) and m.statement(n) is not anchor]
        return [Creation(scaler, anchor, text, enabled, declared, before=ahead_of_all or bool(held))]

    def _above_conditions(self, stmt: ast.stmt) -> ast.stmt:
        """The outermost condition around a statement of a method, where nothing else is around it: an object that gets
        its optimizer under a condition has methods that also run without (``if opt.isTrain:``)."""
        outer = self.ctx.m.spine(stmt)[1:]
        return outer[-1] if outer and all(isinstance(s, ast.If) for s in outer) else stmt

    def _check_defined(self, anchor: ast.stmt, enabled: Term, inits: list[Initialize]) -> None:
        """What the scaler's arguments read must not be assigned only inside the guarded block."""
        m = self.ctx.m
        if not isinstance(anchor, (ast.If, ast.With, ast.Try)):
            return
        texts = [enabled.text]
        for init in inits:
            options = self.unit.options_of(init)
            texts += [options.scale or "", options.static_when.text if options.static_when is not None else ""]
        for node in walk(anchor):
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
                if any(m.inside(node, m.statement(i.call)) for i in inits):
                    continue
                name = m.src(node)
                if any(name in reads(text) for text in texts if text):
                    raise Manual(
                        inits[0].call,
                        f"the scaler would read `{name}`, which is assigned under the same condition (line "
                        f"{node.lineno})",
                        f"set `{name}` before the condition, then create the GradScaler",
                    )

    def _called_under_condition(self, init: Initialize) -> bool:
        """Whether the method with the initialize is left out at times: then the scaler cannot be made there."""
        m = self.ctx.m
        scope = m.function(init.call)
        return any(
            isinstance(s, ast.If) and not _is_main(s.test)
            for call in self.ctx.v.calls[scope.node]
            if m.class_of(m.function(call)) is m.class_of(scope)
            for s in m.spine(call)
        )

    def _in_place(self, init: Initialize, place: Place) -> bool:
        m = self.ctx.m
        scope = m.function(init.call)
        if place.scope is not None:
            if scope is place.scope:
                return True
            names = scope.outer & place.scope.names
            return bool(names)
        return m.class_of(scope) is place.owner and m.self_name(scope) is not None

    def _global_statement(self, scope: Scope, init: Initialize) -> ast.Global:
        for node in self.ctx.m.own(scope, ast.Global):
            return node
        raise Manual(init.call, "the optimizer belongs to an outer function; the scaler has to be made there")

    def _optimizer_statements(self, scaler: Scaler, scope: Scope) -> list[ast.stmt]:
        """Statements of ``scope`` that make one of the optimizers."""
        m = self.ctx.m
        found = []
        for obj in self.ctx.v.in_order(scaler.objects):
            if obj.kind == "call" and isinstance(obj.key, ast.Call) and m.function(obj.key) is scope:
                found.append(m.statement(obj.key))
        own = [m.statement(i.call) for i in self.unit.initializes]
        for node in m.own(scope, ast.Attribute):
            if isinstance(node.ctx, ast.Store):
                stmt = m.statement(node)
                if stmt not in own and opened(self.ctx.v, self.ctx.v.of(node)) & scaler.objects:
                    found.append(stmt)
        return found

    def _dominator(self, start: ast.stmt, others: list[ast.stmt]) -> ast.stmt:
        """The statement around ``start`` in the innermost block that holds all of ``others`` too."""
        m = self.ctx.m
        spine = m.spine(start)
        for stmt in spine:
            block = m.block(stmt)
            if all(any(m.block(s) is block for s in m.spine(o)) for o in others):
                below = [o for o in others if any(m.block(s) is block for s in m.spine(o))]
                outside = [o for o in below if not m.inside(o, stmt)]
                if outside or stmt is spine[-1]:
                    return stmt
        return spine[-1]

    def _create_apart(self, scaler: Scaler, place: Place) -> list[Creation]:
        """The optimizer is initialized in one function and lives in another."""
        training = [i for i in self.unit.initializes if i.optimizers]
        sources = self._one_condition(training)
        if sources is None:
            raise Manual(self.unit.line_node, "several initialize calls outside the function that holds the optimizer")
        init = training[0]
        anchor, scope = self._holder(scaler, place)
        enabled = said_there(self.ctx, sources, scope)
        if isinstance(enabled, str) and (each := self._create_each(scaler, place, least=1)):
            return each
        if isinstance(enabled, str):
            raise Manual(
                init.call,
                f"the scaler belongs beside the optimizer (line {anchor.lineno}), where the condition `{enabled}` "
                "cannot be said",
                f"create torch.amp.GradScaler with enabled={enabled} and hand it on beside the optimizer",
            )
        text = f"{self.ctx.m.self_name(scope) or 'self'}.{scaler.name}" if place.owner is not None else scaler.name
        anchor = self._behind(init, enabled, anchor, scope)
        self._check_lasting(place, anchor)
        uses = [self.ctx.m.statement(n) for n in self._uses.get(id(scaler), [])]
        before = any(self.ctx.m.inside(u, anchor) for u in uses)
        return [Creation(scaler, anchor, text, enabled, before=before, renamed=self._scale_there(init, scope))]

    def _begun_for_each(self, scaler: Scaler) -> bool:
        """Whether each of several functions that train calls the one that initializes its optimizer: Apex began with a
        new loss scale at each call, and so does a scaler that is made beside it."""
        m = self.ctx.m
        begins = {m.function(i.call) for i in self.unit.initializes if i.optimizers}
        if len(begins) != 1 or not (scope := begins.pop()).is_function:
            return False
        callers = {m.function(call) for call in self.ctx.v.calls[scope.node] if not m.idle(call)}
        places = self._places.get(id(scaler), [])
        return all(place.scope in callers and place.scope is not scope for place in places)

    def _one_condition(self, training: Sequence[Initialize]) -> list[tuple[ast.expr, Term]] | None:
        """The conditions under which one of these calls runs; None where several say more than one together."""
        if len(training) == 1:
            return guards(self.ctx, self.unit, training[0], None)
        options = [self.unit.options_of(init) for init in training]
        apart = len({self.ctx.m.function(init.call) for init in training}) != 1
        if apart or any(o.scale or o.init_scale for o in options):
            return None
        each = [guards(self.ctx, self.unit, init, None) for init in training]
        cases = without_opposites([[term for _, term in one] for one in each])
        left = {term.text for term in cases[0]}
        return [pair for pair in each[0] if pair[1].text in left] if len(cases) == 1 else None

    def _behind(self, init: Initialize, enabled: Term, anchor: ast.stmt, scope: Scope) -> ast.stmt:
        """The call that initializes, where the function that it calls sets what the condition reads."""
        m = self.ctx.m
        made = {n.attr for n in m.own(m.function(init.call), ast.Attribute) if isinstance(n.ctx, ast.Store)}
        if made.isdisjoint(name.rpartition(".")[2] for name in reads(enabled.text) if "." in name):
            return anchor
        blocks = [m.block(s) for s in m.spine(anchor)]
        for call in self.order.calls(scope.node):
            for stmt in m.spine(call):
                if any(m.block(stmt) is b for b in blocks) and m.start(stmt) > m.start(anchor):
                    return stmt
        return anchor

    def _check_lasting(self, place: Place, anchor: ast.stmt) -> None:
        """A scaler in a local variable has to outlive the training loop: the loop must be in the same function."""
        m = self.ctx.m
        if place.scope is None or not place.scope.is_function:
            return
        for scale in self.unit.scales:
            if m.function(scale.call) is place.scope:
                inside = [x for x in m.loops(scale.call) if not m.inside(anchor, x)]
                if not inside:
                    raise Manual(
                        scale.call,
                        "the optimizer reaches this function anew on every call; a scaler made here would forget its "
                        "loss scale each time",
                        "keep one GradScaler where the optimizer is kept, and use it here",
                    )

    def _scale_there(self, init: Initialize, scope: Scope) -> dict[str, str]:
        """The texts of a static loss scale as the optimizer's function says them."""
        options, source = self.unit.options_of(init), init.options.get("loss_scale")
        found: dict[str, str] = {}
        if source is None or options.scale is None or options.static_when is None:
            return found
        for text in (options.scale, options.static_when.text):
            said = translate(self.ctx, source, text, scope)
            if said is None:
                raise Manual(init.call, f"the loss scale {text} cannot be said where the optimizer lives")
            found[text] = said
        return found

    def _holder(self, scaler: Scaler, place: Place) -> tuple[ast.stmt, Scope]:
        """The statement that puts the optimizer where it lives."""
        m = self.ctx.m
        found: list[ast.stmt] = []
        for node in self.ctx.given(scaler.objects):
            if any(m.inside(i.call, m.statement(node)) for i in self.unit.initializes):
                continue
            scope = m.function(node)
            if place.scope is not None and isinstance(node, ast.Name) and scope is place.scope:
                found.append(m.statement(node))
            if place.owner is not None and isinstance(node, ast.Attribute) and m.class_of(scope) is place.owner:
                found.append(m.statement(node))
        own = {m.function(i.call) for i in self.unit.initializes}
        found = [s for s in found if m.function(s) not in own] or found
        constructors = [s for s in found if getattr(m.function(s).node, "name", "") == "__init__"]
        found = constructors or found
        scopes = {m.function(s) for s in found}
        if not found or len(scopes) != 1:
            raise Manual(self.unit.line_node, "where the optimizer is kept is not known")
        uses = [m.statement(n) for n in self._uses.get(id(scaler), []) if m.function(n) in scopes]
        return self._dominator(found[0], [*found[1:], *uses]), scopes.pop()


def _is_vararg(node: ast.AST, name: str) -> bool:
    """Whether a function takes any number of arguments under a name: ``*optimizers``."""
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
        node.args.vararg is not None and node.args.vararg.arg == name
    )


def _has_default(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> bool:
    a = node.args
    positional = [*a.posonlyargs, *a.args]
    named = {p.arg for p in positional[len(positional) - len(a.defaults) :]}
    named |= {p.arg for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None}
    return name in named


def guards(
    ctx: Context, unit: Unit, init: Initialize, anchor: ast.stmt | None, there: Scope | None = None
) -> list[tuple[ast.expr, Term]]:
    """The conditions under which an initialize runs, and its options'.

    Up to ``anchor``, a statement of its function; with None on through the functions that call its function,
    unless they are wanted ``there``, in the function itself."""
    found = _around(ctx, init, init.call, anchor)
    if anchor is None and there is not ctx.m.function(init.call):
        scope = ctx.m.function(init.call)
        found = [*_early_exits(ctx, init), *found]
        for _ in range(3):
            calls = ctx.v.calls[scope.node] if scope.is_function else []
            each = [_around(ctx, init, call, None) for call in calls]
            if not any(each):
                break
            if len(calls) > 1:
                texts = {tuple(t.text for _, t in one) for one in each}
                if len(texts) > 1:
                    raise Manual(init.call, "the function with amp.initialize is called under different conditions")
            found = [*each[0], *found]
            scope = ctx.m.function(calls[0])
    return [*found, *unit.options_of(init).enabled]


def _early_exits(ctx: Context, init: Initialize) -> list[tuple[ast.expr, Term]]:
    """``if not fp16: return …`` above an initialize: it only runs where that does not hold."""
    m = ctx.m
    found: list[tuple[ast.expr, Term]] = []
    for stmt in m.spine(init.call):
        block, index = m.place[stmt]
        for before in block.body[:index]:
            if isinstance(before, ast.If) and isinstance(before.body[-1], (ast.Return, ast.Continue, ast.Break)):
                found.append((before.test, negation(ctx.conditions.term(before.test))))
    return found


def _around(ctx: Context, init: Initialize, call: ast.Call, anchor: ast.stmt | None) -> list[tuple[ast.expr, Term]]:
    """The conditions around a call, outermost first, up to ``anchor`` or its function."""
    below: ast.AST = ctx.m.statement(call)
    found = _within_expression(ctx, call, itself=call is init.call)
    if below is not anchor:
        for outer in ctx.m.ancestors(below):
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                break
            if isinstance(outer, ast.If):
                term = ctx.conditions.term(outer.test)
                if not _is_main(outer.test):
                    found.append((outer.test, term if below in outer.body else negation(term)))
            elif isinstance(outer, (ast.For, ast.While, ast.AsyncFor)) and anchor is not None:
                raise Manual(init.call, "amp.initialize runs inside a loop, its optimizer is used outside of it")
            elif isinstance(outer, ast.match_case):
                raise Manual(init.call, "amp.initialize stands in a case of a match statement")
            elif isinstance(outer, ast.ExceptHandler):
                raise Manual(init.call, "amp.initialize stands in an exception handler")
            below = outer
            if outer is anchor:
                break
    found.reverse()
    return found


def _within_expression(ctx: Context, call: ast.Call, itself: bool) -> list[tuple[ast.expr, Term]]:
    """Conditions inside the statement itself: ``amp.initialize(…) if fp16 else …``; a list of what a function hands
    back calls it in a loop."""
    found: list[tuple[ast.expr, Term]] = []
    below: ast.AST = call
    for outer in ctx.m.ancestors(call):
        if isinstance(outer, (ast.stmt, ast.Lambda)):
            break
        if isinstance(outer, ast.IfExp) and below is not outer.test:
            term = ctx.conditions.term(outer.test)
            found.append((outer.test, term if below is outer.body else negation(term)))
        elif isinstance(outer, (ast.ListComp, ast.SetComp, ast.DictComp)) and not itself:
            if not isinstance(below, ast.comprehension):
                found += [(test, ctx.conditions.term(test)) for gen in outer.generators for test in gen.ifs]
        elif isinstance(outer, (ast.BoolOp, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)):
            raise Manual(call, "amp.initialize is part of an expression that may leave it out")
        below = outer
    return found


def _is_main(test: ast.expr) -> bool:
    """``if __name__ == "__main__":``"""
    return any(isinstance(n, ast.Name) and n.id == "__name__" for n in walk(test))


_CONSTANTS = {"True": TRUE, "False": FALSE, "not True": FALSE, "not False": TRUE}


def said_there(ctx: Context, sources: list[tuple[ast.expr, Term]], there: Scope) -> Term | str:
    """A conjunction as scope ``there`` can say it; the text of the first condition that it cannot."""
    terms = terms_there(ctx, sources, there)
    return terms if isinstance(terms, str) else conjunction(terms)


def terms_there(ctx: Context, sources: list[tuple[ast.expr, Term]], there: Scope) -> list[Term] | str:
    """Conditions as scope ``there`` can say them; the text of the first that it cannot."""
    terms: list[Term] = []
    for expr, term in sources:
        if term.value is not None:
            terms.append(term)
            continue
        said = translate(ctx, expr, term.text, there)
        if said is not None and _open_to_others(ctx, there) and _reads_parameter(said, there):
            said = translate_open(ctx, expr, term.text, there)
        if said is None:
            return term.text
        if said in _CONSTANTS:
            terms.append(_CONSTANTS[said])
            continue
        terms.append(Term(said, term.binds, boolean=term.boolean))
    return terms


def said_by(ctx: Context, call: ast.Call, callee: Scope, expr: ast.expr, term: Term) -> Term | None:
    """A condition of a function as one of its calls says it: parameters are what the call hands over."""
    if term.value is not None:
        return term
    m, tree = ctx.m, ast.parse(term.text, mode="eval")
    said: dict[str, ast.expr] = {}
    for node in walk(tree):
        if isinstance(node, ast.Name) and m.binding_scope(node.id, m.scope(expr)) is callee:
            given = passed(ctx, call, callee, node.id) if node.id in callee.params else None
            if not isinstance(given, (ast.Constant, ast.Name, ast.Attribute)) or m.bindings(node.id, callee):
                return None
            said[node.id] = given
    text = ast.unparse(_Given(said).visit(tree)).replace("'", '"')
    match ast.parse(text, mode="eval").body:
        case ast.Compare(left=ast.Constant(value=one), ops=[op], comparators=[ast.Constant(value=other)]) if (
            isinstance(op, (ast.Eq, ast.NotEq))
        ):
            return TRUE if (one == other) is isinstance(op, ast.Eq) else FALSE
        case ast.Constant(value=one):
            return TRUE if one else FALSE
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=one)):
            return FALSE if one else TRUE
    return Term(text, term.binds, boolean=term.boolean)


class _Given(ast.NodeTransformer):
    """Puts arguments in the place of parameters."""

    def __init__(self, said: dict[str, ast.expr]) -> None:
        self.said = said

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.said.get(node.id, node)


def _open_to_others(ctx: Context, scope: Scope) -> bool:
    """Whether other files call this function, with arguments that are not known here."""
    name = getattr(scope.node, "name", None)
    return name is not None and bool(ctx.exported(scope.node) & {name, "*"})


def _reads_parameter(text: str, scope: Scope) -> bool:
    return not reads(text).isdisjoint(scope.params)


def without_opposites(cases: list[list[Term]]) -> list[list[Term]]:
    """Fewer cases that say the same: two that differ in one condition alone, which holds here and does not hold there,
    are one without it (the arms of ``if … elif … else``)."""
    for one, other in combinations(cases, 2):
        mine, theirs = _beyond(one, other), _beyond(other, one)
        if len(mine) == len(theirs) == 1 and _opposites(mine[0], theirs[0]):
            rest = [term for term in one if term.text != mine[0].text]
            return without_opposites([*(case for case in cases if case is not one and case is not other), rest])
    return cases


def _beyond(one: list[Term], other: list[Term]) -> list[Term]:
    """The conditions of one case that another does not have."""
    return [term for term in one if term.value is None and term.text not in {x.text for x in other}]


def _opposites(one: Term, other: Term) -> bool:
    return negation(one).text == other.text or negation(other).text == one.text


def either(cases: list[list[Term]]) -> Term:
    """``a or b`` of the conditions of several initialize calls; what all have in common is said once."""
    live = [[t for t in case if t.value is None] for case in cases if not any(t.value is False for t in case)]
    if not live:
        return FALSE
    live = without_opposites(live)
    common = [t for t in live[0] if all(t.text in {x.text for x in case} for case in live)]
    texts = {t.text for t in common}
    rest = [conjunction([t for t in case if t.text not in texts]) for case in live]
    if any(t.value for t in rest) or any(negation(t).text in {x.text for x in rest} for t in rest):
        return conjunction(common)
    kept = list({t.text: t for t in rest}.values())
    if len(kept) == 1:
        return conjunction([*common, kept[0]])
    either = Term(" or ".join(t.inside(2) for t in kept), 1, boolean=all(t.boolean for t in kept))
    return conjunction([*common, either])


def free_name(m: Module, name: str, taken: set[str]) -> str:
    """A name that stands nowhere in the module, neither as a variable, function or class nor as an attribute."""
    used = m.words | taken
    candidates = _COMMON_NAMES if name == "scaler" else (name, f"grad_{name}", f"amp_{name}")
    for candidate in candidates:
        if candidate not in used:
            return candidate
    number = 2
    while f"{name}_{number}" in used:
        number += 1
    return f"{name}_{number}"


def call_offset(ctx: Context, call: ast.Call, scope: Scope, after: str | None, name: str, text: str) -> tuple[int, str]:
    """Where in the text of a call the scaler is handed on, and what to write there."""
    m = ctx.m
    node = scope.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    for keyword in call.keywords:
        if after is not None and keyword.arg == after:
            return m.end(keyword.value), behind(m, m.start(keyword), m.end(keyword.value), f"{name}={text}")
    if after is not None and not _is_vararg(node, after):
        positional = [p.arg for p in (*node.args.posonlyargs, *node.args.args)]
        index = positional.index(after) - receiver(ctx, call, scope)
        part = partial_of(ctx, call)
        if part is not None:
            index -= len(part.args) - 1
        if 0 <= index < len(call.args):
            return m.end(call.args[index]), behind(m, m.start(call.args[index]), m.end(call.args[index]), text)
    every: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    if not every:
        return m.end(call) - 1, f"{name}={text}"
    last = max(every, key=m.end)
    return m.end(last), behind(m, m.start(last), m.end(last), f"{name}={text}")


def behind(m: Module, start: int, end: int, text: str) -> str:
    """One more item of a list behind the one from ``start`` to ``end``: on a line of its own where each has one."""
    row = m.line_text(bisect_right(m.starts, start))
    alone = row.strip().rstrip(",") == m.text[start:end]
    return f",\n{row[: len(row) - len(row.lstrip())]}{text}" if alone else f", {text}"
