"""The autocast regions of a unit.

Training: for each scaled loss, the run of statements from the first model call of its backward slice
to the last statement that computes it; where the loss comes in as a parameter or an attribute, the
slice goes on in the callers. Everything else that calls the model (evaluation) ran under O1's global
patch too, and gets a region of its own. Autocast is dynamically scoped: the outermost statements are
wrapped, never the callee. Backward, steps and zero_grad stay outside.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Set

from ...facts.names import called_name
from ...facts.scopes import Block, Scope
from ...knowledge.results import FLOAT_WORK
from ...nodes import walk
from ...units.compute import Compute, generates, runs_later, walk_now
from ...units.events import reaching
from ...units.order import NOT_YET, ON, Order
from ...units.references import handed_on, handed_to
from ...units.slices import Slices
from ...units.translate import collected, passed
from ...units.unit import Context, Manual, Unit
from ..called_by_python import called_by_python
from . import lazy
from .gradless import Scan
from .joined import Joined, end, start
from .marks import SCOPES, Hoist, Marks, Region
from .penalties import of_weights
from .put_away import stored
from .swapped import Swapped
from .tight import own_autocast
from .uncast import uncast
from .worked import Worked, float_calls, is_number, leaves_torch

MAX_CLIMB = 4
# Statements between two computations on results, up to which one region holds both.
MAX_GAP = 4
MOST_BETWEEN = 10  # of any
_GO_THROUGH = frozenset("list tuple sum max min set".split())
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension)
# Functions that hand on one by one what they go through.
PASSING = frozenset("enumerate tqdm trange iter list tuple reversed".split())


_UNCAST = (
    "casts are switched off around some calls that lead here, so no region is around this: by way of the others it ran "
    "under Apex's casts, where amp was initialized, and now runs in float32"
)


class Planner:
    """Plans the regions of one unit."""

    def __init__(self, ctx: Context, unit: Unit) -> None:
        self.ctx, self.unit = ctx, unit
        self.compute = Compute(ctx, unit)
        self.slices = Slices(ctx)
        self.order = Order(ctx, unit)
        self.swapped = Swapped(ctx)
        self.scan = Scan(ctx, self.compute)
        self.joined = Joined(ctx, self.compute, self.scan, self.swapped)
        self.worked = Worked(ctx, unit, self.compute, self.slices)
        self.regions: list[Region] = []
        self.hoists: list[Hoist] = []
        self.ahead: list[ast.Call] = []  # calls of models that run before mixed precision is switched on
        self._hoisted: set[ast.AST] = set()
        self._spans: dict[Scope, list[tuple[int, int]]] | None = None  # of the regions of each function, in order
        self._marks: dict[int, Marks] = {}
        self._climbed: dict[tuple[int, frozenset[str]], bool] = {}
        self._climbed_from: dict[ast.Call, int] = {}

    @property
    def statements(self) -> list[ast.stmt]:
        """The first statement of each region, and those of hoisted losses."""
        return [*(r.block.body[r.first] for r in self.regions), *(h.stmt for h in self.hoists)]

    def plan(self) -> None:
        """All regions; raises Manual where the forward of a scaled loss is not found."""
        lazy.check(self.ctx, self.compute)
        for scale in self.unit.scales:
            self._training(scale.call, scale.loss, scale.with_ is not None)
        self._join()
        if self.ctx.settings.eval == "autocast":
            self._evaluation()
        elsewhere = not self.unit.scales and self.ctx.facts.scales  # casts that another unit's regions stand for
        if not self.regions and not self.hoists and not elsewhere:
            raise Manual(
                self.unit.line_node,
                "no call of the model was found in this file, so there is nothing to put under autocast",
                'wrap the forward pass: with torch.autocast("cuda", dtype=torch.float16): …',
            )

    # ------------------------------------------------------------ training

    def _training(self, site: ast.Call, loss: ast.expr | None, of_model: bool = True) -> None:
        if loss is None:
            raise Manual(site, "scale_loss without a loss that can be read here")
        stmt = self.ctx.m.statement(site)
        if of_model and of_weights(self.ctx, self.compute, stmt, loss):
            return
        found = self._sink(stmt, loss, "scaled loss", 0)
        if not found:
            for put in stored(self.ctx, stmt, loss):
                found |= self._put(put)
        if not (found or not of_model or self._kept_by_an_object(stmt, loss)):
            raise Manual(
                site,
                f"where `{ast.unparse(loss)}` comes from is not known: no call of the model was found that leads to it",
                'put the forward and the loss under torch.autocast("cuda", dtype=torch.float16) where they are '
                "computed",
            )

    def _kept_by_an_object(self, stmt: ast.stmt, loss: ast.expr) -> bool:
        """Whether the loss is made of what an object was told of the model's results: ``policy.update(log_prob)``."""
        self._climbed, self.slices.loose = {}, True
        try:
            return self._sink(stmt, loss, "scaled loss", 0)
        finally:
            self._climbed, self.slices.loose = {}, False

    def _put(self, stmt: ast.stmt) -> bool:
        """Mark a statement that puts the loss away, and what leads to it."""
        block, index = self.ctx.m.place[stmt]
        found = self._mark(block, [index], "scaled loss")
        return self._slice(stmt, self.slices.reads(stmt), "scaled loss", 1) or found

    def _sink(self, stmt: ast.stmt, expr: ast.expr, why: str, depth: int) -> bool:
        """Mark what computes ``expr``, used by ``stmt``; True where a model call was found."""
        if self.compute.forwards(expr):
            if not self._always(stmt, expr):
                raise Manual(expr, "the model is called in the statement that also runs a backward or step")
            passed_on = depth > 0 and isinstance(expr, ast.Call) and self.compute.runs_model(expr)
            self._hoist(stmt, expr, "output" if passed_on else "loss")
            return True
        found = self._slice(stmt, self.slices.reads(expr), why, depth)
        if found and float_calls(expr):
            self._hoist(stmt, expr)
        return found

    def _without_apex(self, expr: ast.expr) -> ast.expr:
        """A loss that moves, without a factor behind it that Apex says (its scale): that is asked where it was."""
        m = self.ctx.m
        use = next((one for one in self.ctx.facts.uses if m.inside(one, expr)), None)
        match expr:
            case _ if use is None:
                return expr
            case ast.BinOp(left=loss, op=ast.Mult() | ast.Div(), right=factor) if m.inside(use, factor):
                return self._without_apex(loss)
            case ast.List(elts=losses) | ast.Tuple(elts=losses):
                run = [one for one in losses if self.compute.forwards(one)]
                if len(run) == 1:
                    return self._without_apex(run[0])
            case _:
                pass
        raise Manual(
            use,
            "Apex is asked within a loss that has to be computed ahead of its statement, under autocast",
            "compute the loss in a statement of its own, above the block",
        )

    def _hoist(self, stmt: ast.stmt, expr: ast.expr, wish: str = "loss") -> None:
        expr = self._without_apex(expr)
        if expr in self._hoisted:
            return
        self._hoisted.add(expr)
        taken = {*self.ctx.m.function(stmt).names, *(h.name for h in self.hoists if h.stmt is stmt)}
        name, number = wish, 1
        while name in taken:
            number += 1
            name = f"{wish}_{number}"
        if isinstance(expr, ast.NamedExpr):
            name = expr.target.id  # it has one
        self.hoists.append(Hoist(stmt, expr, name))

    def _slice(self, stmt: ast.stmt, needed: set[str], why: str, depth: int) -> bool:
        """Walk backwards from ``stmt`` through its blocks and mark the statements that lead to ``needed``."""
        m = self.ctx.m
        found = False
        needed = set(needed)
        for at in m.spine(stmt):
            block, index = m.place[at]
            if at is not stmt and isinstance(at, (ast.For, ast.AsyncFor)) and self._loop(at, needed, why, depth):
                return True
            chosen: list[int] = []
            last = index
            while last and (i := self.slices.above(block, last, needed)) is not None:
                last, before = i, block.body[i]
                if self._other_arm(before):
                    continue
                needed -= self.slices.certain(before)
                needed |= self.slices.reads(before)
                if self.order.states(before) != {NOT_YET}:
                    chosen.append(i)
            found |= bool(chosen) and self._mark(block, sorted(chosen), why)
            if found and isinstance(block.owner, (ast.For, ast.AsyncFor, ast.While)):
                return True
        if found:
            return True
        return self._climb(m.function(stmt), needed, why, depth)

    def _loop(self, loop: ast.For | ast.AsyncFor, needed: set[str], why: str, depth: int) -> bool:
        """A loop hands out what is ``needed``: a generator computes it between its rounds, anything else before."""
        targets = self.slices.defines(ast.Assign(targets=[loop.target], value=ast.Constant(value=None)))
        if not targets & needed:
            return False
        made = _unwrapped(loop.iter)
        generators = [c for c in self.ctx.v.callees(made) if generates(c)] if isinstance(made, ast.Call) else []
        found = False
        for function in generators:
            same = made is loop.iter  # not `enumerate(…)`, whose targets are others
            found |= self._yielded(function, loop.target if same else None, needed, why, depth + 1)
        if found:
            return True
        if not generators and self.compute.forwards(loop.iter):
            self._hoist(loop, loop.iter, "losses")
            return True
        needed |= self.slices.reads(loop.iter)
        return False

    def _yielded(
        self, function: ast.AST, target: ast.expr | None, needed: set[str], why: str, depth: int
    ) -> bool:
        """What a generator yields for ``needed`` names of a loop's target is computed under autocast inside of it."""
        if depth > MAX_CLIMB:
            return False
        found = False
        for node in walk_body(self.ctx.m.scope_of[function]):
            if isinstance(node, ast.YieldFrom):
                inner = self.ctx.v.callees(node.value) if isinstance(node.value, ast.Call) else []
                found |= any(self._yielded(c, target, needed, why, depth + 1) for c in inner if generates(c))
            elif isinstance(node, ast.Yield) and node.value is not None:
                parts = [node.value]
                if isinstance(node.value, ast.Tuple) and isinstance(target, ast.Tuple):
                    if len(node.value.elts) == len(target.elts):
                        pairs = zip(target.elts, node.value.elts, strict=True)
                        parts = [e for t, e in pairs if {n.id for n in walk(t) if isinstance(n, ast.Name)} & needed]
                stmt = self.ctx.m.statement(node)
                for part in parts:
                    found |= self._sink(stmt, part, why, depth)
        return found

    def _other_arm(self, stmt: ast.stmt) -> bool:
        return isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom))

    def _mark(self, block: Block, chosen: list[int], why: str) -> bool:
        """Mark the runs of one block's slice; True where one of them calls the model."""
        compute = self.compute
        strong = [i for i in chosen if compute.forwards(block.body[i])]
        weak = [i for i in chosen if compute.weak(block.body[i]) and not compute.forbidden(block.body[i])]
        strong_free = [i for i in strong if not compute.forbidden(block.body[i])]
        inner = [i for i in strong if i not in strong_free]
        for i in inner:
            self._nested(block.body[i], why)
        if strong_free:
            first = min([*strong_free, *(i for i in weak if self.worked.calls_loss(block.body[i]))])
            last = max([*strong_free, *(i for i in weak if i >= first)])
        elif self._has_calls(weak, block):
            first, last = weak[0], weak[-1]
        else:
            return bool(inner)
        for low, high in self._split(block, first, last, set(strong_free) | set(weak)):
            self._span(block, low, high, why)
        return bool(strong)

    def _nested(self, stmt: ast.stmt, why: str) -> None:
        """A statement that holds both the forward and something forbidden: mark inside of it."""
        for name in ("body", "orelse", "finalbody"):
            body = getattr(stmt, name, None)
            if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                block = self.ctx.m.block(body[0])
                self._mark(block, list(range(self._until_trained(body))), why)

    def _until_trained(self, body: list[ast.stmt]) -> int:
        """The first statement of a block that runs a backward or a step, behind the last that calls the model: what
        comes after it (a clip, a log) leads to no loss."""
        trains = reaching(self.ctx, self.unit)
        moments = {moment.call for moment in self.unit.moments}
        last = max((i for i, stmt in enumerate(body) if self.compute.forwards(stmt)), default=len(body))
        for i in range(last + 1, len(body)):
            calls = (n for n in walk_now(body[i]) if isinstance(n, ast.Call))
            if any(call in moments or not trains.isdisjoint(self.ctx.v.callees(call)) for call in calls):
                return i
        return len(body)

    def _has_calls(self, weak: list[int], block: Block) -> bool:
        """Whether weak computation is on this unit's loss way at all (a criterion), not only data preparation."""
        return any(
            isinstance(n, ast.Call) and FLOAT_WORK.fit(ast.unparse(n.func))
            for i in weak
            for n in walk_now(block.body[i])
        )

    def _split(self, block: Block, first: int, last: int, wanted: set[int]) -> list[tuple[int, int]]:
        """Runs of statements between what must stay outside; each begins and ends with a wanted one."""
        runs: list[tuple[int, int]] = []
        start: int | None = None
        end = first
        for i in range(first, last + 1):
            if self.compute.forbidden(block.body[i]) or isinstance(block.body[i], SCOPES):
                if start is not None:
                    runs.append((start, end))
                start = None
            elif i in wanted:
                start = i if start is None else start
                end = i
        if start is not None:
            runs.append((start, end))
        return runs

    def _span(self, block: Block, low: int, high: int, why: str) -> None:
        marks = self._marks.setdefault(id(block.body), Marks(block))
        marks.spans.append((low, high, why))

    def _climb(self, scope: Scope, needed: set[str], why: str, depth: int) -> bool:
        """The slice left the function: go on in its callers, with arguments for parameters."""
        ctx, m = self.ctx, self.ctx.m
        key = (id(scope), frozenset(needed))
        if key in self._climbed:
            return self._climbed[key]
        if depth >= MAX_CLIMB or not scope.is_function:
            return False
        self._climbed[key] = False  # recursion
        calls = ctx.v.calls[scope.node]
        first = m.self_name(scope)
        wanted = {n for n in needed if n in scope.params and n != first}
        attributes = {n for n in needed if first and n.startswith(f"{first}.")}
        found: list[bool] = []
        for call in calls:
            stmt = m.statement(call)
            within = self._lambda_around(call)
            hit = within is not None and self._through_lambda(within, call, scope, wanted, why, depth)
            for name in sorted(wanted):
                for each in collected(ctx, call, scope, name):
                    if not isinstance(each, ast.Constant) and self._may_be_loss(each):
                        hit |= self._sink(stmt, each, why, depth + 1)
                arg = passed(ctx, call, scope, name)
                deep = {n for n in needed if n.startswith(f"{name}.")}
                if deep and isinstance(arg, (ast.Name, ast.Attribute)):  # an object that holds the loss
                    moved = {ast.unparse(arg) + n[len(name) :] for n in deep}
                    hit |= self._slice(stmt, moved, why, depth + 1)
            if attributes and isinstance(call.func, ast.Attribute):
                base = ast.unparse(call.func.value)
                moved = {base + n[len(first or "") :] for n in attributes}
                hit |= self._slice(stmt, moved, why, depth + 1)
            found.append(hit)
        self._climbed[key] = any(found)
        return any(found)

    def _through_lambda(
        self, within: ast.Lambda, call: ast.Call, scope: Scope, wanted: set[str], why: str, depth: int
    ) -> bool:
        """A lambda hands its own parameters on (``backward = lambda loss: scale(loss, self.optimizer)``): who calls it
        knows where they come from."""
        outer = self.ctx.m.scope_of[within]
        args = [passed(self.ctx, call, scope, name) for name in sorted(wanted)]
        handed = {n for arg in args if arg is not None for n in self.slices.reads(arg)} & set(outer.params)
        return bool(handed) and self._climb(outer, handed, why, depth + 1)

    def _may_be_loss(self, arg: ast.expr) -> bool:
        held = self.ctx.v.of(arg)
        return not self.compute.is_model(held) and not held & self.unit.optimizer_objects

    # ------------------------------------------------------------ evaluation

    def _evaluation(self) -> None:
        """Regions for every other call of the model."""
        m, compute = self.ctx.m, self.compute
        todo = [n for n in compute.near if compute.runs_model(n)]
        seen: set[ast.Call] = set()
        elsewhere: list[ast.Call] = []
        while todo:
            call = todo.pop(0)
            if call in seen:
                continue
            seen.add(call)
            scope = m.function(call)
            if compute.inner(call) or self.in_region(call) or self.covered(scope) or self._natively(call):
                continue
            if (off := uncast(self.ctx, call)) is not False:
                if off is None:
                    self.unit.review(call, "APX031", _UNCAST)
                continue
            within = self._lambda_around(call)
            if within is not None:
                at_once = self._gone_through(within)
                if at_once is None and not self.ctx.v.calls[within]:
                    elsewhere.append(call)
                todo += [at_once] if at_once is not None else self.ctx.v.calls[within]
                continue
            when = self.order.states(call)
            if when == {NOT_YET}:
                self.ahead.append(call)
                continue
            if (NOT_YET in when and self._callers_tell(scope)) or self._pushes_up(scope, call):
                todo += self.ctx.v.calls[scope.node]
                continue
            self._wrap_evaluation(call)
            self._join()
        for call in elsewhere:
            if not self.in_region(call) and not self.covered(m.function(call)):
                self._called_elsewhere(call)

    def _natively(self, call: ast.Call) -> bool:
        """Whether a call runs in a function that trains natively now, or under an autocast of the file's own that is an
        arm beside one of ours."""
        m = self.ctx.m
        for stmt in m.spine(m.statement(call)):
            if own_autocast(stmt) and isinstance(arms := m.parent[stmt], ast.If):
                if not any(m.inside(one, arms) for region in self.regions for one in region.stmts()):
                    return False
                self._says_itself(stmt, arms)
                return True
        return m.function(call).node in self.unit.natively

    def _says_itself(self, stmt: ast.stmt, arms: ast.If) -> None:
        """An autocast of the file's own that may be off where Apex's casts were on."""
        m = self.ctx.m
        guards = [a for init in self.unit.initializes for a in m.spine(m.statement(init.call)) if isinstance(a, ast.If)]
        without = stmt in arms.orelse and any(ast.dump(a.test) == ast.dump(arms.test) for a in guards)
        items = stmt.items if isinstance(stmt, (ast.With, ast.AsyncWith)) else []
        calls = [i.context_expr for i in items if isinstance(i.context_expr, ast.Call)]
        off = [k.value for call in calls for k in call.keywords if k.arg == "enabled"]
        if off and not without and self.ctx.conditions.term(off[0]).value is not True:
            said = f"`{m.src(off[0])}` alone says whether this runs under autocast; Apex's casts held whatever it said"
            self.unit.review(stmt, "APX031", said)

    def _gone_through(self, function: ast.Lambda) -> ast.Call | None:
        """The call that goes through all that ``map`` makes with a lambda, where it stands: ``list(map(f, xs))``."""
        mapped = self.ctx.m.parent[function]
        if not isinstance(mapped, ast.Call) or ast.unparse(mapped.func) != "map" or mapped.args[:1] != [function]:
            return None
        whole = self.ctx.m.parent[mapped]
        taken = isinstance(whole, ast.Call) and whole.args[:1] == [mapped]
        return whole if taken and isinstance(whole, ast.Call) and called_name(whole) in _GO_THROUGH else None

    def _callers_tell(self, scope: Scope) -> bool:
        """Whether the calls of a function that runs before and after ``initialize`` can be wrapped in its place."""
        calls = self.ctx.v.calls[scope.node] if scope.is_function else []
        states = [self.order.states(c) for c in calls]
        if not any(s == {NOT_YET} for s in states) or self.compute.forbids_function(scope.node):
            return False
        if runs_later(self.ctx, scope.node) or self._stays_inside(scope):
            return False
        later = [self.ctx.m.statement(c) for c, s in zip(calls, states, strict=True) if ON in s]
        return not any(self.compute.forbidden(s) or isinstance(s, SCOPES) for s in later)

    def early(self, call: ast.Call) -> bool:
        """Whether a call only ever runs before mixed precision is switched on."""
        return self.order.states(call) == {NOT_YET}

    def _called_elsewhere(self, call: ast.Call) -> None:
        self.unit.review(
            call,
            "APX031",
            "a lambda runs the model here, and what it is handed to calls it: this ran under Apex's casts and now runs "
            "in float32; to keep the casts, make it a function that wraps the call in torch.autocast",
        )

    def _stays_inside(self, scope: Scope) -> bool:
        """Whether somebody else calls a function, in a thread of its own perhaps: its callers cannot be wrapped."""
        calls = self.ctx.v.calls[scope.node]
        lambdas = [a for a in map(self._lambda_around, calls) if a is not None]
        return any(not self.ctx.v.calls[a] for a in lambdas) or handed_on(self.ctx, scope.node)

    def lift(self, region: Region) -> bool:
        """Put the region of an evaluation around the calls of its function instead; False where that cannot be."""
        m = self.ctx.m
        scope = m.function(region.block.body[region.first])
        calls = self.ctx.v.calls[scope.node] if scope.is_function else []
        stmts = [m.statement(c) for c in calls if not self.early(c)]
        if not stmts or self.compute.forbids_function(scope.node) or runs_later(self.ctx, scope.node):
            return False
        if self._stays_inside(scope):
            return False
        if any(self.compute.forbidden(s) or isinstance(s, SCOPES) for s in stmts):
            return False
        for marks in self._marks.values():
            marks.spans = [s for s in marks.spans if m.function(marks.block.body[s[0]]) is not scope]
        for stmt in stmts:
            block, index = m.place[stmt]
            self._span(block, index, index, "evaluation")
        self._join()
        return True

    def _lambda_around(self, call: ast.Call) -> ast.Lambda | None:
        """The lambda whose body holds the call: it runs where the lambda is called."""
        return next((a for a in self.ctx.m.ancestors(call) if isinstance(a, ast.Lambda)), None)

    def _pushes_up(self, scope: Scope, call: ast.Call) -> bool:
        """Whether the callers are the place: the function computes one result and hands it back."""
        every = self.ctx.v.calls[scope.node] if scope.is_function else []
        calls = [c for c in every if not self.ctx.m.idle(c)]
        if not calls or any(scope is self.ctx.m.function(c) for c in calls):
            return False
        if not all(self.in_region(c) or self.covered(self.ctx.m.function(c)) for c in handed_to(self.ctx, scope.node)):
            return False  # somebody else calls it, too
        if any(self.in_region(c) or self.covered(self.ctx.m.function(c)) for c in calls):
            return True
        if any(self.ctx.m.function(c).node in self.unit.natively for c in calls):
            return False
        if self.compute.forbids_function(scope.node) or runs_later(self.ctx, scope.node) or self._stays_inside(scope):
            return False
        if self.swapped.swaps(scope.node):
            return False
        if any(self.ctx.m.function(init.call) is scope for init in self.unit.initializes):
            return False  # here mixed precision is switched on, under a condition that callers may not know
        if any(self.early(c) for c in calls) and not self.order.switches(scope.node):
            return True
        if any(self.compute.forbidden(self.ctx.m.statement(c)) for c in calls):
            return False  # the statement of a caller trains, too: `out += [self.train(x), self.test(x)]`
        if self._run_without(scope):
            return True
        if any(self._within_region(self.ctx.m.function(c)) for c in calls):
            return True  # where training has its region, evaluation has its own, with the loss behind it
        if self.ctx.m.loops(call):
            return False
        results = [n.value for n in walk_body(scope) if isinstance(n, ast.Return) and n.value is not None]
        if not results or any(isinstance(n, (ast.For, ast.While)) for n in walk_body(scope)):
            return False
        if any(NOT_YET in self.order.states(c) for c in calls):
            return True  # the same call may come ahead of the scaler and behind it
        own = isinstance(call.func, ast.Name) and call.func.id == self.ctx.m.self_name(scope)
        behind = [value for value in results if self.ctx.m.end(value) > self.ctx.m.start(call)]
        return own or not behind or not all(map(is_number, behind))  # a network's own method knows no scaler

    def _run_without(self, scope: Scope) -> bool:
        """Whether files outside of the program, which never initialize amp, run a function as well: without casts."""
        trains = {self.ctx.m.function(site.call) for site in self.unit.sites}
        nodes = (one.node for one in self._upward(scope, trains))
        return any(self.ctx.run_without(node) & {getattr(node, "name", ""), "*"} for node in nodes)

    def _within_region(self, scope: Scope) -> bool:
        """Whether a region holds a call of a function, or of one that calls it, and so on."""
        return any(self.in_region(call) for one in self._upward(scope) for call in self.ctx.v.calls[one.node])

    def _upward(self, scope: Scope, without: Set[Scope] = frozenset()) -> Iterator[Scope]:
        """A function, and those that call it, and so on, but for some."""
        found, todo = {scope}, [scope]
        while todo:
            yield (one := todo.pop())
            callers = {self.ctx.m.function(call) for call in self.ctx.v.calls[one.node]}
            todo += [caller for caller in callers - found - without if caller.is_function]
            found |= callers

    def _wrap_evaluation(self, call: ast.Call) -> None:
        m, compute = self.ctx.m, self.compute
        stmt = m.statement(call)
        block, index = m.place[stmt]
        yielded = next((a for a in m.ancestors(call) if isinstance(a, ast.Yield)), None)
        if yielded is not None and yielded.value is not None and m.statement(yielded) is stmt:
            value = yielded.value
            parts = value.elts if isinstance(value, ast.Tuple) else [value]
            self._hoist(stmt, next(p for p in parts if m.inside(call, p)), "output")
            return
        if compute.forbidden(stmt) and (alone := self._free_part(stmt, call)) is not None:
            self._hoist(stmt, alone, "output")
            return
        if isinstance(stmt, ast.For) and self._ahead_of_its_loop(stmt, call):
            self._hoist(stmt, call, "output")
            return
        if compute.forbidden(stmt):
            if isinstance(stmt, (ast.For, ast.While, ast.If, ast.With, ast.Try)):
                raise Manual(call, "the model is called in the header of a block that also runs a backward or step")
            raise Manual(call, "the model is called in the statement that also runs a backward or step")
        first = last = index
        tainted = set(self.slices.defines(stmt))
        for i in range(index + 1, len(block.body)):
            later = block.body[i]
            if compute.forbidden(later) or isinstance(later, SCOPES) or self.swapped.swaps(later):
                break
            if isinstance(later, (ast.Return, ast.Break, ast.Continue, ast.Raise)) and not compute.weak(later):
                break
            if self.slices.reads(later) & tainted:
                if compute.forwards(later) and i > last + 1:
                    self._losses_from(block, i, tainted)  # of both: a flipped image's results are added
                    break  # it gets a region of its own
                if compute.forwards(later) or self.worked.casted(later, tainted):
                    if self._apart(block.body[last + 1 : i], later, tainted) >= MAX_GAP:
                        self._span(block, first, last, "evaluation")
                        first = i
                    last = i
                tainted |= self.slices.defines(later)
            if leaves_torch(later):
                tainted -= self.slices.defines(later)  # what comes of it is no tensor any more
        self._span(block, first, last, "evaluation")
        if not leaves_torch(stmt):
            self._losses_in_arms(block, index + 1, set(self.slices.defines(stmt)))
            for outer in m.spine(stmt)[1:]:
                self._losses_behind(outer, tainted)
            self._losses_of_callers(m.function(stmt), tainted, MAX_CLIMB)

    def _losses_in_arms(self, block: Block, first: int, tainted: set[str]) -> None:
        """Losses that are computed of results in the arms of conditions behind a forward, in its own block."""
        for later in block.body[first:]:
            if self.compute.forbidden(later) or isinstance(later, SCOPES):
                return
            if isinstance(later, ast.If):
                for arm in filter(None, (later.body, later.orelse)):
                    self._losses_from(self.ctx.m.block(arm[0]), 0, set(tainted))
            elif self.slices.reads(later) & tainted:
                tainted |= self.slices.defines(later)
                if leaves_torch(later):
                    tainted -= self.slices.defines(later)

    def _losses_of_callers(self, scope: Scope, tainted: set[str], left: int) -> None:
        """Losses that callers compute of the results that a function with a region of its own hands back."""
        results = [n.value for n in walk_body(scope) if isinstance(n, ast.Return) and n.value is not None]
        if not left or not any(self.slices.reads(value) & tainted for value in results):
            return
        for call in self.ctx.v.calls[scope.node]:
            stmt = self.ctx.m.statement(call)
            if self.in_region(call) or self.early(call) or leaves_torch(stmt) or not isinstance(stmt, ast.Assign):
                continue
            if self._climbed_from.get(call, 0) >= left:
                continue  # functions that all call each other have more ways through them than anybody can go
            self._climbed_from[call] = left
            handed = set(self.slices.defines(stmt))
            for at in self.ctx.m.spine(stmt):
                self._losses_behind(at, handed)
            self._losses_of_callers(self.ctx.m.function(call), handed, left - 1)

    def _apart(self, between: list[ast.stmt], later: ast.stmt, tainted: set[str]) -> int:
        """How many statements stand between two that run under casts and have to do with neither: what is made of the
        first line by line, and what the second needs, is no gap."""
        found, needed = 0, self.slices.reads(later)
        for stmt in reversed(between):
            led = bool(self.slices.defines(stmt) & needed)
            needed |= self.slices.reads(stmt) if led else set()
            found += hasattr(stmt, "body") or not (led or self.slices.reads(stmt) & tainted)
        return found if len(between) < MOST_BETWEEN else MAX_GAP

    def _losses_behind(self, stmt: ast.stmt, tainted: set[str]) -> None:
        """Losses that are computed of results behind the forward's block, such as a ``with torch.no_grad():``."""
        block, index = self.ctx.m.place[stmt]
        self._losses_from(block, index + 1, tainted)

    def _losses_from(self, block: Block, first: int, tainted: set[str]) -> None:
        """The same from a statement on, and in the arms of conditions there."""
        for i in range(first, len(block.body)):
            later = block.body[i]
            if self.compute.forbidden(later) or isinstance(later, SCOPES):
                return
            if isinstance(later, ast.If):
                for arm in (later.body, later.orelse):
                    if arm:
                        self._losses_from(self.ctx.m.block(arm[0]), 0, tainted)
                continue
            if not self.slices.reads(later) & tainted or hasattr(later, "body") or self.compute.forwards(later):
                continue
            if self.worked.makes_loss(later, tainted) or self.worked.widened_elsewhere(later, tainted):
                self._span(block, i, i, "evaluation")
            tainted |= self.slices.defines(later)
            if leaves_torch(later):
                tainted -= self.slices.defines(later)

    def _free_part(self, stmt: ast.stmt, call: ast.Call) -> ast.expr | None:
        """The part of a simple statement around a model call that may be computed on a line of its own before."""
        if not isinstance(stmt, (ast.Expr, ast.Assign, ast.Return, ast.AugAssign)):
            return None
        if not self._always(stmt, call):
            return None
        part: ast.expr = call
        for outer in self.ctx.m.ancestors(call):
            if outer is stmt or not isinstance(outer, ast.expr):
                break
            method = isinstance(outer, ast.Attribute) and isinstance(self.ctx.m.parent[outer], ast.Call)
            if self.compute.forbidden(self.ctx.m.parent[outer] if method else outer):
                break
            part = outer
        ahead = (n for n in walk_now(stmt) if isinstance(n, ast.Call) and self.ctx.m.end(n) <= self.ctx.m.start(part))
        return None if self.compute.forbidden(part) or any(map(self.compute.forbidden, ahead)) else part

    def _ahead_of_its_loop(self, loop: ast.For, call: ast.Call) -> bool:
        """Whether a call that a loop's header makes may stand ahead of it, as what the loop goes through is no tensor
        any more: ``for wave in model(mels).cpu().numpy(): wavfile.write(name, rate, wave)``."""
        m = self.ctx.m
        if not m.inside(call, loop.iter) or not self._always(loop, call) or any(map(self.compute.forwards, loop.body)):
            return False
        taken, part = False, m.parent[call]
        while isinstance(part, ast.Attribute) and isinstance(m.parent[part], ast.Call):
            taken |= part.attr in ("numpy", "tolist")
            part = m.parent[m.parent[part]]
        before = [n for n in walk_now(loop.iter) if isinstance(n, ast.Call) and m.end(n) <= m.start(call)]
        return taken and not before and self.joined.tight.many(loop.body)

    def _always(self, stmt: ast.stmt, expr: ast.expr) -> bool:
        """Whether a part of a statement is computed once whenever that runs."""
        for outer in self.ctx.m.ancestors(expr):
            if outer is stmt:
                return True
            if isinstance(outer, (ast.IfExp, ast.BoolOp, ast.Lambda, *_COMPREHENSIONS)):
                return False
        return True

    # ------------------------------------------------------------ coverage

    def in_region(self, node: ast.AST) -> bool:
        """Whether ``node`` lies in the text of a region (or of a hoisted loss)."""
        m = self.ctx.m
        if self._spans is None:
            self._spans = defaultdict(list)
            for region in sorted(self.regions, key=lambda region: start(m, region)):
                here = self._spans[m.function(region.block.body[region.first])]
                here.append((start(m, region), end(m, region)))
        spans, at = self._spans.get(m.function(node), ()), m.start(node)
        before = bisect_right(spans, at, key=lambda span: span[0])
        if before and at < spans[before - 1][1]:
            return True
        return bool(self._hoisted) and (node in self._hoisted or not self._hoisted.isdisjoint(m.ancestors(node)))

    def _join(self) -> None:
        """The regions anew, of what was marked."""
        self.regions, self._spans = self.joined.regions(self._marks.values(), self.hoists), None

    def leave_out(self, region: Region) -> None:
        """Of a region nothing comes after all."""
        self.regions.remove(region)
        self._spans = None

    def covered(self, scope: Scope, known: dict[Scope, bool] | None = None) -> bool:
        """Whether a function only ever runs under autocast; ``known`` are answers for those who call it."""
        known = {} if known is None else known
        if scope not in known:
            known[scope] = False  # a function that is only called by itself, in the end, is not
            calls = self.ctx.v.calls[scope.node] if scope.is_function else []
            known[scope] = bool(calls) and called_by_python(self.ctx, scope.node) is None and all(
                self.in_region(c) or self.covered(self.ctx.m.function(c), known)
                for c in (*calls, *handed_to(self.ctx, scope.node))
            )
        return known[scope]


def _unwrapped(expr: ast.expr) -> ast.expr:
    """What ``enumerate``, ``tqdm`` and the like go through."""
    while isinstance(expr, ast.Call) and getattr(expr.func, "id", "") in PASSING and expr.args:
        expr = expr.args[0]
    return expr


def walk_body(scope: Scope) -> list[ast.AST]:
    """Nodes that run when a function runs."""
    if isinstance(scope.node, ast.Lambda):
        return []
    return [n for stmt in scope.node.body for n in walk_now(stmt)]
