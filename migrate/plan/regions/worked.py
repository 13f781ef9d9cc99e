"""What a statement computes on the results of a model where O1's casts reached it."""

from __future__ import annotations

import ast
import builtins
from functools import cached_property

from ...facts.names import called_name
from ...facts.networks import sober_elsewhere, widens_elsewhere
from ...facts.usual_names import dotted
from ...knowledge.host import HOST_WORK
from ...knowledge.operations import NATIVE_FLOAT, NATIVE_HALF, NO_CASTS
from ...knowledge.results import FLOAT_WORK
from ...knowledge.results import makes_loss as called_loss
from ...nodes import walk
from ...units.compute import Compute, walk_now
from ...units.slices import Slices
from ...units.unit import Context, Unit

# Operations of torch by which a loss is made; a sum of losses that are there is none.
_CASTED = (NATIVE_HALF | NATIVE_FLOAT) - {"sum"}


class Worked:
    """Asks what the statements of one unit compute."""

    def __init__(self, ctx: Context, unit: Unit, compute: Compute, slices: Slices) -> None:
        self.ctx, self.unit, self.compute, self.slices = ctx, unit, compute, slices

    @cached_property
    def model_alone(self) -> bool:
        """Whether Apex cast models only, and handed on their results in float32 (O2 and O3)."""
        levels = frozenset[str]().union(*(o.levels for o in self.unit.options.values()))
        return bool(levels) and levels <= {"O2", "O3"}

    def makes_loss(self, stmt: ast.stmt, tainted: set[str]) -> bool:
        """Whether a statement computes a loss of model outputs."""
        calls = [n for n in walk_now(stmt) if isinstance(n, ast.Call) and self.slices.reads(n) & tainted]
        if any(called_loss(ast.unparse(c.func).rpartition(".")[2]) for c in calls):
            return True
        return any(self._of_a_loss(c) for c in calls if self._is_handed(c, tainted))

    def _of_a_loss(self, call: ast.Call) -> bool:
        """Whether what is called is of a class that is a loss by its name."""
        held = (o for o in self.ctx.v.of(call.func) if o.kind in ("call", "instance"))
        return any(o.label.endswith("Loss") for o in held)

    def casted(self, stmt: ast.stmt, tainted: set[str]) -> bool:
        """Whether O1's casts reached what a statement computes on model outputs; of O2 and O3, whether it is a loss."""
        return self.makes_loss(stmt, tainted) or (not self.model_alone and self.float_work(stmt, tainted))

    def calls_loss(self, stmt: ast.stmt) -> bool:
        """Whether a statement calls what is a loss by its name, or by that of its class (``self.cri_pix``); not where
        it makes one (``nn.L1Loss()``)."""
        for call in (n for n in walk_now(stmt) if isinstance(n, ast.Call)):
            name = ast.unparse(call.func).rpartition(".")[2]
            if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
                continue  # ``nn.L1Loss().cuda()``
            if (called_loss(name) and not name[:1].isupper()) or self._of_a_loss(call):
                return True
        return False

    def widened_elsewhere(self, stmt: ast.stmt, tainted: set[str]) -> bool:
        """Whether a statement hands results to code of another file that computes what O1 ran in float32, or asks an
        object for it that was handed some."""
        if self.model_alone:
            return False
        calls = [n for n in walk_now(stmt) if isinstance(n, ast.Call) and self._is_handed(n, tainted)]
        return any(widens_elsewhere(self.ctx.v, call, self.ctx.facts.elsewhere) for call in calls)

    def _is_handed(self, call: ast.Call, tainted: set[str]) -> bool:
        """Whether a call is handed results, or calls a method of theirs; numbers that were made of them are none."""
        given = [call.func, *call.args, *(keyword.value for keyword in call.keywords)]
        return any(self.slices.reads(one) & tainted and not is_number(one) for one in given)

    def float_work(self, stmt: ast.stmt, tainted: set[str]) -> bool:
        """Whether a statement computes on model outputs in a way that O1's casts reached: losses, functions of torch,
        products, functions of the project."""
        if self.widened_elsewhere(stmt, tainted):
            return True
        for node in walk_now(stmt):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
                return True
            if not isinstance(node, ast.Call) or not self._is_handed(node, tainted):
                continue
            func, name = node.func, called_name(node)
            if HOST_WORK.fit(name) or sober_elsewhere(self.ctx.v, node, self.ctx.facts.elsewhere):
                continue
            if FLOAT_WORK.fit(name) and name != "log":
                return True
            module = dotted(func.value) if isinstance(func, ast.Attribute) else ""
            of_torch = module in ("torch", "F", "nn.functional", "torch.nn.functional", "th")
            if of_torch and name in NO_CASTS:
                continue
            if of_torch and self.compute.weak(node):
                return True
            if isinstance(func, ast.Name) and self.compute.weak(node) and not hasattr(builtins, name):
                return True
        return False


def float_calls(expr: ast.expr) -> bool:
    """Whether an expression calls a loss, or what else O1's casts reached by its name."""
    for n in walk_now(expr):
        if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Pow, ast.MatMult)):
            return True
        if isinstance(n, ast.Call) and not _averages(n):
            name = n.func.attr if isinstance(n.func, ast.Attribute) else ""
            if FLOAT_WORK.fit(ast.unparse(n.func)) or name in _CASTED:
                return True
    return False


def _averages(call: ast.Call) -> bool:
    """``loss.mean()`` of a loss by its name: no list casts a mean."""
    func = call.func
    return isinstance(func, ast.Attribute) and func.attr == "mean" and isinstance(func.value, (ast.Name, ast.Attribute))


def leaves_torch(stmt: ast.stmt) -> bool:
    """Whether an assignment takes a result to numpy or to Python's own numbers and lists, or to whole numbers."""
    if not isinstance(stmt, (ast.Assign, ast.AugAssign, ast.AnnAssign)) or stmt.value is None:
        return False
    if isinstance(stmt, ast.Assign) and is_number(stmt.value):
        return True
    calls = [n for n in walk(stmt.value) if isinstance(n, ast.Call)]
    return any(isinstance(c.func, ast.Attribute) and c.func.attr in ("numpy", "tolist", "item") for c in calls)


#: What gives whole numbers, or numpy's, of which O1 casts none.
_WHOLE = frozenset({"argmax", "argmin", "argsort", "nonzero", "long", "int", "bool", "numpy"})


def is_number(expr: ast.expr) -> bool:
    """Whether an expression is Python's own number, or several, whole numbers in a tensor, or numpy's: no cast touches
    what comes behind."""
    match expr:
        case ast.Constant() | ast.Attribute(attr="indices") | ast.Compare():
            return True
        case ast.Call(func=ast.Attribute(attr=name)) if name in _WHOLE:
            return True
        case ast.Call(func=ast.Attribute(value=one, attr="cpu" | "detach" | "squeeze")):
            return is_number(one)
        case ast.Call(func=ast.Attribute(attr="item" | "tolist")) | ast.Call(func=ast.Name(id="float" | "int" | "len")):
            return True
        case ast.Call(func=ast.Name(id="sum" | "max" | "min"), args=[one]):
            return is_number(one.elt if isinstance(one, ast.GeneratorExp) else one)
        case ast.ListComp(elt=one) | ast.UnaryOp(operand=one):  # a generator by itself runs once somebody asks it
            return is_number(one)
        case ast.BinOp(left=one, right=other) | ast.IfExp(body=one, orelse=other):
            return is_number(one) and is_number(other)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return all(map(is_number, parts))
        case _:
            return False
