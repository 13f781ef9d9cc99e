"""Follow one function from statement to statement, and find what comes in the wrong order.

Two kinds of knowledge are kept, so that branches raise no false alarm:

* *pending* scaled backwards: they may have happened on this path, and nothing since then may have
  unscaled the gradients. One arm of a branch that unscales settles it for the code behind the
  branch, and for the other arms too: which of them is taken depends on the same switch as a rule.
  What happened under a condition is forgotten where the opposite condition holds.
* *facts*, such as "this optimizer has been unscaled": they hold on every path.

Loops are read once, in source order; nested functions are read apart.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from ..nodes import walk
from .problem import Problem
from .recognize import Event, Knowledge, dotted, events, now, scalings

Guard = tuple[str, bool]  # the text of a condition, and whether it holds
Guards = frozenset[Guard]

# ``except*`` is a node of its own, with the same fields, from Python 3.11 on.
_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.IsNot: ast.Is,
    ast.NotEq: ast.Eq,
    ast.NotIn: ast.In,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
}


@dataclass(frozen=True)
class Pending:
    """A scaled backward whose gradients are still scaled, and the conditions it ran under."""

    line: int
    column: int
    guards: Guards


@dataclass(frozen=True)
class Fact:
    """What surely happened to an optimizer since its scaler's last update."""

    what: Literal["unscaled", "stepped"]
    scaler: str
    optimizer: str


@dataclass(frozen=True)
class State:
    """What is known at one place of a function."""

    pending: frozenset[Pending] = frozenset()
    facts: frozenset[Fact] = frozenset()
    ran: frozenset[str] = frozenset()  # optimizers that a scaler surely stepped since the last backward
    scaled: frozenset[str] = frozenset()  # names that hold a scaled loss
    guards: Guards = frozenset()
    mixed: frozenset[Pending] = frozenset()  # those that a plain backward may have come after
    settled: bool = False  # since the beginning of the arm, something may have unscaled
    ended: bool = False  # return, raise, break or continue


@dataclass
class Walk:
    """Reads one function body (or a module's); what is wrong collects in ``problems``."""

    knowledge: Knowledge
    body: Sequence[ast.stmt]
    problems: list[Problem] = field(default_factory=list)
    stepped: frozenset[str] = frozenset()
    kinds: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)  # of the events in a statement

    def run(self) -> list[Problem]:
        found = events(self.body, self.knowledge, frozenset())
        if found:
            self.stepped = frozenset(event.target for event in found if event.kind == "step")
            self._block(self.body, State())
        return self.problems

    def _problem(self, node: ast.expr, code: str, message: str) -> None:
        self.problems.append(Problem(node.lineno, message, code))

    # ------------------------------------------------------------ statements

    def _block(self, body: Sequence[ast.stmt], state: State) -> State:
        for statement in body:
            if state.ended:
                break
            state = self._statement(statement, state)
        return state

    def _statement(self, node: ast.stmt, state: State) -> State:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return state
            case ast.If(test=test, body=body, orelse=orelse):
                state = self._evaluate([test], state)
                return self._branch(
                    state, [(body, conditions(test, True)), (orelse, conditions(test, False))]
                )
            case ast.For() | ast.AsyncFor():
                state = _rebound([node.target], self._evaluate([node.iter], state))
                return self._loop(node, state)
            case ast.While():
                return self._loop(node, self._evaluate([node.test], state))
            case ast.With() | ast.AsyncWith():
                for item in node.items:
                    state = self._evaluate([item.context_expr], state)
                    if item.optional_vars is not None:
                        state = _rebound([item.optional_vars], state)
                return self._block(node.body, state)
            case ast.Match():
                state = self._evaluate([node.subject], state)
                arms: list[Arm] = [(case.body, frozenset()) for case in node.cases]
                return self._branch(state, [*arms, ([], frozenset())])
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return replace(self._evaluate([node], state), ended=True)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                return self._assign(node, self._evaluate([node], state))
        if isinstance(node, _TRIES):
            return self._try(cast(ast.Try, node), state)
        return self._evaluate([node], state)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, state: State) -> State:
        state = self._branch(state, [(node.body, frozenset()), ([], frozenset())])
        return self._block(node.orelse, self._doubted(node, state))

    def _try(self, node: ast.Try, state: State) -> State:
        """A handler may begin after any part of the body, with next to nothing known."""
        unknown = replace(state, pending=frozenset(), facts=frozenset(), ran=frozenset(), settled=False)
        outs = [self._block([*node.body, *node.orelse], replace(state, settled=False))]
        outs += [self._block(handler.body, unknown) for handler in node.handlers]
        return self._block(node.finalbody, self._doubted(node, _merged(state, outs)))

    def _doubted(self, node: ast.stmt, state: State) -> State:
        """Behind a loop or a try that may have been left halfway, no fact that it touches is sure."""
        kinds = {event.kind for event in events([node], self.knowledge, state.scaled)}
        return (
            replace(state, facts=frozenset(), ran=frozenset())
            if kinds & {"step", "update", "settle", "plain", "scaled"}
            else state
        )

    def _branch(self, state: State, arms: list[Arm]) -> State:
        """Arms of which one is taken."""
        settling = [self._settles(body) for body, _ in arms]
        outs: list[State] = []
        for at, (body, guards) in enumerate(arms):
            pending = state.pending
            if any(settling) and not settling[at]:
                pending = frozenset()
            elif self.stepped and not settling[at] and self._is_plain(body, state):
                # where there are steps through a scaler, an arm without is there for when there is none
                pending = frozenset(one for one in pending if one.guards <= state.guards)
            pending = frozenset(
                one for one in pending if not any((text, not holds) in guards for text, holds in one.guards)
            )
            start = replace(state, pending=pending, guards=state.guards | guards, settled=False)
            outs.append(self._block(body, start))
        return _merged(state, outs)

    def _settles(self, body: Sequence[ast.stmt]) -> bool:
        return any(self._kinds(stmt) & {"unscale", "step", "settle"} for stmt in body)

    def _kinds(self, stmt: ast.stmt) -> frozenset[str]:
        """The kinds of events in a statement, as long as no name holds a scaled loss. Arms that hold arms, as those of
        a long chain of ``elif`` do, are asked again and again."""
        if stmt not in self.kinds:
            if isinstance(stmt, ast.If):
                found = {event.kind for event in events([stmt.test], self.knowledge, frozenset())}
                self.kinds[stmt] = frozenset(found).union(*map(self._kinds, (*stmt.body, *stmt.orelse)))
            else:
                self.kinds[stmt] = frozenset(event.kind for event in events([stmt], self.knowledge, frozenset()))
        return self.kinds[stmt]

    def _is_plain(self, body: Sequence[ast.stmt], state: State) -> bool:
        if not any(self._kinds(stmt) & {"plain", "bare"} for stmt in body):
            return False
        names = state.scaled | frozenset(
            target.id
            for node in now(*body)
            if isinstance(node, ast.Assign) and scalings(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        )
        return any(event.kind in {"plain", "bare"} for event in events(body, self.knowledge, names))

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, state: State) -> State:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        before = state.scaled
        if not isinstance(node, ast.AugAssign):
            state = _rebound(targets, state)
        names = frozenset(target.id for target in targets if isinstance(target, ast.Name))
        if node.value is not None and _is_scaled(node.value, before, self.knowledge):
            state = replace(state, scaled=state.scaled | names)
        return state

    # ------------------------------------------------------------ expressions

    def _evaluate(self, nodes: Sequence[ast.AST], state: State) -> State:
        for event in events(nodes, self.knowledge, state.scaled):
            state = self._event(event, state)
        return state

    def _event(self, event: Event, state: State) -> State:
        match event.kind:
            case "scaled":
                pending = Pending(event.node.lineno, event.node.col_offset, state.guards)
                return replace(state, pending=state.pending | {pending}, ran=frozenset())
            case "plain":
                return replace(state, mixed=state.mixed | state.pending, ran=frozenset())
            case "zero":
                return replace(state, pending=frozenset(), ran=frozenset())
            case "settle":
                return replace(state, pending=frozenset(), facts=frozenset(), ran=frozenset(), settled=True)
            case "clip" | "read":
                self._look(event, state)
                return state
            case "bare":
                self._bare(event, state)
                return state
            case "unscale":
                return self._unscale(event, state)
            case "step":
                return self._step(event, state)
            case "update":
                return replace(state, facts=frozenset(f for f in state.facts if f.scaler != event.scaler))
        raise AssertionError(event.kind)

    def _look(self, event: Event, state: State) -> None:
        if not state.pending:
            return
        line = max(one.line for one in state.pending)
        if event.kind == "clip":
            self._problem(
                event.node,
                "clips-scaled-gradients",
                f"gradients are clipped while still scaled: no unscale_ since the backward in line {line}",
            )
        else:
            self._problem(
                event.node,
                "reads-scaled-gradients",
                f"a gradient is used while still scaled: no unscale_ since the backward in line {line}",
            )

    def _bare(self, event: Event, state: State) -> None:
        optimizer = event.target
        # with other optimizers stepped by the scaler, this one may belong to a loss that is not scaled
        scaled = bool(state.pending - state.mixed) and (not self.stepped or optimizer in self.stepped)
        if optimizer in state.ran or scaled:
            self._problem(
                event.node,
                "bare-optimizer-step",
                f"{optimizer}.step() uses gradients of a scaled loss: step it through the scaler alone",
            )

    def _unscale(self, event: Event, state: State) -> State:
        fact = Fact("unscaled", event.scaler, event.target)
        if fact in state.facts:
            message = f"unscale_({event.target}) is called twice without an update between"
            self._problem(event.node, "unscale-twice", message)
        elif Fact("stepped", event.scaler, event.target) in state.facts:
            message = f"unscale_({event.target}) comes after its step"
            self._problem(event.node, "unscale-after-step", message)
        return replace(state, pending=frozenset(), facts=state.facts | {fact}, settled=True)

    def _step(self, event: Event, state: State) -> State:
        stepped = Fact("stepped", event.scaler, event.target)
        if stepped in state.facts:
            message = f"{event.target} is stepped twice without an update between"
            self._problem(event.node, "step-twice", message)
        facts = state.facts - {Fact("unscaled", event.scaler, event.target)} | {stepped}
        return replace(state, pending=frozenset(), facts=facts, ran=state.ran | {event.target}, settled=True)


Arm = tuple[Sequence[ast.stmt], Guards]


def conditions(test: ast.expr, holds: bool) -> Guards:
    """What is known where a test holds, or where it does not, in a form in which opposites are equal."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return conditions(test.operand, not holds)
    found: Guards = frozenset({(ast.unparse(test), holds)})
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) is holds:
        for value in test.values:
            found |= conditions(value, holds)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right = ast.unparse(test.left), ast.unparse(test.comparators[0])
        opposite = _OPPOSITE.get(type(test.ops[0]))
        kind = opposite or type(test.ops[0])
        holds = holds is (opposite is None)
        found = frozenset({(f"{left} {kind.__name__} {right}", holds)})
        if kind is ast.Is and right == "None" and holds:
            found |= {(left, False)}
    elif isinstance(test, (ast.Name, ast.Attribute)) and holds:
        found |= {(f"{ast.unparse(test)} Is None", False)}
    return found


def _merged(before: State, outs: Sequence[State]) -> State:
    """Behind a branch: what may have happened in an arm that goes on, what surely happened in all of them."""
    live = [out for out in outs if not out.ended]
    settled = any(out.settled for out in outs)
    fresh = frozenset[Pending]().union(*(out.pending for out in live)) - before.pending
    return State(
        pending=fresh if settled else before.pending | fresh,
        facts=frozenset.intersection(*(out.facts for out in live)) if live else frozenset(),
        ran=frozenset.intersection(*(out.ran for out in live)) if live else frozenset(),
        scaled=frozenset[str]().union(*(out.scaled for out in live)),
        guards=before.guards,
        mixed=frozenset[Pending]().union(*(out.mixed for out in live)),
        settled=before.settled or settled,
        ended=not live,
    )


def _rebound(targets: Sequence[ast.expr], state: State) -> State:
    """Names that get another value: what was known of the old one is void."""
    names = {node.id for target in targets for node in walk(target) if isinstance(node, ast.Name)}
    stored = {
        dotted(node) for target in targets for node in walk(target) if isinstance(node, ast.Attribute)
    }
    plain = {
        name
        for name in names
        if any(isinstance(target, (ast.Name, ast.Tuple, ast.List)) for target in targets)
    }
    gone = plain | stored

    def concerns(optimizer: str) -> bool:
        return any(optimizer == one or optimizer.startswith((one + ".", one + "[")) for one in gone)

    facts = frozenset(fact for fact in state.facts if not concerns(fact.optimizer))
    ran = frozenset(one for one in state.ran if not concerns(one))
    return replace(state, facts=facts, ran=ran, scaled=state.scaled - plain)


def _is_scaled(value: ast.expr, scaled: frozenset[str], knowledge: Knowledge) -> bool:
    """Whether an assigned value is a scaled loss, or reckoned from one."""
    if any(knowledge.is_scaler(owner) for owner in scalings(value)):
        return True
    while isinstance(value, ast.BinOp):
        if isinstance(value.right, ast.Name) and value.right.id in scaled:
            return True
        value = value.left
    return isinstance(value, ast.Name) and value.id in scaled
