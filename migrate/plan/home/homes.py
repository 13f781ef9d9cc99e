"""Where the GradScaler lives and how each function reaches it: the scaler follows the optimizer.

A GradScaler depends on neither model nor optimizer, so its home is beside the optimizer: a local or
global variable, or an attribute of the object that holds the optimizer. Functions that are handed
the optimizer are handed the scaler too, by one more parameter behind the optimizer's.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from ...facts.loops import gone_through
from ...facts.names import last_name
from ...facts.scopes import Scope
from ...facts.sites import opened
from ...flow.arguments import default_of
from ...flow.attribute_dicts import items_are_attributes
from ...flow.wrapped import unwraps
from ...nodes import walk
from ...units.translate import paired, passed
from ...units.unit import Manual
from ..schedule import Scaler
from ..unmade import unmade
from . import named_owners, switch
from .handing import Handing
from .keepers import behind, inherit, keeps, record_with
from .listed_names import lists_names
from .otherwise import own_otherwise
from .outside import called_outside
from .places import Homes, Outside, Parameter, Place

_WHOLE_STATE = re.compile(r"__dict__|\bvars\(|\bsuper\(")  # a state that is not written out item by item


class Finder(Handing):
    """Finds the home of one unit's scalers; raises Manual where a function cannot reach it."""

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
        if self._builds(scaler, optimizer):
            self._place(scaler, Place(scope=m.function(optimizer)))
            return scaler.name
        root = self._root(optimizer)
        match root:
            case ast.Attribute(value=base):
                made = [o for o in v.of(base) if o.kind in ("instance", "class") and isinstance(o.key, ast.ClassDef)]
                made = [o for o in made if not items_are_attributes(o.key)]  # type: ignore[arg-type]
                having = [o for o in made if v.field(o, root.attr)]  # a base class alone may lack the attribute
                classes: list[ast.ClassDef] = [o.key for o in having or made]  # type: ignore[misc]
                owners = {self._defining_class(cls, root) for cls in classes}
                if len(owners) > 1:  # a mixin may only initialize what another one made
                    owners = {self._defining_class(cls, root, made=True) for cls in classes}
                if len(owners) == 1:
                    owner = owners.pop()
                    if self._beside_record(base) and self._only_declares(owner, root.attr):
                        return self._follow(scaler, node, base)  # a record: the scaler goes beside the record
                    self._place(scaler, Place(owner=owner))
                    return f"{m.src(base)}.{scaler.name}"
                modules = [o.key for o in v.of(base) if o.kind == "module"]
                if len(modules) == 1 and not owners:
                    self._place(scaler, Place(scope=m.scope_of[modules[0]]))  # type: ignore[index]
                    return f"{m.src(base)}.{scaler.name}"
                if isinstance(base, ast.Name) and not owners:
                    scope = m.binding_scope(base.id, m.scope(node))
                    return self._variable(scaler, node, base.id, scope)
            case ast.Name(id=name):
                return self._variable(scaler, node, name, m.binding_scope(name, m.scope(node)))
            case _:
                pass
        raise Manual(node, f"how {m.src(optimizer)} gets here is not known, so neither is the way of the scaler")

    def _builds(self, scaler: Scaler, expr: ast.expr) -> bool:
        """``Wrapper(build(model, opt))``: the function that is called here makes the optimizer and initializes it, so
        no name has it ahead of the wrapper; ``Wrapper(Adam(params))``: it is made there."""
        v = self.ctx.v
        if not isinstance(expr, ast.Call) or not opened(v, v.of(expr)) & scaler.objects:
            return False
        if any(obj.key is expr for obj in scaler.objects & self.ctx.optimizers):
            return True
        handed = [*expr.args, *(k.value for k in expr.keywords)]
        own = any(opened(v, v.of(arg)) & scaler.objects for arg in handed)
        return not own and any(self.order.switches(callee) for callee in v.callees(expr))

    def _beside_record(self, base: ast.expr) -> bool:
        """Whether a record is kept by an attribute or a variable; not where a method of its own class asks it."""
        m = self.ctx.m
        return isinstance(base, ast.Attribute) or (
            isinstance(base, ast.Name) and base.id != m.self_name(m.function(base))
        )

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
            own = self._own_of_callers(scope, name) or own_otherwise(self.ctx, scaler, scope, name)
            if own is not None:
                return self._follow(scaler, node, own)
            self._parameter(scaler, scope, name)
            return scaler.name
        source = self._alias_of(scaler, scope, name)
        if source is not None:
            return self._follow(scaler, source, source)
        if self._hands_back(scaler, scope):  # what it is loaded with here has to be what the caller's goes on with
            if (near := self.at_hand(scaler, node)) is not None:
                return near
            self._parameter(scaler, scope, None)
            return scaler.name
        self._place(scaler, Place(scope=scope))
        return scaler.name

    def _hands_back(self, scaler: Scaler, scope: Scope) -> bool:
        """Whether a function initializes an optimizer and gives it to its callers, where the scaler lives already."""
        places = self._places.get(id(scaler), [])
        if not places or any(place.scope is scope for place in places) or not self._initializes(scope):
            return False
        v, inside = self.ctx.v, [n for n in self.ctx.m.own(scope, ast.Return) if n.value is not None]
        given = any(opened(v, v.of(n.value)) & scaler.objects for n in inside if n.value is not None)
        return given and scope.is_function and bool(v.calls[scope.node])

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
            value = self._item_of(scaler, value) or value
            if isinstance(value, ast.Name) and value.id == name and len(list(m.stores(name, scope))) > 1:
                continue  # `model, optimizer = amp.initialize(model, optimizer)`: the one it was
            if isinstance(value, ast.IfExp) and unwraps(value):
                value = value.orelse if opened(v, v.of(value.orelse)) & scaler.objects else value.body
            if value is None or not (opened(v, v.of(value)) & scaler.objects or record_with(v, scaler, v.of(value))):
                return None
            if isinstance(value, ast.Name) and self._taken_over(scaler, scope, name, value.id):
                return value
            if not isinstance(value, (ast.Attribute, ast.Subscript, ast.ListComp, ast.List, ast.Tuple)):
                return None
            sources.append(value)
        if not sources:
            return None
        root = self._root(sources[0])
        held_by_self = isinstance(root, ast.Attribute) and any(o.kind == "instance" for o in v.of(root.value))
        return sources[0] if held_by_self else None

    def _item_of(self, scaler: Scaler, record: ast.expr | None) -> ast.expr | None:
        """The optimizer among what a record is made of: ``Munch(net=self.net, optimizer=self.optimizer)``."""
        v = self.ctx.v
        items: list[ast.expr] = []
        match record:
            case ast.Dict(values=values):
                items = values
            case ast.Call(args=args, keywords=keywords):
                records = [o for o in v.of(record) if o.kind in ("dict", "call")]
                if any(v.field(o, name) & scaler.objects for o in records for name in v.attributes(o)):
                    items = [*args, *(k.value for k in keywords)]
        having = [(one, self._item_of(scaler, one)) for one in items]
        found = [inner or one for one, inner in having if inner or opened(v, v.of(one)) & scaler.objects]
        return found[0] if len(found) == 1 else None

    def _taken_over(self, scaler: Scaler, scope: Scope, name: str, other: str) -> bool:
        """Whether a variable is but another name for a local one that itself takes its optimizer from elsewhere
        (``opt = optimizer.optimizer if hasattr(optimizer, "optimizer") else optimizer``)."""
        m = self.ctx.m
        if other == name or m.binding_scope(other, scope) is not scope or not scope.is_function:
            return False
        if other in scope.params:
            return not m.stores(other, scope) and not self._initializes(scope)
        return len(list(m.stores(other, scope))) == 1 and self._alias_of(scaler, scope, other) is not None

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

    def always_handed(self, scaler: Scaler, node: ast.AST) -> bool:
        """The code at ``node`` asks the scaler without an optimizer, too: every call has to hand one on. Whether each
        does."""
        scope = self.ctx.m.function(node)
        parameter = self._parameters.get((scope.node, scaler.name))
        if parameter is None or parameter.after is None:
            return True
        asked = {n.id for test in self._tests_around(node) for n in walk(test) if isinstance(n, ast.Name)}
        return parameter.after in asked or self._hand_always(scaler, parameter, frozenset())

    def _tests_around(self, node: ast.AST) -> Iterator[ast.expr]:
        for outer in self.ctx.m.spine(node):
            if isinstance(outer, (ast.If, ast.While)):
                yield outer.test

    def _hand_always(self, scaler: Scaler, parameter: Parameter, seen: frozenset[ast.AST]) -> bool:
        """Hand the scaler on in every call of a function, of those that call it with their own parameter, and so on;
        whether all calls can: there is none where nothing trains (``valid(model)``)."""
        node = parameter.function.node
        lacking: list[ast.Call] = []
        for call in self._without.pop((node, scaler.name), []):
            before = self.snapshot()
            try:
                parameter.calls[call] = self._reach_without(scaler, call)
                self._uses.setdefault(id(scaler), []).append(call)
            except Manual:  # no scaler is there: the judge says whether one is asked for
                self.restore(before)
                lacking.append(call)
        if lacking:
            self._without[node, scaler.name] = lacking
        every = not lacking
        for call in list(parameter.calls):
            above = self._parameters.get((self.ctx.m.function(call).node, scaler.name))
            if above is not None and above.function.node not in seen:
                every &= self._hand_always(scaler, above, seen | {node})
        return every

    def at_hand(self, scaler: Scaler, node: ast.AST) -> str | None:
        """How the code at ``node`` reaches ``scaler`` with nothing more handed on; None where it does not."""
        m, v = self.ctx.m, self.ctx.v
        scope = m.function(node)
        at: Scope | None = scope
        while at is not None:
            for place in self._places.get(id(scaler), []):
                if place.scope is at:
                    return scaler.name
                own = m.self_name(at) or m.class_name(at)
                if place.owner is not None and m.class_of(at) is place.owner and own:
                    return f"{own}.{scaler.name}"
            for (function, _), _parameter in self._parameters.items():
                if function is at.node:
                    return scaler.name
            at = at.parent
        owners = [place.owner for place in self._places.get(id(scaler), []) if place.owner is not None]
        for place in self._places.get(id(scaler), []):
            if (by_name := named_owners.named(self.ctx, scaler, place, scope)) is not None:
                return f"{by_name}.{scaler.name}"
        further: list[str] = []
        for name in self._nearest_names(node, scope) if owners else ():
            for held in v.in_order(opened(v, v.variable(name, scope))):
                if any(keeps(v, scaler, owner, held) for owner in owners):
                    return f"{name}.{scaler.name}"
                further += behind(v, scaler, owners, name, held)
        return further[0] if further else None

    def _nearest_names(self, node: ast.AST, scope: Scope) -> list[str]:
        """The names of a function: first what ``node`` itself is read from, then what its statement calls, then
        all that have a value there."""
        m, root = self.ctx.m, node
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        first = [root.id] if isinstance(root, ast.Name) else []
        called = [n.func for n in walk(m.statement(node)) if isinstance(n, ast.Call)]
        near = [n.id for func in called for n in walk(func) if isinstance(n, ast.Name)]
        later = {n for n in scope.names if (stores := m.stores(n, scope)) and m.start(node) < min(map(m.start, stores))}
        every = ({*scope.names} - (later if scope.is_function else set())) | {*scope.params}
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
        if (closed := self._closed_over(scaler, scope)) is not None:
            return closed
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

    def _closed_over(self, scaler: Scaler, scope: Scope) -> str | None:
        """How a function inside of another one says the scaler that the other one has, or is handed: whoever calls the
        inner one (an engine that is handed it) need not know of it."""
        m = self.ctx.m
        if not scope.is_function or not m.function(scope.node).is_function:
            return None
        before = self.snapshot()
        try:
            text = self._reach_without(scaler, scope.node)
        except Manual:
            self.restore(before)
            return None
        if text.split(".")[0] in {*scope.params, *scope.names}:
            self.restore(before)
            return None
        return text

    def _hand_to_unmade(
        self, scaler: Scaler, scope: Scope, taker: Scope, kept: ast.stmt | None, after: str | None
    ) -> str:
        """Code that nothing in the program runs gets the scaler by one more parameter."""
        if not any(p.function is taker for p in self.homes.parameters):
            public = called_outside(self.ctx, taker)
            optional = after is not None and default_of(taker.node, after) is not None
            outside = Outside(required=not optional, told=True) if public else None
            self.homes.parameters.append(Parameter(taker, after, scaler.name, outside))
            cls = self.ctx.m.class_of(taker)
            name = cls.name if cls is not None and kept is not None else getattr(taker.node, "name", "")
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
        """``self.optimizer`` as a method of a function's class says it, or of a base that its objects have it from."""
        m, v = self.ctx.m, self.ctx.v
        cls, own = m.class_of(scope), m.self_name(scope)
        if cls is None or own is None:
            return None
        for node in m.all(ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id == own and v.of(node) & scaler.objects:
                there = m.function(node)
                base = m.class_of(there)
                derived = base in v.order(cls) and inherit(v, scaler, v.variable(own, scope), node.attr)
                if m.self_name(there) == own and (base is cls or derived):
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

    def _got(self, call: ast.Call) -> ast.expr | None:
        """What a function that is called for something of its file hands back: ``STATE["optimizer"]``."""
        m = self.ctx.m
        getters = self.ctx.v.callees(call)
        returns = [n.value for getter in getters for n in m.own(m.scope_of[getter], ast.Return)]
        match returns:
            case [ast.Subscript(value=ast.Name(id=name) as root) as given] if len(getters) == 1:
                home = m.binding_scope(name, m.scope(root))
                of_file = home is not None and home.parent is None
                return given if of_file and home is m.binding_scope(name, m.scope(call)) else None
            case _:
                return None

    def _root(self, expr: ast.expr) -> ast.expr:
        for _ in range(8):
            match expr:
                case ast.Subscript(value=value) | ast.Starred(value=value):
                    expr = value
                case ast.Attribute(value=value) if self._holds_items(value):
                    expr = value
                case ast.List(elts=[first, *_] as elts) | ast.Tuple(elts=[first, *_] as elts):
                    mine = self.unit.optimizer_objects
                    expr = next((e for e in elts if opened(self.ctx.v, self.ctx.v.of(e)) & mine), first)
                case ast.IfExp(body=one):
                    expr = one
                case ast.Call(func=ast.Name(), args=[], keywords=[]) if (given := self._got(expr)) is not None:
                    expr = given
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

    def _holds_items(self, expr: ast.expr) -> bool:
        """Whether an expression is a dictionary, whose attributes are items then."""
        held = self.ctx.v.of(expr)
        return bool(held) and all(o.kind == "dict" for o in held)

    def _loop_of(self, name: str, node: ast.AST) -> ast.expr | None:
        for outer in self.ctx.m.spine(node):
            if isinstance(outer, ast.For) and any(
                isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in walk(outer.target)
            ):
                return gone_through(outer.target, outer.iter, name)
        return None

    def _defining_class(self, owner: ast.ClassDef, attribute: ast.Attribute, made: bool = False) -> ast.ClassDef:
        """The class of the hierarchy in this file whose method assigns the optimizer's attribute; of what ``made`` it,
        one that only initializes it is that class where there is no other."""
        m = self.ctx.m
        name = self._kept_as(owner, attribute.attr)
        initializing = {m.statement(one.call) for one in self.unit.initializes}
        mixed_in: ast.ClassDef | None = None
        for node in m.attributes(name):
            if isinstance(node.ctx, ast.Store):
                scope = m.function(node)
                cls = m.class_of(scope)
                own = m.self_name(scope) or m.class_name(scope)
                if cls is not None and isinstance(node.value, ast.Name) and node.value.id == own:
                    held = {o.key for o in self.ctx.v.of(node.value)}
                    if owner in held and not (made and m.statement(node) in initializing):
                        return cls
                    if owner in held:
                        mixed_in = mixed_in or cls
        return mixed_in or owner

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
                made = self._create(scaler, place, len(places))
                self.homes.creations += made
                declared = named_owners.declaration(self.ctx, scaler, place)
                if declared is not None and all("." in one.text for one in made):
                    self.homes.kept.append((declared, f"{scaler.name} = None"))
                self._slots(scaler, place)
                if place.owner is not None:
                    self.homes.owners.append(place.owner)
                    self._tell_listed(scaler, place.owner)
                    self._tell_state(scaler, place.owner)
                    self._tell_setters(scaler, place.owner)
                if place.scope is not None:
                    self._tell_local(scaler, place.scope)
        self._tell_outside()
        return self.homes

    def _tell_local(self, scaler: Scaler, scope: Scope) -> None:
        """Who lists all variables of a function (``log(locals())``) finds the scaler among them."""
        for call in lists_names(self.ctx, scope, scaler.name):
            self.unit.review(call, "APX020", f"this lists `{scaler.name}`, too, from now on")

    def _tell_state(self, scaler: Scaler, owner: ast.ClassDef) -> None:
        """A copy, or what is unpickled, has what its class writes out as its state: no scaler."""
        m = self.ctx.m
        for one in switch.kin(self.ctx, owner):
            for name in ("__getstate__", "__reduce__", "__reduce_ex__"):
                if (method := m.method(one, name)) is not None and not _WHOLE_STATE.search(m.src(method)):
                    said = f"an object made of this state has no `{scaler.name}` (AttributeError): hand that on, too"
                    self.unit.review(method, "APX020", said)

    def _tell_setters(self, scaler: Scaler, owner: ast.ClassDef) -> None:
        """What a class does with whatever is set, it does with the scaler."""
        for one in switch.kin(self.ctx, owner):
            if (method := self.ctx.m.method(one, "__setattr__")) is not None:
                self.unit.review(method, "APX020", f"this runs for `{scaler.name}`, too, from now on")

    def _tell_listed(self, scaler: Scaler, owner: ast.ClassDef) -> None:
        """Who lists all attributes of an object finds the scaler among them."""
        m, v = self.ctx.m, self.ctx.v
        family = set(v.order(owner))
        calls = [call for name in ("vars", "dir", "getmembers") for call in m.calls(name)]
        nodes: list[ast.Attribute | ast.Call] = [*m.attributes("__dict__"), *calls]
        for node in m.in_order(nodes):
            above = m.parent[node]
            if isinstance(above, ast.Attribute) and above.attr in ("update", "setdefault"):
                continue  # sets some
            if isinstance(above, ast.Subscript) and above.value is node and isinstance(above.slice, ast.Constant):
                continue  # asks for one
            match node:
                case ast.Attribute(value=listed, ctx=ast.Load()) | ast.Call(func=ast.Name(), args=[listed]):
                    pass
                case ast.Call(func=func, args=[listed, *_]) if last_name(func) == "getmembers":
                    pass
                case _:
                    continue
            own = isinstance(listed, ast.Name) and listed.id == m.self_name(m.function(node))
            here = own and m.class_of(m.function(node)) in family
            if here or any(o.kind == "instance" and owner in v.order(o.key) for o in v.of(listed)):  # type: ignore[arg-type]
                said = f"this lists {m.src(listed)}.{scaler.name}, too, from now on"
                self.unit.review(node, "APX020", said)
