"""Models that one region runs without gradients first, and then with them.

Autocast keeps the half copies of weights until a region ends. In torch before 2.11 a copy that was made without
gradients is handed to the forward that needs them, and the weight gets none (pytorch issues 65766, 105211, 112583).
Apex noticed such a copy and made another.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter

from ...facts.gradless import no_gradient
from ...facts.names import called_name
from ...flow.objects import Obj
from ...knowledge.models import NOT_RUN_BY_METHOD
from ...nodes import walk
from ...units.compute import Compute
from ...units.translate import passed
from ...units.unit import Context, Unit

MAX_DEPTH, MAX_CALLS = 6, 300
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_LATER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

Key = tuple[Obj, str]  # a model that is called, and how it or its part is named where the region stands
Arm = tuple[tuple[ast.AST, ...], ast.If, bool]  # of an `if`, on the way of calls that leads to it


@dataclass(frozen=True)
class Run:
    """A call that runs ``keys``, with gradients or ``off``, in these arms of conditions."""

    call: ast.Call
    keys: frozenset[Key]
    off: bool
    arms: tuple[Arm, ...]


@dataclass(frozen=True)
class _Frame:
    """Where a call stands: without gradients or with them, in the model that was called, with these parameters."""

    off: bool = False
    owners: frozenset[Obj] = frozenset()
    names: Mapping[str, tuple[str, frozenset[Obj]]] = field(default_factory=dict)  # parameters: what they stand for
    path: tuple[ast.AST, ...] = ()  # calls and the functions that they run, alternately
    arms: tuple[Arm, ...] = ()


def kept_copy(made: Iterable[Run]) -> tuple[Run, Run] | None:
    """The first run without gradients that another one with them may follow, of the same model."""
    off: dict[Key, list[tuple[int, Run]]] = defaultdict(list)
    for number, run in enumerate(made):
        if run.off:
            for key in run.keys:
                off[key].append((number, run))
            continue
        before = [one for key in run.keys for one in off[key] if _together(one[1], run)]
        if before:
            return min(before, key=itemgetter(0))[1], run
    return None


def _together(one: Run, other: Run) -> bool:
    """Whether one pass through the code may make both: they stand in no two arms of one condition."""
    taken = {(path, stmt): arm for path, stmt, arm in one.arms}
    return all(taken.get((path, stmt), arm) is arm for path, stmt, arm in other.arms)


def review_kept_copies(ctx: Context, unit: Unit, scan: Scan, regions: Iterable[list[ast.stmt]]) -> None:
    """Names the regions that run a model without gradients and then with them inside one function."""
    for stmts in regions:
        kept = kept_copy(scan.runs(stmts))
        if kept is not None:
            unit.review(
                stmts[0],
                "APX038",
                f"in here `{ctx.m.src(kept[0].call)}` runs a model without gradients, and later "
                f"`{ctx.m.src(kept[1].call)}` runs it with them: torch before 2.11 gives its weights no gradients "
                "then, as autocast keeps their half copies; call torch.clear_autocast_cache() between the two there",
            )


class Scan:
    """Follows the statements of a region through the functions of the program, so many calls of them at the most."""

    def __init__(self, ctx: Context, compute: Compute) -> None:
        self.ctx, self.compute, self.left = ctx, compute, MAX_CALLS
        self._off: dict[ast.AST, bool] = {}
        self._made: dict[tuple[ast.stmt, ...], list[Run]] = {}

    def runs(self, stmts: list[ast.stmt]) -> list[Run]:
        """The runs of models that statements make, by themselves and in functions that they call, in the text's order;
        none where all of these have gradients."""
        if not any(map(self.may_be_off, stmts)):
            return []
        key = tuple(stmts)
        if key not in self._made:  # regions are joined anew whenever one more is marked
            self.left = MAX_CALLS
            self._made[key] = list(self._block(stmts, _Frame()))
        return self._made[key]

    def may_be_off(self, node: ast.AST) -> bool:
        """Whether gradients are switched off somewhere in a piece of code, or in a function that it may call."""
        if node not in self._off:
            todo, met = [node], {node}
            while todo:
                at = todo.pop()
                if _switches_off(at):
                    self._off[node] = True
                    return True
                calls = (call for call in walk(at) if isinstance(call, ast.Call))
                new = {function for call in calls for function in self.ctx.v.callees(call)} - met
                met |= new
                todo += new
            self._off |= dict.fromkeys(met, False)
        return self._off[node]

    def _block(self, stmts: list[ast.stmt], at: _Frame) -> Iterator[Run]:
        for stmt in stmts:
            yield from self._runs(stmt, at)
            if _ends(stmt):
                return
            if isinstance(stmt, ast.If) and (_ends(stmt.body[-1]) or (stmt.orelse and _ends(stmt.orelse[-1]))):
                at = replace(at, arms=(*at.arms, (at.path, stmt, not _ends(stmt.body[-1]))))

    def _runs(self, node: ast.AST, at: _Frame) -> Iterator[Run]:
        if isinstance(node, _LATER):
            return
        if isinstance(node, (ast.With, ast.AsyncWith)) and any(no_gradient(item.context_expr) for item in node.items):
            at = replace(at, off=True)
        for name, value in ast.iter_fields(node):
            inner = at
            if isinstance(node, ast.If) and name in ("body", "orelse"):
                inner = replace(at, arms=(*at.arms, (at.path, node, name == "body")))
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from self._block(value, inner)
            else:
                for child in value if isinstance(value, list) else [value]:
                    if isinstance(child, ast.AST):
                        yield from self._runs(child, inner)
        if isinstance(node, ast.Call):
            yield from self._called(node, at)

    def _called(self, call: ast.Call, at: _Frame) -> Iterator[Run]:
        owners = self._models(call.func, at)
        if isinstance(call.func, ast.Attribute) and not owners:
            owners = self._models(call.func.value, at)
        if at.owners and _of_self(call.func):
            owners = at.owners  # of the same class may be several, and their parts are made in one place
        functions = [f for f in self.ctx.v.callees(call) if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))]
        for function in functions:
            if function not in at.path and len(at.path) < 2 * MAX_DEPTH and self.left > 0:
                self.left -= 1
                off = at.off or any(map(no_gradient, function.decorator_list))
                names = self._handed(call, function, at)
                inner = _Frame(off, owners, names, (*at.path, call, function), at.arms)
                yield from self._block(function.body, inner)
        own = isinstance(call.func, ast.Attribute) and _of_self(call.func)
        part = own and not NOT_RUN_BY_METHOD.fit(called_name(call))
        if not functions and owners and (part or self.compute.runs_model(call)):
            said = self._said(call.func, at)
            keys = ((o, said if (own and at.owners) or o.kind == "instance" else "") for o in owners)
            yield Run(call, frozenset(keys), at.off, at.arms)

    def _models(self, expr: ast.expr, at: _Frame) -> frozenset[Obj]:
        """The models that an expression may be; a parameter is what this call handed over."""
        held = self.ctx.v.of(expr)
        if isinstance(expr, ast.Name) and expr.id in at.names:
            held &= at.names[expr.id][1] or held
        return frozenset(o for o in held if self.compute.is_model(frozenset({o})))

    def _handed(
        self, call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, at: _Frame
    ) -> dict[str, tuple[str, frozenset[Obj]]]:
        """What a function's parameters stand for in a call of it: how the caller names that, and the models it is."""
        scope = self.ctx.m.scope_of[function]
        found: dict[str, tuple[str, frozenset[Obj]]] = {}
        for name in scope.params:
            value = passed(self.ctx, call, scope, name)
            if value is not None:
                found[name] = (self._said(value, at), self._models(value, at))
        own = self.ctx.m.self_name(scope)
        if own is not None:
            method = isinstance(call.func, ast.Attribute) and call.func.attr == function.name
            found[own] = (self._said(call.func.value if method else call.func, at), frozenset())  # type: ignore[attr-defined]
        return found

    def _said(self, expr: ast.expr, at: _Frame) -> str:
        """An expression in the words of the place where the region stands."""
        root = expr
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        text = self.ctx.m.src(expr).replace("super()", "self")
        if isinstance(root, ast.Call) and "self" in at.names:
            return at.names["self"][0] + text.removeprefix("self")
        if isinstance(root, ast.Name) and root.id in at.names:
            return at.names[root.id][0] + text.removeprefix(root.id)
        return text


def _ends(stmt: ast.stmt) -> bool:
    """Whether nothing of its block runs behind a statement."""
    if isinstance(stmt, ast.If):
        return bool(stmt.orelse) and _ends(stmt.body[-1]) and _ends(stmt.orelse[-1])
    return isinstance(stmt, _ENDS) or (isinstance(stmt, (ast.With, ast.AsyncWith)) and _ends(stmt.body[-1]))


def _switches_off(code: ast.AST) -> bool:
    for node in walk(code):
        if isinstance(node, (ast.With, ast.AsyncWith)) and any(no_gradient(item.context_expr) for item in node.items):
            return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and any(map(no_gradient, node.decorator_list)):
            return True
    return False


def _of_self(func: ast.expr) -> bool:
    """``self.net``, ``self.layers[0]``: a part of the object whose method this is."""
    part = func
    while isinstance(part, (ast.Attribute, ast.Subscript)):
        part = part.value
    return part is not func and isinstance(part, ast.Name) and part.id == "self"
