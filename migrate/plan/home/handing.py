"""How functions and constructors that take the optimizer are handed the scaler: one more parameter, and its calls."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence

from ...facts.networks import comes_from_elsewhere, name_elsewhere
from ...facts.scopes import Scope
from ...facts.sites import opened
from ...nodes import constructs, required, walk
from ...units.order import Order
from ...units.references import escape
from ...units.translate import paired, passed, receiver, unpacked
from ...units.unit import Context, Manual, Unit
from ..called_by_python import called_by_python
from ..inserted import has_default, is_vararg
from ..schedule import Scaler
from . import switch
from .closed import why_closed
from .decorators import hands_on
from .foreign_decorators import handed_on
from .guards import any_said_there
from .making import Making
from .others_called import may_run_another
from .outside import called_outside, without
from .places import Parameter, Place
from .signatures import asked_for


def _in_a_row(ctx: Context, scaler: Scaler, call: ast.Call, scope: Scope, name: str) -> ast.expr | None:
    """What a call hands a parameter by ``*`` or ``**``: as it is written out above, or all that the star stands for."""
    if passed(ctx, call, scope, name) is not None:
        return None
    if (written := unpacked(ctx, call, scope, name)) is not None:
        return written
    given = [arg.value if isinstance(arg, ast.Starred) else arg for arg in call.args]
    mine = scaler.objects & ctx.optimizers
    having = [one for one in given if opened(ctx.v, ctx.v.of(one)) & mine]
    alone = len(having) == 1 and having[0] not in call.args
    known = alone and all(opened(ctx.v, frozenset({row})) & mine for row in ctx.v.of(having[0]))
    return having[0] if known else None


def _only_called(ctx: Context, made: ast.Lambda, calls: Sequence[ast.Call]) -> bool:
    """Whether a lambda has one name, which is given nothing else and is only read where it is called."""
    m, above = ctx.m, ctx.m.parent[made]
    if not isinstance(above, ast.Assign) or above.value is not made:
        return False
    if len(above.targets) != 1 or not isinstance(name := above.targets[0], ast.Name):
        return False
    owner = m.binding_scope(name.id, m.scope(name))
    called = {call.func for call in calls}
    here = owner is not None and owner.is_function and m.stores(name.id, owner) == [name]
    return here and all(read in called for read in m.loads(name.id, owner))


class Handing(Making, ABC):
    """Parameters for a unit's scalers, by which functions and objects reach them."""

    def __init__(self, ctx: Context, unit: Unit, scalers: Sequence[Scaler], order: Order) -> None:
        super().__init__(ctx, unit, scalers, order)
        self._parameters: dict[tuple[ast.AST, str], Parameter] = {}
        self._without: dict[tuple[ast.AST, str], list[ast.Call]] = {}  # calls that hand on no optimizer

    @abstractmethod
    def _follow(self, scaler: Scaler, node: ast.AST, optimizer: ast.expr) -> str:
        """The expression by which the code at ``node`` reaches the scaler of what it hands on as an optimizer."""

    @abstractmethod
    def _reach_without(self, scaler: Scaler, node: ast.AST) -> str:
        """The expression by which code reaches the scaler that has no optimizer at hand."""

    # ------------------------------------------------------------ parameters

    def _parameter(self, scaler: Scaler, scope: Scope, after: str | None) -> None:
        key = (scope.node, scaler.name)
        if key in self._parameters:
            return
        ctx = self.ctx
        node = scope.node
        if isinstance(node, ast.Lambda) and after is not None:
            self._by_lambda(scaler, scope, after, node)
            return
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            raise Manual(node, "the optimizer comes in through a lambda")
        calls = ctx.v.calls[node]
        if (unseen := called_by_python(ctx, node)) is not None:
            raise Manual(
                unseen,
                f"{node.name}() is called by Python, or by a library, which hand it no scaler",
                "keep the GradScaler as an attribute of the object",
            )
        if all(ctx.m.inside(call, node) for call in calls):  # itself is nobody
            raise Manual(
                node,
                f"{node.name}() gets its optimizer from callers outside this file, so the scaler has to come from "
                "there too",
                f"create torch.amp.GradScaler beside the optimizer and hand it to {node.name}() as one more argument",
            )
        if any(step.call in calls and not step.own for step in self.unit.steps):
            raise Manual(node, f"{node.name}() is what scaler.step() calls, without the scaler that it needs itself")
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
        ahead = scope.params.index(after) + 1 if after in required(node) else int(owner is not None)
        others = [d for d in node.decorator_list if not hands_on(ctx, d, ahead)]
        if of_class or any(not handed_on(ctx, self.unit, scope, d) for d in others):
            raise Manual(node, f"{node.name}() is handed to a decorator, which may call it with other arguments")
        self._check_plain_references(node)
        alone = all(len(ctx.v.callees(call)) == 1 for call in calls)
        if after is not None and alone and any(_in_a_row(ctx, scaler, call, scope, after) for call in calls):
            if any(passed(ctx, call, scope, after) is None for call in calls) and not is_vararg(node, after):
                self._by_name(scaler, scope, after, calls)
                return
        if after is not None and alone and node.args.kwarg is not None and node.args.kwarg.arg == after:
            self._by_name(scaler, scope, after, calls)
            return
        filled = {call: part for call in calls if (part := self._filled_by(call, scope, after)) is not None}
        if after is not None and filled and alone:
            self._in_partials(scaler, scope, after, calls, filled)
            return
        parameter = self._new(scaler, scope, self._last_optimizer(scope, after) if alone else after)
        self._parameters[key] = parameter
        self.homes.parameters.append(parameter)
        for call in calls:
            if call in filled:
                raise Manual(
                    call,
                    f"{node.name}() is called through functools.partial, which has filled its first parameters",
                    "bind the scaler in the partial, too, in front of what it is called with",
                )
            if may_run_another(ctx.v, call):
                raise Manual(
                    call, f"this call runs {node.name}() or code that is not known, which would not take the scaler"
                )
            for other in ctx.v.callees(call):
                if other is not node:
                    self._beside(scaler, scope, ctx.m.scope_of[other], after, call)
            if after is None:
                self._uses[id(scaler)].append(call)
                parameter.calls[call] = self._reach_without(scaler, call)
                continue
            if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
                if passed(ctx, call, scope, after) is None:
                    raise Manual(call, f"the optimizer reaches {node.name}() through *args or **kwargs")
            argument = self._handed(scaler, call, scope, after)
            if argument is None and not has_default(node, after):
                raise Manual(call, f"which optimizer this call hands to {node.name}() is not known")
            if argument is None or (isinstance(argument, ast.Constant) and argument.value is None):
                if argument is not None:
                    parameter.calls[call] = "None"
                self._without.setdefault(key, []).append(call)
                continue  # else the default is taken: no optimizer, no scaler
            if self._beside_another_unit(call, argument):
                parameter.calls[call] = scaler.name  # that unit's own scaler, made in that function
                continue
            self._uses[id(scaler)].append(call)
            parameter.calls[call] = self._follow(scaler, call, argument)

    def _new(self, scaler: Scaler, scope: Scope, behind: str | None, after: str | None = None) -> Parameter:
        """A parameter for the scaler, which callers that are not in the tree do not fill."""
        if not called_outside(self.ctx, scope):
            return Parameter(scope, behind, scaler.name)
        try:
            cases = self._conditions([i for i in self.unit.initializes if i.optimizers])
        except Manual:
            cases = None
        return Parameter(scope, behind, scaler.name, without(self.ctx, scope, behind or after, cases))

    def _tell_outside(self) -> None:
        """What callers that are not in the tree have to know, and who asks for the parameters of a function."""
        for call, parameter in asked_for(self.ctx, self.homes.parameters):
            named = getattr(parameter.function.node, "name", "")
            said = f"this lists `{parameter.name}`, which {named}() is handed, too, from now on"
            self.unit.review(call, "APX020", said)
        for parameter in self.homes.parameters:
            node, outside, name = parameter.function.node, parameter.outside, parameter.name
            cls = self.ctx.m.class_of(parameter.function)
            called = cls.name if cls is not None and constructs(node) else getattr(node, "name", "")
            if outside is None or outside.told:
                continue
            if outside.required:
                said = f"{called}() has to be handed the GradScaler by callers outside of this tree, too ({name}=…)"
                self.unit.review(node, "APX022", said)
            elif not outside.asked:
                said = (
                    f"callers of {called}() outside of this tree that hand it no {name} get one that is switched off; "
                    "Apex's casts and its scale held in the whole process, once it was initialized"
                )
                self.unit.review(node, "APX022", said)

    def _by_lambda(self, scaler: Scaler, scope: Scope, after: str, node: ast.Lambda) -> None:
        """``backwards = lambda loss, opt: loss_backwards(fp16, loss, opt)``, where its name is only ever called."""
        ctx = self.ctx
        calls = ctx.v.calls[node]
        only = all(ctx.v.callees(call) == [node] for call in calls) and after in required(node)
        if not (calls and only and _only_called(ctx, node, calls)):
            raise Manual(node, "the optimizer comes in through a lambda")
        parameter = Parameter(scope, self._last_optimizer(scope, after), scaler.name)
        self._parameters[node, scaler.name] = parameter
        self.homes.parameters.append(parameter)
        for call in calls:
            argument = passed(ctx, call, scope, after)
            if argument is None:
                raise Manual(call, "which optimizer this call hands to a lambda is not known")
            self._uses[id(scaler)].append(call)
            parameter.calls[call] = self._follow(scaler, call, argument)

    def _beside_another_unit(self, call: ast.Call, argument: ast.expr) -> bool:
        """Whether a call hands on the optimizer of another unit alone, which its own function initializes."""
        m, v = self.ctx.m, self.ctx.v
        held = opened(v, v.of(argument)) & self.ctx.optimizers
        others = [i for i in self.ctx.facts.initializes if i.optimizer_objects & held]
        return (
            isinstance(argument, ast.Name)
            and held.isdisjoint(self.unit.optimizer_objects)
            and any(m.function(i.call) is m.function(call) for i in others)
        )

    def _by_name(self, scaler: Scaler, scope: Scope, after: str, calls: Sequence[ast.Call]) -> None:
        """A function that some calls hand the optimizer in a row of arguments: it takes the scaler as its last
        parameter, by its name."""
        name = getattr(scope.node, "name", "")
        parameter = self._new(scaler, scope, None, after)
        self._parameters[scope.node, scaler.name] = parameter
        self.homes.parameters.append(parameter)
        for call in calls:
            row = _in_a_row(self.ctx, scaler, call, scope, after)
            argument = row or passed(self.ctx, call, scope, after) or self._among_keywords(scaler, call, scope, after)
            if argument is None:
                raise Manual(call, f"the optimizer reaches {name}() through *args or **kwargs")
            self._uses[id(scaler)].append(call)
            parameter.calls[call] = self._follow(scaler, call, argument)

    def _among_keywords(self, scaler: Scaler, call: ast.Call, scope: Scope, after: str) -> ast.expr | None:
        """What a call hands by a name of its own to a parameter that takes any: ``State(optimizer=optimizer)``."""
        v, node = self.ctx.v, scope.node
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if node.args.kwarg is None or node.args.kwarg.arg != after or any(k.arg is None for k in call.keywords):
            return None
        own = {p.arg for p in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
        held = [k.value for k in call.keywords if k.arg not in own and opened(v, v.of(k.value)) & scaler.objects]
        return held[0] if len(held) == 1 else None

    def _filled_by(self, call: ast.Call, scope: Scope, after: str | None) -> ast.Call | None:
        """The ``functools.partial(...)`` that a call goes through and that hands on the optimizer."""
        partials = [o.key for o in self.ctx.v.of(call.func) if o.kind == "partial" and isinstance(o.key, ast.Call)]
        own = receiver(self.ctx, call, scope)
        for part in partials if after is not None else ():
            inner = [o.key for o in self.ctx.v.of(part.args[0]) if o.kind == "partial" and isinstance(o.key, ast.Call)]
            ahead = own + sum(len(one.args) - 1 for one in (part, *inner))
            if scope.params.index(after) < ahead or any(k.arg == after for one in (part, *inner) for k in one.keywords):
                return part
        return None

    def _in_partials(
        self, scaler: Scaler, scope: Scope, after: str, calls: Sequence[ast.Call], filled: dict[ast.Call, ast.Call]
    ) -> None:
        """A function whose optimizer a partial fills: the partial fills the scaler as well, by its name, and other
        calls hand it on so."""
        name, v = getattr(scope.node, "name", ""), self.ctx.v
        several = any(len([o for o in v.of(call.func) if o.kind == "partial"]) > 1 for call in calls)
        parameter = self._new(scaler, scope, None, after)
        self._parameters[scope.node, scaler.name] = parameter
        self.homes.parameters.append(parameter)
        for call in calls:
            made = filled.get(call, call)
            argument = passed(self.ctx, call, scope, after)
            starred = any(isinstance(a, ast.Starred) for a in made.args) or any(k.arg is None for k in made.keywords)
            bound = self.ctx.m.self_name(scope) is not None
            nested = made is not call and any(o.kind == "partial" for o in v.of(made.args[0]))
            if argument is None or several or starred or bound or nested:
                raise Manual(
                    call,
                    f"{name}() is called through functools.partial, which has filled its first parameters",
                    "bind the scaler in the partial, too",
                )
            if made not in parameter.calls:
                self._uses[id(scaler)].append(made)
                parameter.calls[made] = self._follow(scaler, made, argument)

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
        assert isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        asked = required(scope.node)
        if after not in asked:
            return after
        for name in asked[asked.index(after) + 1 :]:
            if not self.ctx.v.variable(name, scope) & self.ctx.optimizers:
                break
            after = name
        return after

    def _handed(self, scaler: Scaler, call: ast.Call, scope: Scope, after: str) -> ast.expr | None:
        """What a call hands to a parameter: the object in front of the dot to ``self``, to ``*optimizers`` each."""
        m, v, node = self.ctx.m, self.ctx.v, scope.node
        if after == m.self_name(scope) and isinstance(call.func, ast.Attribute) and receiver(self.ctx, call, scope):
            return call.func.value if not isinstance(call.func.value, ast.Call) else None
        if not is_vararg(node, after) or any(isinstance(a, ast.Starred) for a in call.args):
            return passed(self.ctx, call, scope, after)
        return next((a for a in call.args if opened(v, v.of(a)) & scaler.objects), None)

    def _beside(self, scaler: Scaler, scope: Scope, other: Scope, after: str | None, call: ast.Call) -> None:
        """Another function that the same call may run has to take the scaler at the same place."""
        if other.params != scope.params if after is None else after not in other.params:
            raise Manual(call, "this call may run functions with different parameters; the scaler fits only one")
        self._parameter(scaler, other, after)

    def _check_plain_references(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A function that is handed around as a value may be called from anywhere."""
        use = escape(self.ctx, node)
        if use is not None:
            raise Manual(use, f"{node.name} is handed on as a value; who calls it with which arguments is not known")

    def _holders(self, scaler: Scaler, scope: Scope) -> list[str]:
        """The parameters of a function that hold an optimizer of the scaler."""
        v = self.ctx.v
        return [p for p in scope.params if opened(v, v.variable(p, scope)) & scaler.objects]

    # ------------------------------------------------------------ objects that wrap an optimizer

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
        if node is None or not training or any(self._in_place(scaler, i, place) for i in training):
            return None
        init = m.scope_of[node]
        if rivals == 1 and not self._made_again(node):
            cases = self._conditions(training)
            if cases is None or not isinstance(any_said_there(self.ctx, cases, init), str):
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

    def _slots(self, scaler: Scaler, place: Place) -> None:
        """Where the class of an object that is to keep the scaler only takes the attributes that it declares."""
        if place.owner is None:
            return
        reason = why_closed(self.ctx, place.owner)
        if reason is not None:
            raise Manual(
                place.owner,
                f"an object of {place.owner.name} cannot keep a GradScaler: {reason}",
                f"declare an attribute {scaler.name} in {place.owner.name}",
            )
        slots = switch.slots(self.ctx, place.owner)
        if slots is not None:
            self.homes.slots.append((slots, scaler.name))
