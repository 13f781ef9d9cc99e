"""What calls give back in the precision analysis: functions of the program are run, torch's are looked up."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from ..facts.names import called_name, last_name
from ..facts.networks import gives_several
from ..facts.scopes import FunctionNode
from ..flow.objects import NAMESPACES, tuple_fields
from ..flow.values import Values
from ..knowledge import operations
from ..knowledge.models import FORWARDING
from ..knowledge.results import loss
from ..nodes import positional_parameters
from .apart import GIVEN, ApartRun, apart_runs, starts_trainings, training_functions
from .contents import arithmetic, converted, facts_of, gives_its_type, item_of, nested, with_item
from .doubles import made_double
from .frames import MAX_DEPTH, Env, Frame, key_of
from .halves import (
    ARRAY,
    DOUBLE,
    FLOAT,
    HALF,
    MAYBE,
    NOTHING,
    OTHER,
    Value,
    collated,
    join,
    joined,
    many,
    of,
    proved,
    record,
)
from .registered import handed_float
from .seen import Seen, specials
from .translate import partial_of, passed, receiver

_Known = Mapping[ast.expr, Value]  # what the arguments of a call hold, and the object it is a method of
_EMPTY = frozenset("list dict set deque OrderedDict".split())  # what they make holds nothing yet


class Called(Seen, ABC):
    """Follows calls: into the program's functions, into its models, and into what torch and Python hand back."""

    @abstractmethod
    def _expr(self, frame: Frame, node: ast.expr, env: Env) -> Value:
        """What an expression may hold."""

    @abstractmethod
    def _statement(self, frame: Frame, stmt: ast.stmt, env: Env) -> Env | None:
        """The names behind a statement; None where it is not left by its end."""

    @abstractmethod
    def _block(self, frame: Frame, body: Sequence[ast.stmt], env: Env | None) -> Env | None:
        """The names behind statements; None where none of them is left by its end."""

    def _call(self, frame: Frame, node: ast.Call, env: Env) -> Value:
        func = node.func
        owner = self._expr(frame, func.value, env) if isinstance(func, ast.Attribute) else NOTHING
        if not isinstance(func, (ast.Attribute, ast.Name)):
            self._expr(frame, func, env)
        args = [self._expr(frame, a, env) for a in node.args]
        named = [self._expr(frame, k.value, env) for k in node.keywords]
        given = [*args, *named]
        known = dict(zip([*node.args, *(k.value for k in node.keywords)], given, strict=True))
        if isinstance(func, ast.Attribute):
            known[func.value] = owner
        name = self._label(func) or last_name(func)
        if name in _EMPTY and not args and isinstance(func, (ast.Name, ast.Attribute)) and not owner.flat & {HALF}:
            if not any(k.arg != "maxlen" for k in node.keywords):
                return NOTHING
        if name == "defaultdict" and len(args) == 1:
            return NOTHING
        tensor = name == "add" and HALF in owner.flat
        own = isinstance(func, ast.Attribute) and bool(self.ctx.v.callees(node))  # a method of the program
        if name in operations.OWNER_WRITES and not own:
            self._hands_on(frame, node)  # `meter.add(pred)`: that of a class of another file
        if name in operations.CONTAINER_WRITES and isinstance(func, ast.Attribute) and args and not tensor and not own:
            key = key_of(func.value)
            item = args[-1].element if name == "extend" else args[-1]
            match func.value:
                case ast.Call(func=ast.Attribute(value=base, attr="setdefault"), args=[at, *_]):
                    env[key_of(base)] = with_item(env.get(key_of(base)), at, many(item))
                    self.kept.add(ast.Subscript(base, at, ast.Load()), item)
                case _:
                    env[key] = join(env.get(key, NOTHING), many(nested(func.value, item)))
                    self.kept.add(func.value, item)
            return of(OTHER)
        if name == "update" and isinstance(func, ast.Attribute) and not own and (owner.holds or not owner.flat):
            more = joined([*args[:1], record({k.arg or "": v for k, v in zip(node.keywords, named, strict=True)})])
            env[key_of(func.value)] = join(env.get(key_of(func.value), NOTHING), more)
            self.kept.add(func.value, more.element)
            return of(OTHER)
        runs = self._runs(node)
        if runs or self._takes_types(node, name):
            self._widen_doubles(frame, node, args, named, runs)
        if runs or self._weighs(node):
            self._part_types(frame, node, args)
        if runs:
            return self._model(frame, node, name, env, known)
        if self._of_a_base(node) or self._weighs(node):
            return of(HALF if self._cast(frame, node) else FLOAT)
        if (asked := gives_its_type(node)) is not None and (taken := self.value(asked).flat) & {HALF, MAYBE, FLOAT}:
            return Value(taken)
        if (said := made_double(self.ctx.v, node, [owner, *given])) is not None:
            if said.flat & {ARRAY, DOUBLE}:
                return said
            if name not in ("float", "half", "bfloat16") and not (owner.flat | facts_of(given)) & {HALF, MAYBE, FLOAT}:
                return of(FLOAT) if self._creates(node) else of(OTHER)
        if (listed := self._listed(frame, node, name, owner, args)) is not None:
            return listed
        called = self._called(frame, node, name, args)
        objects = self.ctx.v.of(func)
        callees = self.ctx.v.callees(node)
        if any(o.kind == "class" for o in objects):
            for callee in callees:
                self._enter(frame, callee, node, env, known)
        elif callees:
            return joined([self._enter(frame, c, node, env, known) for c in callees])
        if (made := called or self._made(node, known)) is not None:
            return made
        if node in handed_float(self.ctx):
            return of(FLOAT)
        self._hands_on(frame, node)
        receiver = owner.flat - {OTHER}
        first = owner if receiver or not args else args[0]
        if not (owner.flat | facts_of(given)) & {HALF, MAYBE, FLOAT, DOUBLE, ARRAY}:
            return self._unknown(frame, node, name)
        rest = args if receiver else args[1:]
        return self._known(frame, node, name, first, rest, given)

    def _of_a_base(self, node: ast.Call) -> bool:
        """Whether a network's own method has its results from a network of a library: ``super().forward(x)``."""
        match node.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="forward" | "__call__"):
                return not self.ctx.v.callees(node) and self.compute.own_method(self.ctx.m.function(node))
            case _:
                return False

    def _called(self, frame: Frame, node: ast.Call, name: str, args: list[Value]) -> Value | None:
        """What comes of a function of the file that is handed to somebody who calls it, `map(f, xs)`, `max(xs, key=f)`;
        None where that is not what the function gives."""
        function = node.args[0] if node.args else None
        match name:
            case "map" | "imap" | "starmap" | "submit" | "reduce" | "filter" if function is not None:
                if name == "map" and len(args) == 2 and (mapped := self._mapped(frame, function, args[1])) is not None:
                    return mapped
                rows = [a.element for a in args[1:]]
                pairs = [*(rows[0].items or ())] if rows else []
                given = {"submit": args[1:], "starmap": pairs, "reduce": rows[:1] * 2}.get(name, rows)
                results = self._each_call(frame, function, given)
                return many(joined(results)) if results and name not in ("submit", "filter", "reduce") else None
            case "sorted" | "max" | "min" | "sort" | "nlargest" | "nsmallest":
                for key in (k.value for k in node.keywords if k.arg == "key"):
                    self._each_call(frame, key, [a.element for a in args[-1:]])
        return None

    def _mapped(self, frame: Frame, function: ast.expr, row: Value) -> Value | None:
        """What ``map`` makes of a row whose items are told apart, or of float64 with a function of numpy or torch."""
        parts = row.items if row.items is not None and not row.names else None
        several = [row.element] if parts is None else parts
        made = [self._each_call(frame, function, [part]) for part in several]
        if not any(made):
            alike = ast.Call(function, [], [])
            if not row.flat & {ARRAY, DOUBLE}:
                return None
            made = [[made_double(self.ctx.v, alike, [part]) or of(OTHER)] for part in several]
        results = tuple(map(joined, made))
        return many(results[0]) if parts is None else Value(items=results)

    # ------------------------------------------------------------ of the program

    def _enter(self, frame: Frame, callee: ast.AST, call: ast.Call, env: Env, known: _Known) -> Value:
        """What a function of this module returns, run with the arguments of a call."""
        assert isinstance(callee, FunctionNode)
        inner = self._bound(frame, callee, call, env, known)
        if frame.depth < MAX_DEPTH and callee not in self._stack:
            self.entered[callee].add(call)
        return self._run_with(frame, callee, self._cast(frame, call), inner)

    def _bound(self, frame: Frame, callee: FunctionNode, call: ast.Call, env: Env, known: _Known) -> Env:
        """What the parameters of a function hold in a call; of what the call is handed that is known already."""
        scope, rest, more = self.ctx.m.scope_of[callee], callee.args.vararg, callee.args.kwarg
        found: Env = {}
        for name in scope.params:
            arg = passed(self.ctx, call, scope, name)
            if arg is not None:
                held = known.get(arg)
                found[name] = self._expr(frame, arg, env) if held is None else held
        spread = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
        if not (spread or rest or more) or partial_of(self.ctx, call) is not None:
            return found
        positional = positional_parameters(callee)[receiver(self.ctx, call, scope) :]
        given, others = self._in_order(call.args, known)
        spare = given[len(positional) :]
        for name, held in zip(positional, given, strict=False):
            found.setdefault(name, held)
        if others is not None:
            found |= {name: others for name in positional[len(given) :] if name not in found}
        if rest is not None:
            exact = others is None
            several = Value(items=tuple(spare)) if spare else NOTHING
            found[rest.arg] = several if exact else many(joined([*spare, others or NOTHING]))
        named = {p.arg for p in (*callee.args.args, *callee.args.kwonlyargs)}
        left = {k.arg: known[k.value] for k in call.keywords if k.arg and k.arg not in named}
        for keyword in call.keywords:
            if keyword.arg is None:
                held = known[keyword.value]
                fields = dict(zip(held.names, held.items or (), strict=False)) or dict.fromkeys(named, held.element)
                found |= {name: value for name, value in fields.items() if name in named and name not in found}
                left |= {name: value for name, value in fields.items() if name not in named}
                left |= {} if held.names else {"**": held.element}
        if more is not None:
            named_ones = record(left) if left else NOTHING
            found[more.arg] = many(joined(left.values())) if "**" in left else named_ones
        return found

    def _in_order(self, args: list[ast.expr], known: _Known) -> tuple[list[Value], Value | None]:
        """The arguments by position, as far as it is known; and any of those behind ``*xs`` of unknown length."""
        given, others = list[Value](), None
        for arg in args:
            held = known[arg]
            starred = isinstance(arg, ast.Starred)
            if others is not None or (starred and held.items is None):
                others = join(others or NOTHING, held.element if starred else held)
            else:
                given += held.items or () if starred else (held,)
        return given, others

    def _run_with(self, frame: Frame, callee: FunctionNode, dynamic: bool, inner: Env) -> Value:
        if frame.depth >= MAX_DEPTH or callee in self._stack:
            return of(OTHER, MAYBE)
        key = (callee, dynamic, tuple(sorted(inner.items())))
        if key not in self._memo:
            apart = None if dynamic else self._run_apart(frame, callee, inner)
            self._memo[key] = self._run_now(frame, callee, dynamic, inner) if apart is None else apart
        return self._memo[key]

    def _run_apart(self, frame: Frame, callee: FunctionNode, inner: Env) -> Value | None:
        """The same of a function that trains for another unit; None where it is to be run."""
        if callee not in training_functions(self.ctx) or callee in self._around_model:
            return None

        def run(fresh: Called) -> Env:
            return {GIVEN: fresh._run_now(frame, callee, False, {**inner})}

        left = self._apart(callee, frame.depth, inner, run)
        return None if left is None else left[GIVEN]

    def _done_apart(self, frame: Frame, stmt: ast.stmt, env: Env) -> Env | None:
        """The names behind a statement that runs trainings of other units alone; None where it is to be run."""
        names = starts_trainings(self.ctx, stmt)
        if names is None or stmt in self._above_model or self._cast(frame, stmt):
            return None
        handed = {key: held for key, held in env.items() if key in names or _may_be_of(key, names)}

        def run(fresh: Called) -> Env:
            left = fresh._statement(Frame(False, frame.depth), stmt, {**handed})
            assert left is not None  # it is left by its end
            return left

        left = self._apart(stmt, frame.depth, handed, run)
        return None if left is None else {**env, **left}

    def _apart(
        self, node: ast.AST, depth: int, handed: Env, run: Callable[[Called], Env]
    ) -> Mapping[str, Value] | None:
        """What is left of what has to do with no model of the unit and is handed nothing half: it is run once for all
        such units. None where it has to do with one, or leaves something behind that counts."""
        if self.kept.anything or any(held.flat & {HALF, MAYBE} for held in handed.values()):
            return None
        runs, asked = apart_runs(self.ctx), (node, depth, self._by_functions, tuple(sorted(handed.items())))
        if asked not in runs:
            fresh = type(self)(self.ctx, self.unit, self.compute, self.casts)
            left = run(fresh)
            if not self._around_model.isdisjoint(fresh.entered):
                return None
            runs[asked] = ApartRun(left, fresh.by_function(), fresh.entered) if fresh.leaves_nothing() else None
        known = runs[asked]
        if known is None or not self._around_model.isdisjoint(known.entered):
            return None
        if not known.entered.keys().isdisjoint(self._stack):
            return None
        for scope, seen in known.seen.items():
            self.later[scope].append(seen)
        for function, calls in known.entered.items():
            self.entered[function] |= calls
        return known.left

    def _run_now(self, frame: Frame, callee: FunctionNode, dynamic: bool, inner: Env) -> Value:
        self._stack.append(callee)
        below = Frame(dynamic, frame.depth + 1)
        if isinstance(callee, ast.Lambda):
            below.returned = self._expr(below, callee.body, inner)
        else:
            self._block(below, callee.body, inner)
        self._stack.pop()
        result = below.returned if below.yielded is None else many(below.yielded)
        return result if result.flat else of(OTHER)

    def _each_call(self, frame: Frame, function: ast.expr, given: list[Value]) -> list[Value]:
        """The results of the functions that an expression may stand for, with these arguments in order."""
        v, found = self.ctx.v, list[Value]()
        for obj in v.in_order(v.of(function)):
            callee = v.callee(obj) if obj.kind in ("function", "method", "instance", "partial") else None
            if not isinstance(callee, FunctionNode):
                continue
            names = positional_parameters(callee)
            names = names[1:] if self.ctx.m.self_name(self.ctx.m.scope_of[callee]) in names[:1] else names
            filled, inner = list[Value](), Env()
            if obj.kind == "partial":
                assert isinstance(obj.key, ast.Call)
                filled = [self.value(a) for a in obj.key.args[1:]]
                inner = {k.arg: self.value(k.value) for k in obj.key.keywords if k.arg is not None}
            inner |= dict(zip(names, (*filled, *given), strict=False))
            found.append(self._run_with(frame, callee, self._cast(frame, function), inner))
        return found

    def _by_method(self, frame: Frame, expr: ast.expr, name: str, *given: Value) -> Value | None:
        """What a special method of an object of the program gives; None where it has none."""
        if name not in specials(self.ctx):
            return None
        m, found = self.ctx.m, list[Value]()
        for obj in self.ctx.v.in_order(self.ctx.v.of(expr)):
            if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
                continue
            methods = (method for cls in self.ctx.v.order(obj.key) if (method := m.method(cls, name)) is not None)
            if isinstance(method := next(methods, None), FunctionNode):
                names = [a.arg for a in method.args.args][1:]
                inner = dict(zip(names, given, strict=False))
                found.append(self._run_with(frame, method, self._cast(frame, expr), inner))
        return joined(found) if found else None

    def _property(self, frame: Frame, base: ast.expr, name: str) -> Value | None:
        """What a property of an object of the program gives; None where it is none."""
        v, found = self.ctx.v, list[Value]()
        for obj in v.in_order(v.of(base)):
            function = v.property_of(obj.key, name) if isinstance(obj.key, ast.ClassDef) else None
            if obj.kind == "instance" and isinstance(function, FunctionNode):
                found.append(self._run_with(frame, function, self._cast(frame, base), {}))
        return joined(found) if found else None

    # ------------------------------------------------------------ of torch and Python

    def _known(
        self, frame: Frame, node: ast.Call, name: str, first: Value, rest: list[Value], given: list[Value]
    ) -> Value:
        """What a function of torch makes of a tensor of known precision."""
        method = isinstance(node.func, ast.Attribute)
        receiver = method and bool(self.value(node.func.value).flat & {HALF, FLOAT, MAYBE})  # type: ignore[attr-defined]
        if self._widens(frame, node, receiver):
            return of(FLOAT)
        if name == "float":
            return of(FLOAT) if method else of(OTHER)
        if first.flat in ({DOUBLE}, {ARRAY}) and not first.holds:
            same = name in operations.KEEP or name in operations.PROMOTE or name in operations.OF_ONE
            made = ARRAY if name == "numpy" else next(iter(first.flat))
            return of(made) if same or name in ("to", "cpu", "numpy") else of(OTHER)
        if name == "cpu":
            return of(FLOAT) if proved(first) else first
        if name in ("to", "type"):
            return converted(node, first)
        if name in operations.INTEGER:
            return of(OTHER)
        if name in operations.PAIR:
            dims = bool(rest) or any(k.arg in ("dim", "k", "axis") for k in node.keywords)
            if name in ("max", "min") and rest and rest[0].flat & {HALF, FLOAT}:
                return arithmetic(first, rest[0], ast.Add(), False)
            if name in ("max", "min") and not dims:
                return Value(first.flat)
            return Value(frozenset(), (Value(first.flat), of(OTHER)))
        if name == "sum" and not method:
            return Value(first.flat)
        if name in operations.FLOAT_RESULTS or (loss(name) and not self.ctx.v.callees(node)):
            if self._cast(frame, node):
                return of(FLOAT)
            if name in operations.OF_ONE:
                return Value(first.flat)
            return Value(frozenset().union(*(g.flat for g in (first, *given))))
        if name in operations.ACROSS:
            return joined(g for g in given if g.flat & {HALF, FLOAT, MAYBE})
        if name in operations.JOIN:
            items = (*(first.items or ()), *((first.each,) if first.each is not None else ()))
            if items and any(proved(i) for i in items):
                return of(HALF)
            return Value(first.flat)
        if name in operations.KEEP:
            same = name in ("list", "tuple", "chunk", "split", "reversed", "iter", "copy", "deepcopy")
            return first if same else Value(first.flat)
        if name in operations.PROMOTE:
            pair = given[1:] if name == "where" and len(given) == 3 else [first, *rest]
            result = pair[0]
            for other in pair[1:]:
                result = arithmetic(result, other, ast.Add(), False)
            return result
        if name in operations.HALF_RESULTS:
            return of(HALF) if self._cast(frame, node) and any(proved(g) for g in (first, *given)) else of(MAYBE)
        if name == "dict":
            keys = [k.arg for k in node.keywords]
            if not node.args and None not in keys:
                return record({k or "": v for k, v in zip(keys, given, strict=True)})
            return many(joined(g.element for g in given))
        return self._unknown(frame, node, name, frozenset().union(first.flat, *(g.flat for g in given)))

    def _unknown(self, frame: Frame, node: ast.Call, name: str, flat: frozenset[str] = frozenset()) -> Value:
        if name in ("sigmoid", "Sigmoid"):
            return of(OTHER)
        if flat & {HALF, MAYBE}:
            return of(MAYBE)
        if name == "float" and isinstance(node.func, ast.Attribute):
            return of(FLOAT)
        if self._creates(node):
            return of(FLOAT)
        if name in operations.INTEGER or name in operations.KEEP or name in operations.ATTRIBUTES:
            return of(OTHER)
        if self._layer(node) and self._cast(frame, node):
            return of(HALF)
        return of(OTHER)

    def _model(self, frame: Frame, node: ast.Call, name: str, env: Env, known: _Known) -> Value:
        """The result of a model call: of its own ``forward``, where that is here."""
        cast = self._cast(frame, node)
        callees = self.ctx.v.callees(node)
        if callees:
            return joined([self._enter(frame, c, node, env, known) for c in callees])
        if not cast:
            return of(FLOAT)
        held = self.ctx.v.of(node.func)
        direct = bool(held & self.compute.models) or (
            not isinstance(node.func, ast.Attribute) and self.compute.is_model(held)
        )
        if any(gives_several(self.ctx.v, o, self.ctx.facts.elsewhere) for o in held):
            return many(of(HALF, MAYBE))
        if direct or FORWARDING.fit(name):
            return of(HALF)
        if name in operations.FLOAT_RESULTS or loss(name):
            return of(FLOAT)
        func = node.func
        if isinstance(func, ast.Attribute) and self.compute.own_method(self.ctx.m.function(node)):
            if name in operations.INTEGER:
                return of(OTHER)
            return of(HALF)  # a layer: self.fc(x)
        return of(MAYBE)

    def _listed(self, frame: Frame, node: ast.Call, name: str, owner: Value, args: list[Value]) -> Value | None:
        """What `zip`, `enumerate`, and `items` and `values` of a dictionary go over."""
        match node.func:
            case ast.Name(id="enumerate") if args:
                return many(Value(items=(of(OTHER), args[0].element)))
            case ast.Name(id="zip") if args and isinstance(node.args[0], ast.Starred):
                rows = args[0].element
                parts = rows.items if rows.items is not None else None
                return many(many(rows.element)) if parts is None else Value(items=tuple(map(many, parts)))
            case ast.Name(id="zip"):
                return many(Value(items=tuple(a.element for a in args)))
            case ast.Attribute(value=base, attr="items" | "values") if not args:
                member = self._member(base, owner)
                return many(Value(items=(of(OTHER), member)) if name == "items" else member)
            case ast.Name(id="sorted" | "set") if args and args[0].holds:
                return many(args[0].element)
            case ast.Attribute(value=ast.Name(id="random"), attr="sample" | "choices") if args and args[0].holds:
                return many(args[0].element)
            case ast.Attribute(value=ast.Name(id="random"), attr="choice") if args and args[0].holds:
                return args[0].element
            case ast.Name(id="next") if args and args[0].holds:
                return args[0].element
            case ast.Name(id="TensorDataset") | ast.Attribute(attr="TensorDataset"):
                return many(Value(items=tuple(args)))
            case ast.Name(id="DataLoader") | ast.Attribute(attr="DataLoader") if node.args:
                item = None if args[0].holds else self._by_method(frame, node.args[0], "__getitem__")
                return collated(args[0] if item is None else many(item))
            case ast.Attribute(attr="get" | "pop" | "setdefault") if owner.holds and node.args:
                return joined([item_of(owner, node.args[0]), *args[1:2]])
            case _:
                return None

    def _made(self, node: ast.Call, known: _Known) -> Value | None:
        """An object that is made of its fields: a dataclass or NamedTuple of the file, a `namedtuple`, a namespace."""
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return None
        fields = fields_of(self.ctx.v, node)
        if fields is None:
            return None
        given = dict(zip(fields, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
        held = {name: known[value] for name, value in given.items()}
        for obj in self.ctx.v.of(node):
            for name, value in held.items():
                self.kept.made(obj, name, value)
        return record(held)


def _may_be_of(key: str, names: frozenset[str]) -> bool:
    """Whether an expression of an environment, no plain name, is one of some names: ``state.out``."""
    root = key.partition(".")[0]
    return (root != key and root in names) or not root.isidentifier()


def fields_of(v: Values, node: ast.Call) -> list[str] | None:
    """The fields of the object that a call makes of them, in order; None where it makes something else."""
    if called_name(node) in NAMESPACES:
        return []
    for obj in v.of(node.func):
        if obj.kind == "class" and isinstance(obj.key, ast.ClassDef) and v.callee(obj) is None:
            return v.declared(obj.key) or None
        if (names := tuple_fields(obj)) is not None:
            return names
    return None
