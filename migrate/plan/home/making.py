"""Which statement makes a unit's GradScaler, and under which condition it scales."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import pairwise

from ...facts.scopes import Scope
from ...facts.sites import Initialize, opened
from ...nodes import constructs, walk
from ...units.conditions import Term, conjunction, reads
from ...units.options import written_number
from ...units.order import Order
from ...units.translate import translate
from ...units.unit import Context, Manual, Unit
from ..regions.has import check_has
from ..schedule import Scaler
from . import named_owners, switch
from .ahead import changes, sets
from .cases import either, without_opposites
from .guards import any_said_there, around, early_exits, guard_cases, guards, is_main, said_by
from .keepers import record_with, set_by_names
from .not_yet import ahead_of, says_not_yet
from .places import Creation, Homes, Place
from .preparing import outside
from .scales import chosen


class Making:
    """The homes that were found for one unit's scalers, and the statements that make the scalers there."""

    def __init__(self, ctx: Context, unit: Unit, scalers: Sequence[Scaler], order: Order) -> None:
        self.ctx, self.unit, self.scalers, self.order = ctx, unit, scalers, order
        self.homes = Homes()
        self._places: dict[int, list[Place]] = {}
        self._uses: dict[int, list[ast.AST]] = {}

    def late(self) -> bool:
        """Whether a scaler that was asked for so far may be needed before mixed precision is switched on."""
        return any(self._late(s, place) for s in self.scalers for place in self._places.get(id(s), []))

    def _late(self, scaler: Scaler, place: Place) -> bool:
        handed = self._kept_elsewhere(scaler)
        uses = [use for use in self._uses.get(id(scaler), []) if use not in handed]
        return self.unit.ahead or self._hooked() or switch.late(self.ctx, self.unit, self.order, scaler, place, uses)

    def _kept_elsewhere(self, scaler: Scaler) -> set[ast.AST]:
        """Calls that hand the scaler to the constructor of what keeps it (``Lookahead(base)``): it has to be the one
        that trains, though it may be needed long behind that."""
        keeping = {self.ctx.m.function(stmt) for stmt, _ in self.homes.kept}
        handed = (p for p in self.homes.parameters if p.name == scaler.name and p.function in keeping)
        return {call for parameter in handed for call in parameter.calls}

    def _hooked(self) -> bool:
        """Whether what initializes is a hook that is found by its name (``getattr(hook, name)()``): which of them run,
        nobody knows ahead of it."""
        m = self.ctx.m
        for init in self.unit.initializes:
            for call in self.ctx.v.calls.get(m.function(init.call).node, ()) if init.optimizers else ():
                if isinstance(call.func, ast.Call) and getattr(call.func.func, "id", "") == "getattr":
                    return True
        return False

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

    # ------------------------------------------------------------ one for each stage

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
        static = options.scale is None or (options.static_when is not None and options.static_when.value is True)
        if not static or not all(map(written_number, (options.scale, options.init_scale))):
            return None
        own = [*early_exits(ctx, init), *around(ctx, init, init.call, None), *options.enabled]
        said = [said_by(ctx, call, scope, expr, term) for expr, term in own]
        outside = [term for _, term in around(ctx, init, call, anchor)]
        return None if any(term is None for term in said) else [*outside, *(term for term in said if term is not None)]

    # ------------------------------------------------------------ beside initialize

    def _create_once(self, scaler: Scaler, place: Place, rivals: int) -> list[Creation]:
        ctx, m = self.ctx, self.ctx.m
        training = [i for i in self.unit.initializes if i.optimizers]
        inits = [i for i in training if self._in_place(scaler, i, place)]
        if not inits or (place.owner is not None and self._called_under_condition(inits[0])):
            if rivals > 1 and not self._begun_for_each(scaler):
                raise Manual(
                    self.unit.line_node,
                    "several variables or attributes hold an optimizer that is trained here, and Apex is not "
                    "initialized beside each of them (it is elsewhere, or in no run of a script that shares this "
                    "loop); one scaler has to serve all",
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
        made = outside(ctx, self._dominator(stmts[0], [*stmts[1:], *near]), inits[0].call)
        anchor = self._above_conditions(made) if place.owner is not None else made
        ahead_of_all = anchor is not made
        enabled = either([[t for _, t in guards(ctx, self.unit, i, anchor)] for i in inits])
        self._check_defined(anchor, enabled, inits)
        changed = changes(ctx, anchor, max(m.start(i.call) for i in inits), enabled) if ahead_of_all else None
        if changed is not None:
            raise Manual(changed, f"this may change what `{enabled.text}` reads, and the scaler is made ahead of it")
        text = self._text(scaler, place, scope)
        declared = None
        if place.scope is not None and place.scope is not scope and "." not in text:
            declared = self._global_statement(scope, inits[0])
        held = [n for n in self._uses.get(id(scaler), []) if m.inside(n, anchor) and m.statement(n) is not anchor]
        first = self._first_kept(scaler, anchor, enabled, inits)
        if first is not None:
            (anchor, enabled), ahead_of_all = first, True
        own = inits[0] if len(inits) == 1 < len(training) else None  # what the others say is not known here
        return [Creation(scaler, anchor, text, enabled, declared, before=ahead_of_all or bool(held), init=own)]

    def _first_kept(
        self, scaler: Scaler, anchor: ast.stmt, enabled: Term, inits: list[Initialize]
    ) -> tuple[ast.stmt, Term] | None:
        """The statement above an anchor that hands the scaler to what keeps it: it has to be made ahead of that, if
        what its arguments read is the same there; and what says there that it scales."""
        m, block = self.ctx.m, self.ctx.m.block(anchor)
        tops = (s for call in self._kept_elsewhere(scaler) for s in m.spine(call) if m.block(s) is block)
        above = [s for s in tops if m.start(s) < m.start(anchor)]
        if not above:
            return None
        first = min(above, key=m.start)
        options = [self.unit.options_of(init) for init in inits]
        static = [o.static_when for o in options if o.static_when is not None]
        static += [Term(o.scale) for o in options if o.scale]
        for stmt in reversed(block.body[m.place[first][1] : m.place[anchor][1]]):
            if (earlier := _worked_out(stmt, enabled)) is not None and not static:
                enabled = self.ctx.conditions.term(earlier)
                continue
            read = [enabled, *static]
            names = {name for term in read for name in reads(term.text)}
            stored = any(m.src(n) in names for n in walk(stmt) if isinstance(getattr(n, "ctx", None), ast.Store))
            changed = next((c for term in read if (c := changes(self.ctx, stmt, m.end(stmt), term))), None)
            if stored or changed is not None:
                raise Manual(stmt, f"this may change what `{enabled.text}` reads, and the scaler is made ahead of it")
        return first, enabled

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
            isinstance(s, ast.If) and not is_main(s.test)
            for call in self.ctx.v.calls[scope.node]
            if m.class_of(m.function(call)) is m.class_of(scope)
            for s in m.spine(call)
        )

    def _text(self, scaler: Scaler, place: Place, scope: Scope) -> str:
        """How a function in which the scaler is made names it."""
        by_name = named_owners.said(self.ctx, scaler, place, scope)
        if place.owner is None:
            return f"{by_name}.{scaler.name}" if by_name is not None else scaler.name
        given = [one for one in named_owners.objects(self.ctx, place) if self.ctx.m.function(one) is scope]
        by_name = by_name or (self.ctx.m.src(given[0]) if given else None)
        own = self.ctx.m.self_name(scope) if self.ctx.m.class_of(scope) is place.owner else None
        return f"{own or by_name or self.ctx.m.self_name(scope) or 'self'}.{scaler.name}"

    def _in_place(self, scaler: Scaler, init: Initialize, place: Place) -> bool:
        m = self.ctx.m
        scope = m.function(init.call)
        if named_owners.said(self.ctx, scaler, place, scope) is not None:
            return True
        if place.scope is not None:
            if scope is place.scope:
                return True
            around, above = scope.parent, set[Scope]()
            while around is not None:
                above.add(around)
                around = around.parent
            by_statement = bool(m.own(scope, ast.Global))  # with `nonlocal` it is made where the names live
            return by_statement and place.scope in above and bool(scope.outer & place.scope.names)
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

    # ------------------------------------------------------------ apart from initialize

    def _create_apart(self, scaler: Scaler, place: Place) -> list[Creation]:
        """The optimizer is initialized in one function and lives in another."""
        training = [i for i in self.unit.initializes if i.optimizers]
        cases = self._conditions(training)
        if cases is None and (each := self._create_each(scaler, place, least=1)):
            return each
        if cases is None:
            raise Manual(self.unit.line_node, "several initialize calls outside the function that holds the optimizer")
        init = training[0]
        anchor, scope = self._holder(scaler, place)
        cases = [[one for one in case if not ahead_of(self.ctx, one[0], init, scope)] for case in cases]
        for test in (test for case in cases for test, _ in case if says_not_yet(self.ctx, test, init)):
            if self.ctx.m.end(test) < self.ctx.m.start(anchor):
                raise Manual(
                    init.call,
                    f"`{self.ctx.m.src(test)}` says whether Apex was initialized yet: behind that a scaler would be "
                    "switched off, and another one at each call",
                    "make the scaler there, too, and keep it beside the optimizer",
                )
        enabled = any_said_there(self.ctx, cases, scope)
        if isinstance(enabled, str) and (each := self._create_each(scaler, place, least=1)):
            return each
        if isinstance(enabled, str):
            raise Manual(
                init.call,
                f"the scaler belongs beside the optimizer (line {anchor.lineno}), where the condition `{enabled}` "
                "cannot be said",
                f"create torch.amp.GradScaler with enabled={enabled} and hand it on beside the optimizer",
            )
        check_has(self.ctx, anchor, enabled.text)
        text = self._text(scaler, place, scope)
        renamed = self._scale_there(init, anchor, scope)
        anchor = self._behind(init, [enabled.text, *renamed.values()], anchor, scope)
        self._check_lasting(place, anchor)
        uses = [self.ctx.m.statement(n) for n in self._uses.get(id(scaler), [])]
        before = any(self.ctx.m.inside(u, anchor) for u in uses)
        return [Creation(scaler, anchor, text, enabled, before=before, renamed=renamed)]

    def _begun_for_each(self, scaler: Scaler) -> bool:
        """Whether each of several functions that train, or that make trainers, initializes its optimizer, or calls a
        function that does: Apex began with a new loss scale at each call, as does a scaler that is made beside it."""
        m = self.ctx.m
        places = self._places.get(id(scaler), [])
        homes = [self._home_of(place) for place in places]
        begins = {m.function(i.call) for i in self.unit.initializes if i.optimizers}
        own = begins.intersection(homes) if len(begins) > 1 else set[Scope]()
        if not all(scope.is_function for scope in begins) or begins <= own:
            return False
        calls = [call for scope in begins - own for call in self.ctx.v.calls[scope.node]]
        callers = {m.function(call) for call in calls if not m.idle(call)}
        return all(scope in callers | own and scope not in begins - own for scope in homes)

    def _home_of(self, place: Place) -> Scope | None:
        """The function in which a scaler has its home: of one that objects keep, their constructor."""
        made = switch.constructor(place.owner) if place.owner is not None else None
        return place.scope if made is None else self.ctx.m.scope_of[made]

    def _conditions(self, training: Sequence[Initialize]) -> list[list[tuple[ast.expr, Term]]] | None:
        """The conditions under which one of these calls runs, for each way that leads to it; None where several say
        more than one together."""
        if len(training) == 1:
            return guard_cases(self.ctx, self.unit, training[0], None)
        options = [self.unit.options_of(init) for init in training]
        apart = len({self.ctx.m.function(init.call) for init in training}) != 1
        if apart or any(o.init_scale for o in options):
            return None
        each = [guards(self.ctx, self.unit, init, None) for init in training]
        cases = without_opposites([[term for _, term in one] for one in each])
        left = {term.text for term in cases[0]}
        return [[pair for pair in each[0] if pair[1].text in left]] if len(cases) == 1 else None

    def _behind(self, init: Initialize, texts: list[str], anchor: ast.stmt, scope: Scope) -> ast.stmt:
        """The call that initializes, where the function that it calls sets what the condition reads, or the object
        that is asked is made between the optimizer and that call (an engine that initializes what it is handed)."""
        m = self.ctx.m
        names = {name for text in texts for name in reads(text)}
        set_there = sets(self.ctx, m.function(init.call), texts)
        if not set_there and not any(self._begun_below(name.partition(".")[0], anchor, scope) for name in names):
            return anchor
        blocks = [m.block(s) for s in m.spine(anchor)]
        for call in self.order.calls(scope.node):
            for stmt in m.spine(call):
                if any(m.block(stmt) is b for b in blocks) and m.start(stmt) > m.start(anchor):
                    return stmt
        return anchor

    def _begun_below(self, name: str, anchor: ast.stmt, scope: Scope) -> bool:
        """Whether a local name gets its first value below a statement."""
        stored = self.ctx.m.bindings(name, scope) if scope.is_function and name not in scope.params else []
        return bool(stored) and min(map(self.ctx.m.start, stored)) >= self.ctx.m.end(anchor)

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

    def _scale_there(self, init: Initialize, anchor: ast.stmt, scope: Scope) -> dict[str, str]:
        """The texts of a static loss scale as the optimizer's function says them."""
        if len({(o.scale, o.static_when) for o in map(self.unit.options_of, self.unit.initializes)}) > 1:
            here, there = (chosen(self.ctx, self.unit, anchor, where) for where in (None, scope))
            texts = [(o.scale, o.static_when.text) for o in (here, there) if o.scale and o.static_when]
            return dict(zip(*texts, strict=True)) if texts else {}
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
            if isinstance(node, ast.Attribute):
                mine = place.owner is not None and m.class_of(scope) is place.owner
                if mine or named_owners.said(self.ctx, scaler, place, scope):
                    found.append(m.statement(node))
        found = found or self._records(scaler, place)
        found = found or set_by_names(self.ctx, place)
        found = found or [m.statement(one) for one in named_owners.objects(self.ctx, place)]
        found = found or self._of_outer_names(scaler, place)
        if not found:  # it is handed on as it is made, and has no name here
            calls = [c for c in self.order.calls(place.scope.node) if isinstance(c, ast.Call)] if place.scope else []
            found = [m.statement(c) for c in calls if opened(self.ctx.v, self.ctx.v.of(c)) & scaler.objects]
        own = {m.function(i.call) for i in self.unit.initializes}
        found = [s for s in found if m.function(s) not in own] or found
        constructors = [s for s in found if constructs(m.function(s).node)]
        found = constructors or found
        scopes = {m.function(s) for s in found}
        if not found or len(scopes) != 1:
            raise Manual(self.unit.line_node, "where the optimizer is kept is not known")
        uses = [m.statement(n) for n in self._uses.get(id(scaler), []) if m.function(n) in scopes]
        return self._dominator(found[0], [*found[1:], *uses]), scopes.pop()

    def _of_outer_names(self, scaler: Scaler, place: Place) -> list[ast.stmt]:
        """The statements that first give a name of a function a value to which an inner function gives the optimizer:
        ``model = optimizer = None``, and ``nonlocal model, optimizer`` further in."""
        m = self.ctx.m
        if place.scope is None:
            return []
        given = (n for n in self.ctx.given(scaler.objects) if isinstance(n, ast.Name))
        names = {n.id for n in given if n.id in m.function(n).outer and m.function(n) is not place.scope}
        stores = [n for name in sorted(names) for n in m.bindings(name, place.scope) if isinstance(n, ast.Name)]
        return [m.statement(n) for n in stores if m.function(n) is place.scope]

    def _records(self, scaler: Scaler, place: Place) -> list[ast.stmt]:
        """The statements that give a variable, or an attribute of the class, a record with the optimizer:
        ``state = build(args)``, ``self.state = state``."""
        m, v = self.ctx.m, self.ctx.v
        stored: list[ast.Name | ast.Attribute]
        if place.scope is not None:
            stored = [n for name in sorted(place.scope.names) for n in m.stores(name, place.scope)]
        else:
            attributes = (n for n in m.all(ast.Attribute) if isinstance(n.ctx, ast.Store))
            stored = [n for n in attributes if m.class_of(m.function(n)) is place.owner]
        return [m.statement(n) for n in m.in_order(stored) if record_with(v, scaler, v.of(n))]


def _worked_out(stmt: ast.stmt, condition: Term) -> ast.expr | None:
    """What a condition is given by a statement that calls nothing: ``fp16 = level != "O0"``, ``self.fp16 = fp16``."""
    match stmt:
        case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value):
            plain = not any(isinstance(n, (ast.Call, ast.Subscript, ast.NamedExpr)) for n in walk(value))
            return value if plain and ast.unparse(target) == condition.text else None
        case _:
            return None
