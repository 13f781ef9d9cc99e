"""What the precision analysis has seen of a unit, and the questions about single expressions that it answers."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from ..facts.names import called_name, is_property
from ..facts.networks import handed_elsewhere
from ..facts.once import once
from ..facts.scopes import Scope
from ..facts.usual_names import dotted
from ..knowledge import operations
from ..knowledge.results import loss
from ..nodes import walk
from . import operands
from .compute import Compute
from .dimensions import no_integer
from .doubles import makes_float32
from .frames import Casts, Frame
from .halves import ARRAY, DOUBLE, FLOAT, HALF, MAYBE, NOTHING, OTHER, Value, join, many, of, proved
from .kept import Kept
from .unit import Context, Unit


class Seen:
    """What every expression of one unit may hold, as far as its functions were run, and what was noted of operands."""

    def __init__(self, ctx: Context, unit: Unit, compute: Compute, casts: Casts) -> None:
        self.ctx, self.unit, self.compute, self.casts = ctx, unit, compute, casts
        self.kept = Kept(ctx, frozenset({HALF, MAYBE, DOUBLE, ARRAY}), self._first)
        self.forget()

    def forget(self) -> None:
        """All that was seen and noted goes."""
        self.seen: dict[ast.AST, Value] = {}  # every expression that was run -> what it may hold
        # What was seen in functions that were run for all units at once, until somebody asks.
        self.later: dict[Scope, list[Mapping[ast.AST, Value]]] = defaultdict(list)
        self.entered: dict[ast.AST, set[ast.Call]] = defaultdict(set)
        self.widened: dict[ast.expr, ast.expr] = {}  # operand that O1 cast to float32, outside of regions -> its use
        self.mixed: dict[ast.expr, ast.expr] = {}  # half factor of a product with one that is not, likewise
        self.handed: dict[ast.expr, ast.Call] = {}  # operand that code of another file makes float32 -> the call
        self.doubles: dict[ast.expr, ast.Call] = {}  # what may be float64 and a model or a loss is handed -> the call
        self.narrow: dict[ast.AugAssign, None] = {}  # `x += y` of half and float32: O1 made float32 of it
        self.emptied: dict[ast.Call, str] = {}  # calls of such code that is handed a list of half results: what it does
        self._memo: dict[tuple[ast.AST, bool, tuple[tuple[str, Value], ...]], Value] = {}
        self._calls: dict[ast.Call, bool] = {}
        self._stack: list[ast.AST] = []

    def complete(self, function: ast.AST) -> bool:
        """Whether every call of a function in this module was followed into it."""
        calls = self.ctx.v.calls[function]
        return bool(calls) and self.entered[function].issuperset(calls)

    def leaves_nothing(self) -> bool:
        """Whether no run has noted anything but what expressions hold."""
        noted = (self.widened, self.mixed, self.handed, self.doubles, self.narrow, self.emptied)
        return not self.kept.anything and not any(noted)

    @cached_property
    def _around_model(self) -> frozenset[ast.AST]:
        """The functions in which something may run a model of the unit."""
        return frozenset(self.ctx.m.function(call).node for call in self.compute.candidates)

    @cached_property
    def _above_model(self) -> frozenset[ast.AST]:
        """The statements in which something may run a model of the unit."""
        return frozenset(stmt for call in self.compute.candidates for stmt in self.ctx.m.spine(call))

    def value(self, node: ast.AST) -> Value:
        """What an expression may hold, from all runs."""
        if self.later:
            self._join(self.ctx.m.function(node))
        return self.seen.get(node, NOTHING)

    def _join(self, scope: Scope) -> None:
        """What was seen in a function that was run for all units at once is among the rest."""
        for seen in self.later.pop(scope, ()):
            for node, held in seen.items():
                self.seen[node] = join(self.seen.get(node, NOTHING), held)

    def by_function(self) -> dict[Scope, dict[ast.AST, Value]]:
        """All that was seen, by the functions that it stands in."""
        for scope in [*self.later]:
            self._join(scope)
        found = defaultdict[Scope, dict[ast.AST, Value]](dict)
        for node, held in self.seen.items():
            found[self.ctx.m.function(node)][node] = held
        return found

    # ------------------------------------------------------------ expressions

    def _cast(self, frame: Frame, node: ast.AST) -> bool:
        """Whether ``node`` runs under autocast."""
        if self.casts.off(node):
            return False
        return frame.dynamic or self.casts.autocast(node)

    def halves(self, operand: ast.expr, node: ast.expr) -> bool:
        """Whether an operand is half at times and floating whenever ``node`` runs: what is not is no operand of it, or
        gives float32 either way."""
        held = self.value(operand)
        return proved(held) or (HALF in held.flat and not held.holds and operands.takes_floats(node))

    def _widens(self, frame: Frame, node: ast.Call, receiver: bool) -> bool:
        """Whether O1 cast an operand of a call to float32 that nothing casts natively; it is remembered."""
        found = [a for a in operands.in_place(node) if proved(self.value(a))]
        if not self._cast(frame, node):
            cast = operands.to_float(node, receiver, self._label(node.func))
            found += [a for a in cast if self.halves(a, node) and not a_loss(a)]
            if self._mixes(node):
                return True
        self.widened |= dict.fromkeys(found, node)
        return bool(found)

    def _mixes(self, node: ast.expr) -> bool:
        """Whether a product outside of regions has a factor in half and one in float32."""
        factors = operands.multiplied(node, operations.O1_OF_ONE_TYPE)
        half = [f for f in factors if proved(self.value(f)) and FLOAT not in self.value(f).flat]
        if len(half) != 1 or not all(self.value(f).flat == {FLOAT} for f in factors if f is not half[0]):
            return False
        self.mixed[half[0]] = node
        return True

    def _hands_on(self, frame: Frame, node: ast.Call) -> None:
        """Remember what code of another file takes from the GPU, or computes with outside of every region."""
        v, elsewhere = self.ctx.v, self.ctx.facts.elsewhere
        found = handed_elsewhere(v, node, elsewhere.leaving)
        if not self._cast(frame, node):
            found += (computing := handed_elsewhere(v, node, elsewhere.computing))
            if any(HALF in self.value(a).flat and self.value(a).holds for a in computing):
                self.emptied[node] = "computes with results that lie in what it is handed"
        self.handed |= {a: node for a in found if proved(self.value(a)) and not a_loss(a)}
        emptied = [*handed_elsewhere(v, node, elsewhere.emptying), *(a for a in found if self.value(a).holds)]
        if any(HALF in self.value(a).flat for a in emptied):
            self.emptied.setdefault(node, "takes results from the GPU")

    def _takes_types(self, node: ast.Call, name: str) -> bool:
        """Whether a call is one of O1's float32 functions, or of a loss of torch."""
        of_losses = loss(name) and not self.ctx.v.callees(node)
        return self._by_functions and (of_losses or name in operations.O1_FLOAT_FUNCTIONAL)

    @cached_property
    def _by_functions(self) -> bool:
        return self.unit.by_functions  # asked for every call

    def _widen_doubles(self, frame: Frame, node: ast.Call, args: list[Value], named: list[Value], runs: bool) -> None:
        """Remember the float64 that a model or a loss is handed under casts."""
        callees = self.ctx.v.callees(node)
        inner = runs and self.compute.inner(node)
        if not self._cast(frame, node) or (inner and not callees):
            return
        given = zip((*node.args, *(k.value for k in node.keywords)), (*args, *named), strict=True)
        wide = set() if inner else {DOUBLE}
        if not (callees and makes_float32(callees)):
            wide |= {ARRAY}  # which no product takes: what is made of it there counts
        self.doubles |= {a: node for a, held in given if held.flat & wide}

    def _part_types(self, frame: Frame, node: ast.Call, args: list[Value]) -> None:
        """Remember the half results that a network is handed outside of every region, where they would meet its float32
        weights. The regions of other units are not known here."""
        alone = len(self.ctx.facts.initializes) == 1
        if alone and not self._cast(frame, node) and not self.compute.inner(node):
            given = zip(node.args, args, strict=False)
            self.mixed |= {a: node for a, held in given if proved(held) and not isinstance(a, ast.Starred)}

    # ------------------------------------------------------------ what a call is

    def _runs(self, node: ast.Call) -> bool:
        if node not in self._calls:
            layer = bool(self._label(node.func) or loss(called_name(node)))
            own = bool(self.ctx.v.of(node.func) & self.unit.model_objects)
            self._calls[node] = (own or not layer) and self.compute.runs_model(node)
        return self._calls[node]

    def _weighs(self, node: ast.Call) -> bool:
        """Whether a call is one of torch's layers that multiply with their weights, and of nothing else."""
        held = self.ctx.v.of(node.func)
        return bool(held) and all(o.kind == "call" and o.label in operations.WEIGHING for o in held)

    def _creates(self, call: ast.Call) -> bool:
        """Whether a call makes a new tensor of the default type."""
        name = called_name(call)
        filled = name == "full" and len(call.args) > 1 and no_integer(call.args[1])
        made = (filled or name in operations.CREATE) and self._of_torch(call.func)
        return made and not any(k.arg == "dtype" for k in call.keywords)

    def _of_torch(self, func: ast.expr) -> bool:
        return isinstance(func, ast.Attribute) and dotted(func.value) in ("torch", "th")

    def _layer(self, node: ast.Call) -> bool:
        """Whether, in a model's own method, a call is one of a layer: ``layer(x)``, ``self.layers[i](x)``."""
        scope = self.ctx.m.function(node)
        if not self.compute.own_method(scope) or not node.args:
            return False
        func = node.func
        if isinstance(func, ast.Name):
            return func.id in scope.names
        return isinstance(func, ast.Subscript)

    def _label(self, func: ast.expr) -> str:
        """What layer of torch an expression holds, where only one is possible: ``Sigmoid`` for ``self.act``."""
        held = self.ctx.v.of(func)
        label = next(iter(held)).label if len(held) == 1 else ""
        known = label in operations.KEEP or label in operations.FLOAT_RESULTS or loss(label)
        return label if label[:1].isupper() and known else ""

    # ------------------------------------------------------------ containers

    def _first(self, value: ast.expr | None) -> Value:
        """What a place holds that is made with a value: nothing, a new tensor, or what is not known."""
        match value:
            case ast.Constant(value=None) | ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Tuple(elts=[]):
                return NOTHING
            case ast.Call(func=ast.Name(id="list" | "dict" | "set" | "deque"), args=[], keywords=[]):
                return NOTHING
        return of(FLOAT if isinstance(value, ast.Call) and self._creates(value) else OTHER)

    def _kept(self, node: ast.Name | ast.Attribute) -> Value | None:
        """What another function left there, if one did."""
        held = self.kept.of(node)
        return held if held.flat else None

    def _with_items(self, node: ast.expr, held: Value | None) -> Value:
        """What a name holds, and what was put into the container that it may be."""
        inside = self.kept.inside(node)
        if held is None:
            return many(inside) if inside.flat else of(OTHER)
        return held if inside.flat <= held.flat else join(held, many(inside))

    def _member(self, base: ast.expr, held: Value) -> Value:
        """Any value of a dictionary: a model's may hold integers (a detector's labels), of others it is known."""
        if held.holds:
            return held.element
        return of(MAYBE) if HALF in held.flat and not self.kept.inside(base).flat else Value(held.flat)


def a_loss(node: ast.expr) -> bool:
    """Whether a value is called as a loss is: those a model hands back are float32 already."""
    names = [n.id for n in walk(node) if isinstance(n, ast.Name)]
    return any(loss(n) for n in [*names, *(n.attr for n in walk(node) if isinstance(n, ast.Attribute))])


@once
def properties(ctx: Context) -> frozenset[str]:
    """The names of all properties of the program."""
    return frozenset(f.name for f in ctx.m.all(ast.FunctionDef) if is_property(f))


@once
def specials(ctx: Context) -> frozenset[str]:
    """The names of its methods that Python calls by itself."""
    return frozenset(f.name for f in ctx.m.all(ast.FunctionDef) if f.name.startswith("__"))
