"""What native autocast breaks that Apex let pass: half results that were float32, and binary cross entropy.

Decided once the regions of a unit are known; nothing here changes them. `find` says the unit's reviews, raises
Manual, and hands the places to the plan, for the rules.

Source: semantics of O1's patched ``Tensor.cpu`` and its banned functions, apex/amp/lists at tag 25.05;
torch/aten/src/ATen/autocast_mode.cpp bans ``binary_cross_entropy`` for every dtype.
"""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ...facts.module import Module
from ...facts.names import called_name, last_name
from ...flow.arguments import argument
from ...flow.objects import Obj
from ...knowledge import operations
from ...knowledge.models import ONE_TENSOR
from ...knowledge.results import floating
from ...model import Settings
from ...nodes import walk
from ...units.compute import walk_now
from ...units.halves import ARRAY, DOUBLE, FLOAT, HALF, MAYBE, OTHER, doubtful, proved
from ...units.operands import multiplied
from ...units.precision import Precision
from ...units.unit import Context, Manual, Unit
from ..gradients.fold import Fold
from ..regions.coverage import Coverage
from .given_back import given_back
from .registered import tell_registered
from .response_norms import beside_response_norms
from .spread import spread
from .torchs import torchs_name
from .trained_numbers import beside_trained_numbers
from .unnamed import review_unnamed

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)


@dataclass(frozen=True, eq=False)
class FloatOutput:
    """A half result goes to numpy, a list or a file: ``.float()`` at ``offset``, before ``call``'s method."""

    call: ast.Call
    offset: int


@dataclass(frozen=True, eq=False)
class FloatOperand:
    """O1 computed ``node`` in float32: its ``operand`` becomes float32 where it stands outside of a region; or of the
    type of another tensor, ``like`` that."""

    node: ast.expr
    operand: ast.expr
    like: str | None = None


@dataclass(frozen=True, eq=False)
class Entropy:
    """One call of binary cross entropy. ``lifted``: its prediction is computed on a line of its own before."""

    call: ast.Call
    prediction: ast.expr
    target: ast.expr | None
    prediction_float: bool
    target_float: bool
    lifted: str | None


@dataclass(frozen=True, eq=False)
class EntropyStatement:
    """A statement with binary cross entropy in it. ``names``: its calls get these and come before it, where the
    statement computes other things that have to stay under autocast."""

    stmt: ast.stmt
    calls: tuple[Entropy, ...]
    names: tuple[str, ...] | None

    @property
    def plain(self) -> bool:
        """Whether the statement goes under the header as it is."""
        return self.names is None and all(c.lifted is None for c in self.calls)


_ENTROPIES = ("BCELoss", "binary_cross_entropy")
_BY_NAME = (
    "binary cross entropy is an error under autocast on CUDA, and who calls this one is not seen: where a region is "
    'around its call, put that under torch.autocast("cuda", enabled=False), its arguments with .float()'
)


_SAID_HANDED = (
    "what is called here stands in another file, and takes results from the GPU or computes what O1 ran in float32 "
    "wherever it stood: it is handed float32 now, so that all that it computes is float32"
)

_SAID_GIVEN_BACK = (
    "is given this back, and belongs to another package, which may compute a loss or a metric of it: O1 ran those in "
    "float32 wherever they stood; it is handed float32 now"
)

_SAID_NARROW = (
    "stays half, as it is in place, where O1 made a new float32 tensor of a half and a float32 one: with `.float()` "
    "where the left side comes from, it is one"
)
_SAID_DOUBLE = (
    "float64 is handed to a model or a loss here: Apex cast it as it did float32, autocast leaves float64 alone, and a "
    "product of both types is an error; .float() makes it float32, where it stands in no list or dictionary"
)
_SAID_PERHAPS_DOUBLE = (
    "what a model or a loss is handed here may be float64: Apex cast it as it did float32, autocast leaves float64 "
    "alone, and a product of both types is an error; .float() where it is made keeps what Apex did"
)
_FLOATING = {DOUBLE, FLOAT, HALF}


@dataclass(eq=False)
class Hazards:
    """The places of one unit that the rules rewrite."""

    outputs: list[FloatOutput] = field(default_factory=list)
    operands: list[FloatOperand] = field(default_factory=list)
    entropies: list[EntropyStatement] = field(default_factory=list)


def find(ctx: Context, unit: Unit, coverage: Coverage, folds: list[Fold]) -> Hazards:
    """The unit's hazards; says what becomes of them, and raises Manual where a place cannot be rewritten."""
    found = Hazards()
    text = ctx.m.text
    entropy = "binary_cross_entropy" in text or "BCELoss" in text
    leaving = "cpu" in text or (ctx.settings.dtype == "bfloat16" and "numpy" in text)
    search = _Search(ctx, unit, coverage, folds)
    try:
        if entropy:
            search.entropies(found)
        if leaving:
            search.outputs(found)
        search.operands(found)
        if search.models_alone():
            search.islands()
    finally:
        search.end()
    tell_registered(ctx, unit)
    return found


def _alone(call: ast.Call) -> bool:
    """Whether a call hands over just one thing."""
    given = [*call.args, *(one.value for one in call.keywords)]
    spread = any(isinstance(one, ast.Starred) for one in call.args) or any(one.arg is None for one in call.keywords)
    return len(given) == 1 and not spread


class _Search:
    """Looks for the hazards of one unit."""

    def __init__(self, ctx: Context, unit: Unit, coverage: Coverage, folds: list[Fold]) -> None:
        self.ctx, self.unit, self.coverage, self.planner, self.m = ctx, unit, coverage, coverage.planner, ctx.m
        self._precision: Precision | None = None
        self.dropped = [s for f in folds for s in (f.stmt.orelse if f.arm == "body" else f.stmt.body)]
        renamed = (a.asname for a in self.m.all(ast.alias) if a.name in _ENTROPIES and a.asname)
        self.spelled = frozenset((*_ENTROPIES, *renamed))  # what binary cross entropy may be called

    @cached_property
    def names(self) -> set[str]:
        """The names that are taken."""
        return {*self.m.variables, *self.m.parameters}

    @property
    def precision(self) -> Precision:
        if self._precision is None:
            self._precision = Precision(self.ctx, self.unit, self.planner.compute, self.coverage)
            self._precision.run()
        return self._precision

    def end(self) -> None:
        """What was seen goes: a program may have many units, and who refers to each other in circles stays for long."""
        if self._precision is not None:
            self._precision.forget()

    def _stays(self, node: ast.AST) -> bool:
        return not any(self.m.inside(node, s) for s in self.dropped)

    # ------------------------------------------------------------ float outputs

    def outputs(self, found: Hazards) -> None:
        bfloat16 = self.ctx.settings.dtype == "bfloat16"
        numpy = self.m.calls("numpy") if bfloat16 else ()
        named = list[FloatOutput]()
        for node in self.m.in_order((*self.m.calls("cpu"), *numpy)):
            if not isinstance(node.func, ast.Attribute) or not self._stays(node):
                continue
            held = self.precision.value(node.func.value)
            if self._unchanged(node, bfloat16):
                continue
            if proved(held) and not self._decoded(node):
                found.outputs.append(FloatOutput(node, self._dot(node.func)))
            elif HALF in held.flat and not held.holds and _named_floating(node.func.value) and not self._decoded(node):
                named.append(FloatOutput(node, self._dot(node.func)))
                found.outputs.append(named[-1])
                self.unit.review(node, "APX032", _SAID_NAMED)
            elif HALF in held.flat and not self._decoded(node):  # half on some way, and something else on another
                self.unit.review(node, "APX032", _said_doubt(bfloat16))
            elif proved(held) or doubtful(held):
                self.unit.infos.append((node, "APX032", _said_doubt(bfloat16)))
        sure = [one for one in found.outputs if one not in named]
        if sure:
            self.unit.review(sure[0].call, "APX032", _said_output(bfloat16))
        if not bfloat16:
            review_unnamed(self.ctx, self.unit, self.precision)

    def models_alone(self) -> bool:
        """Whether Apex cast what models were handed and gave, and no function: O2 and O3."""
        return all(o.levels <= {"O2", "O3"} for o in self.unit.options.values())

    def operands(self, found: Hazards) -> None:
        """Half results that something outside of every region computes with, as O1 did in float32."""
        precision = self.precision
        for operand, node in {**precision.widened, **precision.mixed}.items():
            if precision.halves(operand, node) and self._stays(node):
                found.operands.append(FloatOperand(node, operand))
        handed = [one for one in precision.handed.items() if one[0] not in precision.widened and self._stays(one[1])]
        handed = [one for one in handed if proved(precision.value(one[0])) and not precision.value(one[0]).holds]
        found.operands += [FloatOperand(call, operand) for operand, call in handed]
        for _, call in handed[:1]:
            self.unit.review(call, "APX032", _SAID_HANDED)
        given = [one for one in given_back(self.ctx, self.coverage, precision) if self._stays(one[1])]
        found.operands += [FloatOperand(part, part) for part in dict.fromkeys(part for _, part in given)]
        for call, part in given[:1]:
            self.unit.review(part, "APX032", f"`{self.m.src(call.func)}` {_SAID_GIVEN_BACK}")
        for call, does in precision.emptied.items():
            if self._stays(call):
                was = "which Apex had cast to float32" if self.models_alone() else "where O1 made them float32"
                said = f"`{self.m.src(call.func)}` of another file {does}, {was}: "
                self.unit.review(call, "APX032", f"{said}they stay half now; `.float()` before that keeps it")
        for stmt in filter(self._stays, precision.narrow):
            self.unit.review(stmt, "APX032", f"`{self.m.src(stmt)}` {_SAID_NARROW}")
        doubles = [(call, operand) for operand, call in precision.doubles.items() if self._stays(call)]
        wide = _FLOATING | {ARRAY, OTHER}
        doubles = [(call, operand) for call, operand in doubles if precision.value(operand).flat <= wide]
        sure = [(call, operand) for call, operand in doubles if precision.value(operand).flat <= _FLOATING]
        single = [(c, o) for c, o in sure if not precision.value(o).holds and not _splat(self.m, o)]
        found.operands += [FloatOperand(call, operand) for call, operand in single]
        for call, _ in (sure or doubles)[:1]:
            self.unit.review(call, "APX032", _SAID_DOUBLE if sure else _SAID_PERHAPS_DOUBLE)
        known = {o.operand for o in found.operands}
        found.operands += [o for o in (*self._added_in_place(), *self._widened_within()) if o.operand not in known]
        found.operands.sort(key=lambda o: self.m.start(o.operand))
        mixed = [o.node for o in found.operands if o.operand in precision.mixed and not _widened_by_o1(o.node)]
        if mixed:
            self.unit.review(
                mixed[0],
                "APX032",
                f"a product of a {self.ctx.settings.dtype} result and a float32 tensor outside of autocast is an error "
                "natively; O1 ran it in half, now .float() makes both float32",
            )

    def _added_in_place(self) -> Iterator[FloatOperand]:
        """The factors of products that are added in place, of which it is not known that they are float32: O1 cast
        them to the type of what they are added to, wherever that stood; natively nothing does."""
        if not self.unit.by_functions:
            return
        for name in sorted(operations.PRODUCTS_IN_PLACE):
            for call in self.m.calls(name):
                func = call.func
                if not isinstance(func, ast.Attribute) or not isinstance(func.value, (ast.Name, ast.Attribute)):
                    continue
                for factor in call.args[-2:]:
                    if not self._of_that_type(factor, func.value) and self._stays(call):
                        yield FloatOperand(call, factor, self.m.src(func.value))

    def _widened_within(self) -> Iterator[FloatOperand]:
        """What variances and local response norms are computed of, and what is multiplied with trained numbers, under
        autocast."""
        if self.unit.by_functions:
            asked = (self.ctx, self.coverage, self.precision)
            norms = beside_response_norms(self.ctx, self.coverage) if self.ctx.settings.dtype == "float16" else ()
            for node, operand in (*spread(*asked), *beside_trained_numbers(*asked), *norms):
                if self._stays(node):
                    yield FloatOperand(node, operand)

    def _of_that_type(self, factor: ast.expr, added_to: ast.expr) -> bool:
        """Whether a factor is a number, or float32 for sure, or was cast by whoever wrote the line."""
        known = self.precision.value(factor).flat
        if isinstance(factor, (ast.Constant, ast.UnaryOp, ast.Starred)) or known == {FLOAT} or self._floated(factor):
            return True
        return "dtype" in ast.unparse(factor) or ast.unparse(factor) == ast.unparse(added_to)

    def islands(self) -> None:
        """O2 and O3 cast no function: products behind an explicit ``.float()`` ran in float32, autocast halves them."""
        for node in self.m.nodes:
            if self._on_an_island(node) and self.coverage.may(node):
                self.unit.reviews.append((node, "APX032", _said_island(self.ctx.settings)))
        for copy in self.planner.compute.copied_before:
            self.unit.reviews.append(
                (
                    copy,
                    "APX031",
                    "this copy was made before amp.initialize, which left it in float32; it stays so, outside of "
                    "autocast; what is copied into it was float16 and is float32 now",
                )
            )

    def _on_an_island(self, node: ast.AST) -> bool:
        factors = multiplied(node)
        return bool(factors) and all(self._floated(f) for f in factors)

    def _floated(self, expr: ast.expr) -> bool:
        """Whether an expression was turned into float32 where it stands, or where its name was bound last."""
        while isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute):
            if expr.func.attr == "float":
                return True
            if expr.func.attr not in operations.KEEP:
                return False
            expr = expr.func.value
        if not isinstance(expr, ast.Name):
            return False
        scope = self.m.function(expr)
        bound = [
            n
            for n in self.m.own(scope, ast.Assign)
            if self.m.start(n) < self.m.start(expr)
            and any(isinstance(t, ast.Name) and t.id == expr.id for t in n.targets)
        ]
        return bool(bound) and isinstance(bound[-1].value, ast.Call) and _ends_in_float(bound[-1].value)

    def _decoded(self, node: ast.Call) -> bool:
        """Whether the same name is decoded to text in a statement beside it: then it may hold token ids."""
        root: ast.AST = node.func
        while isinstance(root, (ast.Attribute, ast.Call, ast.Subscript)):
            root = root.func if isinstance(root, ast.Call) else root.value
        if not isinstance(root, ast.Name):
            return False
        calls = [n for s in self.m.block(self.m.statement(node)).body for n in walk(s) if isinstance(n, ast.Call)]
        return any(
            isinstance(c.func, ast.Attribute)
            and "decode" in c.func.attr
            and any(isinstance(a, ast.Name) and a.id == root.id for a in c.args)
            for c in calls
        )

    def _dot(self, func: ast.Attribute) -> int:
        """Where the dot of ``x.cpu`` stands."""
        return self.m.text.rindex(".", self.m.start(func), self.m.end(func))

    def _unchanged(self, node: ast.expr, bfloat16: bool) -> bool:
        """Whether what is done with ``node`` gives the same in half: no ``.float()`` is needed."""
        if bfloat16 and isinstance(node, ast.Call) and node.func.attr == "numpy":  # type: ignore[attr-defined]
            return False
        at: ast.AST = node
        while True:
            above = self.m.parent[at]
            if isinstance(above, ast.Attribute):
                call = self.m.parent[above]
                called = isinstance(call, ast.Call) and call.func is above
                converts = above.attr in ("to", "astype", "type") and called and _to_float(call)
                if above.attr == "dtype":
                    return False
                if above.attr in operations.TYPE_FORGOTTEN or converts:
                    return True
                if above.attr not in operations.SAME_NUMBERS or (bfloat16 and above.attr == "numpy"):
                    return False
                at = call if called else above
            elif isinstance(above, ast.Subscript) and above.value is at:
                at = above
            elif isinstance(above, ast.Compare):
                return all(_exact_constant(c) for c in (above.left, *above.comparators) if c is not at)
            elif isinstance(above, ast.Call) and at in above.args:
                name = called_name(above)
                return name in operations.TYPE_FORGOTTEN_BY_FUNCTION and not (bfloat16 and name.startswith("arg"))
            else:
                return isinstance(above, ast.Expr)

    # ------------------------------------------------------------ binary cross entropy

    def entropies(self, found: Hazards) -> None:
        calls = [n for n in self.m.all(ast.Call) if self._entropy(n) and self._stays(n)]
        by_statement: dict[ast.stmt, list[ast.Call]] = {}
        for call in calls:
            if self.coverage.may(call):
                by_statement.setdefault(self.m.statement(call), []).append(call)
        for stmt, here in by_statement.items():
            found.entropies.append(self._statement(stmt, here))
        for node in self._classes():
            self.unit.review(node, "APX033", _BY_NAME)
        found.entropies.sort(key=lambda e: self.m.start(e.stmt))

    def _classes(self) -> Iterator[ast.expr]:
        """Where ``nn.BCELoss`` or its function is kept, or spelled for who asks for a loss by its name."""
        m = self.m
        if m.calls("getattr"):
            yield from (n for n in m.all(ast.Constant) if n.value in _ENTROPIES)
        named: list[ast.Name | ast.Attribute] = [*m.all(ast.Name), *m.all(ast.Attribute)]
        for node in named:
            above = m.parent.get(node)
            spelled = isinstance(node.ctx, ast.Load) and last_name(node) in self.spelled
            if spelled and torchs_name(m, node) in _ENTROPIES:
                if not (isinstance(above, ast.Call) and (above.func is node or called_name(above) == "isinstance")):
                    yield node

    def _entropy(self, call: ast.Call) -> bool:
        if called_name(call) in self.spelled and torchs_name(self.m, call.func) == "binary_cross_entropy":
            return not self.ctx.v.callees(call)
        if _alone(call):  # without a target it is another loss that is called here
            return False
        made = [o.key.func for o in self.ctx.v.of(call.func) if o.kind == "call" and isinstance(o.key, ast.Call)]
        return any(last_name(func) in self.spelled and torchs_name(self.m, func) == "BCELoss" for func in made)

    def _statement(self, stmt: ast.stmt, calls: list[ast.Call]) -> EntropyStatement:
        m = self.m
        held = [o for c in calls for o in self.ctx.v.of(c.func) if o.kind != "path" and not self._takes_one(o)]
        others = [o for o in held if not o.label.endswith("Loss") and o.label not in self.spelled]
        if others and not all(torchs_name(m, c.func) == "binary_cross_entropy" for c in calls):
            raise self._manual(calls[0], "may be BCELoss or something else, which has to stay under autocast")
        if not isinstance(stmt, _SIMPLE) or (isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Yield)):
            raise self._manual(calls[0], "is called in the header of a block")
        for call in calls:
            if any(isinstance(a, ast.Lambda) and m.inside(a, stmt) for a in m.ancestors(call)):
                raise self._manual(call, "stands in a lambda here")
        if not m.owns_lines(stmt):
            raise self._manual(calls[0], "shares its line with other statements")
        if any(m.inside(c, h.expr) for h in self.planner.hoists for c in calls):
            raise self._manual(calls[0], "is called in the argument of scale_loss")
        other_work = self._other_work(stmt, calls)
        free = self._free_names("bce")
        found = [self._one(c) for c in calls]
        names = tuple(next(free) for _ in calls) if other_work else None
        moved = [c.call for c in found if names or c.lifted]
        for call in moved:
            if not self._unconditional(call, stmt):
                raise self._manual(call, "stands in a condition or a comprehension here")
        return EntropyStatement(stmt, tuple(found), names)

    def _takes_one(self, obj: Obj) -> bool:
        """Whether something is a module of torch that is called with one tensor: it is not what is handed a target."""
        made = obj.key.func if obj.kind == "call" and isinstance(obj.key, ast.Call) else None
        return made is not None and torchs_name(self.m, made) in ONE_TENSOR

    def _one(self, call: ast.Call) -> Entropy:
        prediction, target = argument(call, 0, "input"), argument(call, 1, "target")
        if prediction is None or isinstance(prediction, ast.Starred):
            raise self._manual(call, "is called with arguments that cannot be told apart here")
        rest = [a for a in [*call.args, *(k.value for k in call.keywords)] if a is not prediction]
        if any(self._computes(a) for a in rest):
            raise self._manual(call, "has a model call among its other arguments")
        lifted = next(self._free_names("prediction")) if self._computes(prediction) else None
        held = self.precision.value(target).flat if target is not None else frozenset()
        return Entropy(
            call,
            prediction,
            target,
            prediction_float=not _ends_in_float(prediction) and self.precision.value(prediction).flat != {FLOAT},
            target_float=target is not None
            and not _ends_in_float(target)
            and (bool(held & {HALF, MAYBE}) or (_is_like(target) and held != {FLOAT})),
            lifted=lifted,
        )

    def _free_names(self, name: str) -> Iterator[str]:
        number = 1
        while True:
            free = name if number == 1 else f"{name}_{number}"
            if free not in self.names:
                self.names.add(free)
                yield free
            number += 1

    def _computes(self, expr: ast.expr) -> bool:
        """Whether an argument runs the model, or something that autocast runs in float32."""
        return any(
            isinstance(n, ast.Call)
            and not self._entropy(n)
            and (called_name(n) in operations.FLOAT_PREDICTIONS or self._strong(n))
            for n in walk_now(expr)
        )

    def _strong(self, call: ast.Call) -> bool:
        compute = self.planner.compute
        if not compute.strong(call):
            return False
        # a loss that the model's own class holds is no forward
        return not any(o.kind == "call" and o.label.endswith("Loss") for o in self.ctx.v.of(call.func))

    def _other_work(self, stmt: ast.stmt, calls: list[ast.Call]) -> bool:
        """Whether a statement computes anything beside its binary cross entropies that autocast matters for."""
        below = {n for c in calls for n in walk(c) if isinstance(n, ast.expr)}
        compute = self.planner.compute
        for n in walk_now(stmt):
            if n in below:
                continue
            if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Pow, ast.MatMult)):
                return True
            if isinstance(n, ast.Call) and not any(m in below for m in walk(n.func)):
                name = called_name(n)
                if name in ("mean", "sum", "append") and any(c in below for c in walk(n)):
                    continue
                if self._strong(n) or compute.weak(ast.Expr(value=n)):
                    return True
        return False

    def _unconditional(self, node: ast.AST, stmt: ast.stmt) -> bool:
        """Whether ``node`` is always evaluated, once, when ``stmt`` runs."""
        for outer in self.m.ancestors(node):
            if outer is stmt:
                return True
            if isinstance(outer, (ast.IfExp, ast.BoolOp, ast.comprehension)):
                return False
            if isinstance(outer, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
                return False
        return False

    def _manual(self, call: ast.Call, why: str) -> Manual:
        device = self.ctx.settings.device_type
        return Manual(
            call,
            f"`{self.m.src(call.func)}` (binary cross entropy) is an error under autocast on CUDA, and it {why}",
            f'compute the prediction first, then: with torch.autocast("{device}", enabled=False): '
            f"loss = {self.m.src(call.func)}(prediction.float(), target)",
        )


# ---------------------------------------------------------------- words and small questions


def _said_output(bfloat16: bool) -> str:
    kind = "bfloat16, which numpy does not know" if bfloat16 else "float16"
    return (
        f"results leave autocast in {kind}; Apex handed them on in float32 (its patched Tensor.cpu(), or O2's cast of "
        "the model's outputs), now .float() does"
    )


_SAID_NAMED = (
    "this may be a half result, and by its name it is a floating one: Apex handed it on in float32, now .float() does"
)


def _named_floating(expr: ast.expr) -> bool:
    """Whether what leaves, or what it is made like (``torch.empty_like(x)``), is called as a floating result is."""
    match expr:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return floating(name)
        case ast.Call(args=[first, *_]) if called_name(expr) in operations.LIKE:
            return _named_floating(first)
        case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(value=value, attr="detach" | "clone" | "data")):
            return _named_floating(value)
        case _:
            return False


def _said_island(settings: Settings) -> str:
    return (
        "this product ran in float32 under O2 and O3, as its factors were turned into float32; under autocast it runs "
        f'in {settings.dtype}: to keep it, put it under torch.autocast("{settings.device_type}", enabled=False)'
    )


def _said_doubt(bfloat16: bool) -> str:
    kind = "bfloat16, which numpy does not know" if bfloat16 else "float16"
    return (
        f"this may be a result in {kind}, which Apex handed on in float32: where it is a floating result of the model, "
        "write .float() before .cpu()"
    )


def _to_float(call: ast.AST) -> bool:
    """``.to(torch.float32)``, ``.astype(np.float32)``: what was half is float32 again."""
    assert isinstance(call, ast.Call)
    texts = [ast.unparse(a) for a in [*call.args, *(k.value for k in call.keywords)]]
    return any(t.strip("'\"").split(".")[-1] in operations.NO_HALF_TYPES for t in texts)


def _exact_constant(expr: ast.expr) -> bool:
    """Whether a number is the same in float16."""
    if not (isinstance(expr, ast.Constant) and isinstance(expr.value, (int, float))):
        return False
    try:
        return bool(struct.unpack("e", struct.pack("e", expr.value))[0] == expr.value)
    except OverflowError:
        return False


def _widened_by_o1(node: ast.AST) -> bool:
    """Whether O1 ran a product of two types in the wider one, as it runs with ``.float()``: nothing differs."""
    return not multiplied(node) and bool(multiplied(node, operations.O1_OF_ONE_TYPE))


def _ends_in_float(expr: ast.expr) -> bool:
    return isinstance(expr, ast.Call) and isinstance(expr.func, ast.Attribute) and expr.func.attr == "float"


def _is_like(expr: ast.expr) -> bool:
    return any(isinstance(n, ast.Call) and called_name(n) in operations.LIKE for n in walk(expr))


def _splat(m: Module, operand: ast.expr) -> bool:
    """Whether an argument is handed on as several: ``*xs``, ``**batch``."""
    above = m.parent[operand]
    return isinstance(operand, ast.Starred) or (isinstance(above, ast.keyword) and above.arg is None)
