"""Runs one program symbolically, up to the next thing that the other program has to do as well."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from migrate.facts.sites import opened
from migrate.flow.values import Obj, argument, unbound
from migrate.judge import machines
from migrate.judge.code import Code, Op
from migrate.judge.liveness import live_names
from migrate.judge.owners import Owners
from migrate.judge.program.program import Program
from migrate.judge.program.syntax import generator_call
from migrate.judge.state import Crash, Frame, Key, LegacyRaises, State, Unfollowed
from migrate.judge.terms import (
    MAX_DEPTH,
    NONE,
    TRUE,
    Ask,
    Facts,
    Term,
    compared,
    depth,
    known,
    negated,
    opaque,
    truth,
)

_WRAPPERS = frozenset(
    "DistributedDataParallel DDP DataParallel convert_syncbn_model convert_sync_batchnorm compile bool "
    "BalancedDataParallel list tuple".split()
)
_SELF_METHODS = frozenset("cuda to cpu train eval".split())
_OBJECTS = frozenset({"obj", "scaler", "scaled", "scaling", "null", "apex", "seq", "dict"})
_MARK = "_amp_stash"  # an attribute that amp.initialize gives to an optimizer
_PURE = frozenset("getattr hasattr isinstance len int str max min".split())
_COMPARE = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Is: "is", ast.IsNot: "isnot", ast.In: "in", ast.NotIn: "notin",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
_MADE = ("op", "and", "or", "not", "sub")
MAX_OPS = 20_000


@dataclass(eq=False)
class Event:
    """Something that both programs have to do: ``kind`` and what it is about."""

    kind: str
    node: ast.AST
    about: Any = None
    closure: bool = False  # a step is handed something, which may run a backward


class Runner:
    """Runs the programs of one `Program`. ``levels`` says for each initialize whether its level may be O0."""

    def __init__(
        self, program: Program, legacy: bool, maybe_o0: Callable[[ast.Call], bool], scaled: bool = True
    ) -> None:
        self.program, self.m, self.v = program, program.m, program.v
        self.naming = program.naming
        self.legacy, self.maybe_o0, self.scaled = legacy, maybe_o0, scaled
        self.mattering = program.mattering.names
        self._live: dict[Code, tuple[frozenset[str], ...]] = {}
        self._selfmade: dict[Op, bool] = {}
        self.models_of = Owners(program)
        self._made_by: dict[ast.Call, frozenset[Key]] = {}
        self._groups: dict[ast.AST, frozenset[Key]] = {}
        self._owners_of: dict[ast.AST, frozenset[Key]] = {}
        self._do: dict[str, Callable[[State, Frame, Op, Facts], Event | None]] = {
            "bind": self._op_bind, "havoc": self._op_havoc, "import": self._op_import, "define": self._op_define,
            "branch": self._op_branch, "jump": self._op_jump, "call": self._op_call, "read": self._op_event,
            "clear": self._op_event, "head": self._op_event, "items": self._op_items, "round": self._op_round,
            "generate": self._op_generate, "resume": self._op_resume, "yield": self._op_yield,
            "enter": self._op_enter, "leave": self._op_leave, "abandon": self._op_abandon,
            "return": self._op_return, "raise": self._op_raise, "handler": self._op_handler, "case": self._op_case,
            "epilogue": self._op_epilogue, "perhaps": self._op_perhaps, "known": self._op_known,
            "settle": self._op_settle, "aside": self._op_aside,
        }  # fmt: skip

    def start(self) -> State:
        """The program before its first statement."""
        return State([Frame(self.program.code(self.m.tree))])

    def run(self, state: State, facts: Facts) -> Event:
        """Go on to the next event. Raises `Ask`, with the state at the question; `Crash`, `LegacyRaises`."""
        for _ in range(MAX_OPS):
            if not state.frames:
                return Event("end", self.m.tree, state.raising)
            frame = state.frames[-1]
            op = frame.code.ops[frame.pc]
            event = self._do[op.kind](state, frame, op, facts)
            if event is not None:
                return event
        raise Unfollowed("a loop that nothing ends")

    def _live_names(self, code: Code) -> tuple[frozenset[str], ...]:
        if code not in self._live:
            self._live[code] = live_names(code)
        return self._live[code]

    def bury(self, state: State) -> None:
        """Forget local names that are not read again."""
        for frame in state.frames:
            if frame.code.node is self.m.tree or frame.pc >= len(frame.code.ops):
                continue
            kept = self._live_names(frame.code)[frame.pc]
            outlived = self.program.definitions.outlived(frame.code.node)
            gone = [n for n in frame.env if isinstance(n, str) and n not in kept and n not in outlived]
            for name in gone:
                if frame.env[name][0] != "scaler":  # who holds none is told from who has not made it yet
                    del frame.env[name]

    # ------------------------------------------------------------ names

    def _frame(self, state: State, node: ast.AST, name: str) -> dict[object, Term] | None:
        """The variables that ``name`` at ``node`` belongs to; None where they are gone."""
        home = self.m.binding_scope(name, self.m.scope(node))
        if home is None:
            return None
        while isinstance(home.node, ast.ClassDef) and home.parent is not None:
            home = home.parent
        if home.parent is None:
            return state.names
        for frame in reversed(state.frames):
            if frame.code.node is home.node:
                return frame.env
        return state.closed.get(self.naming.place(home.node))

    def value(self, state: State, expr: ast.expr, facts: Facts) -> Term:
        """What an expression stands for."""
        term = self._value(state, expr, facts)
        if term[0] in ("v", "attr", "sub", "op"):
            held = self.program.objects.known(expr)
            if held:
                return ("obj", held)
        return term

    def _value(self, state: State, expr: ast.expr, facts: Facts) -> Term:
        program = self.program
        if program.scaling.reads_scale(expr):
            return opaque(program.naming.place(self.m.statement(expr)), "the loss scale")
        match expr:
            case ast.Constant(value=value):
                plain = isinstance(value, (bool, int, float, str, type(None)))
                return ("k", value) if plain else opaque(program.naming.place(expr))
            case ast.Name(id=name):
                env = self._frame(state, expr, name)
                if env is not None and name in env:
                    return env[name]
                return opaque(0, name)
            case ast.Attribute(value=base, attr=attr):
                owner = self.value(state, base, facts)
                return self._attribute(state, owner, attr)
            case ast.Subscript(value=base, slice=index):
                owner = self.value(state, base, facts)
                at = self.value(state, index, facts) if isinstance(index, ast.expr) else NONE
                if owner[0] == "seq" and at[0] == "k" and isinstance(at[1], int):
                    items: tuple[Term, ...] = owner[1]
                    if -len(items) <= at[1] < len(items):
                        return items[at[1]]
                if owner[0] == "scaled":
                    return owner
                if owner[0] == "dict" and (owner, f"[{at}]") not in state.heap:
                    found: Term | None = dict(owner[1]).get(at[1]) if at[0] == "k" else None
                    if found is not None:
                        return found
                return state.heap.get((owner, f"[{at}]"), ("sub", owner, at))
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                if any(isinstance(e, ast.Starred) for e in elts):
                    return opaque(program.naming.place(expr))
                return ("seq", tuple(self.value(state, e, facts) for e in elts))
            case ast.Dict(keys=keys, values=values) if all(isinstance(k, ast.Constant) for k in keys):
                names = [k.value for k in keys if isinstance(k, ast.Constant)]
                return self._record(zip(names, (self.value(state, x, facts) for x in values), strict=True))
            case ast.BoolOp(op=ast.And(), values=values):
                return ("and", *(self.value(state, x, facts) for x in values))
            case ast.BoolOp(values=values):
                return ("or", *(self.value(state, x, facts) for x in values))
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return negated(self.value(state, inner, facts))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return ("k", -number)
            case ast.UnaryOp(op=op, operand=inner):
                return self._made(type(op).__name__, self.value(state, inner, facts))
            case ast.Compare(left=left, ops=ops, comparators=rights):
                terms = [self.value(state, x, facts) for x in (left, *rights)]
                parts = [
                    compared(_COMPARE[type(o)], a, b) for o, a, b in zip(ops, terms, terms[1:], strict=False)
                ]
                return parts[0] if len(parts) == 1 else ("and", *parts)
            case ast.BinOp(left=left, op=op, right=right):
                one, other = self.value(state, left, facts), self.value(state, right, facts)
                if isinstance(op, ast.Add) and all(t[0] == "k" and isinstance(t[1], str) for t in (one, other)):
                    return ("k", one[1] + other[1])
                return self._made(type(op).__name__, one, other)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen = truth(self.value(state, test, facts), facts)
                return self.value(state, body if chosen else orelse, facts)
            case ast.NamedExpr(value=inner) | ast.Starred(value=inner) | ast.Await(value=inner):
                return self.value(state, inner, facts)
            case ast.Call():
                return self._called(state, expr, facts)
            case ast.JoinedStr(values=values):
                parts = [self.value(state, x, facts) for x in values]
                if all(p[0] == "k" and isinstance(p[1], str) for p in parts):
                    return ("k", "".join(p[1] for p in parts))
                return self._made("text", *parts)
            case ast.FormattedValue(value=inner):
                return self.value(state, inner, facts)
            case ast.Lambda():
                return ("obj", frozenset({("function", program.naming.place(expr))}))
            case _:
                return opaque(program.naming.place(expr))

    def _record(self, items: Iterable[tuple[object, Term]]) -> Term:
        """A dictionary or namespace written out; what is not constant in it stays what it is."""
        return ("dict", tuple((name, term) for name, term in items))

    def _made(self, name: str, *parts: Term) -> Term:
        scaled = next((p for p in parts if p[0] == "scaled"), None)
        return scaled if scaled is not None else ("op", name, *parts)

    def _attribute(self, state: State, owner: Term, attr: str) -> Term:
        if owner[0] == "apex":
            return ("apex", f"{owner[1]}.{attr}")
        if owner[0] == "scaled":
            return owner
        if owner[0] == "obj":
            for key in sorted(owner[1], key=str):
                if ((key, attr)) in state.heap:
                    return state.heap[(key, attr)]
            if attr == "module":
                return owner
            default = self.program.definitions.class_constant(owner[1], attr)
            if default is not None:
                return ("k", default.value)
        if owner[0] == "dict" and (owner, attr) not in state.heap:
            found: Term | None = dict(owner[1]).get(attr)
            if found is not None:
                return found
        return state.heap.get((owner, attr), ("attr", owner, attr))

    def _called(self, state: State, call: ast.Call, facts: Facts) -> Term:
        program = self.program
        env = state.frames[-1].env if state.frames else state.names
        done = env.get(("ret", program.naming.place(call)))
        if done is not None:
            return done
        func = call.func
        last = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if last == "super" and state.frames and (own := self._receiver(state.frames[-1])) in env:
            return env[own]
        if program.marks.kind.get(call) == "initialize":
            models, optimizers = argument(call, 0, "models"), argument(call, 1, "optimizers")
            first = self.value(state, models, facts) if models is not None else NONE
            if optimizers is None or (isinstance(optimizers, ast.Constant) and optimizers.value is None):
                return first
            return ("seq", (first, self.value(state, optimizers, facts)))
        if isinstance(func, ast.Attribute) and last == "is_enabled" and program.scaling.scalers(func.value):
            return ("k", state.scalers[self._scaler(state, func.value, facts)].enabled)
        if last in ("SimpleNamespace", "Namespace") and not call.args:
            words = [(k.arg, self.value(state, k.value, facts)) for k in call.keywords if k.arg]
            return self._record(words)
        if call in program.objects.scales:
            return self._scaling(state, call, facts)
        if last == "nullcontext":
            return ("null", self.value(state, call.args[0], facts) if call.args else NONE)
        if last == "enter_context" and call.args:
            return _inside(self.value(state, call.args[0], facts))
        if last in _WRAPPERS and call.args:
            return self.value(state, call.args[0], facts)
        if isinstance(func, ast.Attribute):
            owner = self.value(state, func.value, facts)
            if owner[0] == "scaled" or (last in _SELF_METHODS and owner[0] == "obj"):
                return owner
        if isinstance(func, ast.Name) and last in _PURE:
            terms = [self.value(state, a, facts) for a in call.args if not isinstance(a, ast.Starred)]
            if last in ("getattr", "hasattr") and terms and terms[0][0] == "apex":
                return TRUE
            if last == "hasattr" and len(terms) == 2 and terms[1] == ("k", _MARK) and terms[0][0] == "obj":
                return ("k", self.legacy and all((key, _MARK) in state.heap for key in terms[0][1]))
            if last == "getattr" and len(terms) >= 2 and terms[1][0] == "k":
                return self._attribute(state, terms[0], str(terms[1][1]))
            return self._made(last, *terms)
        if last == "find_spec" and call.args and isinstance(call.args[0], ast.Constant):
            if str(call.args[0].value).split(".")[0] == "apex":
                return TRUE
        if last in ("zip", "enumerate") and isinstance(func, ast.Name):
            rows = self._rows(last, [self.value(state, a, facts) for a in call.args], bool(call.keywords))
            if rows is not None:
                return rows
        if last in ("zip", "enumerate") or any(
            self.value(state, a, facts)[0] == "scaled" for a in call.args if isinstance(a, ast.Name)
        ):
            scaled = [t for a in call.args if (t := self.value(state, a, facts))[0] == "scaled"]
            if scaled:
                return scaled[0]
        for obj in self.v.of(call):
            if obj.kind == "instance":
                return ("obj", frozenset({program.naming.key(obj)}))
        return opaque(program.naming.place(call))

    def _rows(self, name: str, given: list[Term], more: bool) -> Term | None:
        """What ``zip`` and ``enumerate`` make of lists that are written out."""
        if more or not given or any(term[0] != "seq" for term in given):
            return None
        lists: list[tuple[Term, ...]] = [term[1] for term in given]
        if name == "enumerate":
            if len(lists) != 1:
                return None
            lists.insert(0, tuple(("k", number) for number in range(len(lists[0]))))
        return ("seq", tuple(("seq", row) for row in zip(*lists, strict=False)))

    # ------------------------------------------------------------ binding

    def bind(self, state: State, target: ast.expr, term: Term, facts: Facts) -> None:
        """Give a target its value."""
        if term[0] not in _OBJECTS and isinstance(target, (ast.Name, ast.Attribute)):
            name = target.id if isinstance(target, ast.Name) else target.attr
            if name not in self.mattering:
                return
        match target:
            case ast.Name(id=name):
                env = self._frame(state, target, name)
                if env is not None:
                    env[name] = term
            case ast.Attribute(value=base, attr=attr):
                owner = self.value(state, base, facts)
                for key in self._owners(owner):
                    state.heap[(key, attr)] = term
            case ast.Subscript(value=base, slice=index):
                owner = self.value(state, base, facts)
                at = self.value(state, index, facts) if isinstance(index, ast.expr) else NONE
                if owner[0] != "obj":
                    state.heap[(owner, f"[{at}]")] = term
            case ast.Starred(value=inner):
                self.bind(state, inner, opaque(self.naming.place(inner)), facts)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                items = term[1] if term[0] == "seq" and len(term[1]) == len(elts) else None
                for number, elt in enumerate(elts):
                    if items is not None and not isinstance(elt, ast.Starred):
                        self.bind(state, elt, items[number], facts)
                    else:
                        self.bind(state, elt, self._unknown(elt), facts)
            case _:
                pass

    def _owners(self, owner: Term) -> list[Term]:
        return sorted(owner[1], key=str) if owner[0] == "obj" else [owner]

    def _unknown(self, node: ast.AST) -> Term:
        """A value of which nothing is known but what it may be: an optimizer, a model, a scaler."""
        held = self.program.objects.known(node)
        if held:
            return ("obj", held)
        return opaque(self.naming.place(node), getattr(node, "id", getattr(node, "attr", "")))

    # ------------------------------------------------------------ operations

    def _op_bind(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, ast.expr) and op.value is not None
        term = self.value(state, op.value, facts)
        if op.name == "entered":
            term = _inside(term)
        made = term[0] in _MADE or (term[0] == "seq" and isinstance(op.node, ast.Subscript))
        if made and self._of_itself(op):
            term = opaque(self.naming.place(op.node), ast.unparse(op.node))
        if depth(term) > MAX_DEPTH:  # made of itself, round by round
            term = opaque(self.naming.place(op.value))
        if isinstance(op.value, ast.Call) and term[0] == "obj":
            self._made_anew(state, op.value)
        self.bind(state, op.node, term, facts)
        frame.pc += 1

    def _made_anew(self, state: State, call: ast.Call) -> None:
        """A call makes models, or an optimizer: of models that are as new as it is, there are no gradients."""
        made = self._makes(call)
        state.renewed |= made & self.program.objects.models
        optimizers = made & self.program.objects.optimizers
        if not optimizers:
            return
        owned = self.models_of.made_of(call)
        wrapped = {k for a in (*call.args, *(w.value for w in call.keywords)) for k in self.naming.keys(a)}
        before = {one for one in state.made if self.models_of.models.get(one) == owned}  # of an earlier run, or instead
        state.made = (state.made - wrapped - before) | optimizers
        if owned and owned <= state.renewed:
            state.armed -= optimizers
            for key in optimizers:
                state.grads.pop(key, None)
                state.stash.pop(key, None)

    def _makes(self, call: ast.Call) -> frozenset[Key]:
        """The models and optimizers that a call makes, in it or in a function of the file that it runs."""
        if call not in self._made_by:
            inner = [n for f in (call, *self.v.callees(call)) for n in ast.walk(f) if isinstance(n, ast.Call)]
            self._made_by[call] = frozenset(
                self.naming.key(o) for o in self.v.of(call) if any(self._constructs(one, o) for one in inner)
            )
        return self._made_by[call]

    def _constructs(self, call: ast.Call, obj: Obj) -> bool:
        if obj.kind == "instance":
            return any(o.kind == "class" and o.key is obj.key for o in self.v.of(call.func))
        return obj.kind == "call" and obj.key is call

    def _of_itself(self, op: Op) -> bool:
        """Whether a name, attribute or item is made of its own old value."""
        if op not in self._selfmade:
            assert op.value is not None
            own = ast.unparse(op.node) if isinstance(op.node, (ast.Name, ast.Attribute, ast.Subscript)) else None
            parts = [n for n in ast.walk(op.value) if isinstance(n, (ast.Name, ast.Attribute, ast.Subscript))]
            self._selfmade[op] = own is not None and any(ast.unparse(n) == own for n in parts)
        return self._selfmade[op]

    def _op_havoc(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, ast.expr)
        self.bind(state, op.node, self._unknown(op.node), facts)
        frame.pc += 1

    def _op_import(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        node = op.node
        assert isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            env = self._frame(state, node, name)
            if env is None:
                continue
            if isinstance(node, ast.Import) and alias.name.split(".")[0] == "apex":
                env[name] = ("apex", alias.name if alias.asname else "apex")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "apex" and not node.level:
                env[name] = ("apex", f"{node.module}.{alias.name}")
        frame.pc += 1

    def _op_define(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        env = self._frame(state, op.node, op.name)
        if env is not None:
            env[op.name] = ("obj", frozenset({("function", self.naming.place(op.node))}))
        frame.pc += 1

    def _op_branch(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, ast.expr) and op.target is not None
        if _is_main(op.node) or truth(self.value(state, op.node, facts), facts):
            frame.pc += 1
        else:
            frame.pc = op.target.at

    def _op_aside(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event:
        assert op.target is not None
        return Event("aside", op.node, op.target.at)

    def _op_settle(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        """A statement begins: results of calls in earlier ones have been used."""
        frame.settle()
        frame.pc += 1

    def _op_perhaps(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        """Go into an arm of which it is known that it runs, without a question."""
        assert isinstance(op.node, ast.expr) and op.target is not None
        held = self.known(state, op.node, facts)
        if held is (op.name == "body"):
            frame.pc += 1
        else:
            frame.pc = op.target.at

    def _op_known(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, ast.expr) and op.target is not None
        if self.known(state, op.node, facts) is None:
            frame.pc += 1
        else:
            frame.pc = op.target.at

    def known(self, state: State, test: ast.expr, facts: Facts) -> bool | None:
        try:
            return known(self.value(state, test, facts), facts)
        except Ask:
            return None

    def _op_jump(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert op.target is not None
        frame.pc = op.target.at

    def _op_event(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event:
        frame.pc += 1
        about = None
        if op.kind in ("read", "clear"):
            assert isinstance(op.node, ast.stmt)
            about = self.owners(op.node)
        return Event(op.kind, op.node, about)

    def owners(self, node: ast.AST) -> frozenset[Key]:
        """The optimizers whose gradients a piece of code is about: all of them where nothing says which."""
        if node not in self._owners_of:
            self._owners_of[node] = self._found_owners(node)
        return self._owners_of[node]

    def _found_owners(self, node: ast.AST) -> frozenset[Key]:
        found: set[Key] = set()
        for one in ast.walk(node):
            if isinstance(one, ast.expr):
                found |= self.naming.keys(one)
        named = found & self.program.objects.optimizers
        return frozenset(named) or self.program.objects.optimizers

    # ------------------------------------------------------------ loops

    def _group(self, node: ast.For | ast.AsyncFor) -> frozenset[Key]:
        """The optimizers that a loop goes over, if it goes over optimizers."""
        if node not in self._groups:
            self._groups[node] = self._found_group(node)
        return self._groups[node]

    def _found_group(self, node: ast.For | ast.AsyncFor) -> frozenset[Key]:
        found: set[Key] = set()
        for one in ast.walk(node.target):
            if isinstance(one, ast.Name):
                for use in ast.walk(node):
                    if isinstance(use, ast.Name) and use.id == one.id:
                        found |= self.naming.keys(use)
        return frozenset(found & self.program.objects.optimizers)

    def _op_items(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, (ast.For, ast.AsyncFor))
        frame.env.pop(("rounds", self.naming.place(op.node)), None)  # a `break` left it there the last time
        if self._group(op.node):
            term = self.value(state, op.node.iter, facts)
            items = term if term[0] == "seq" and all(map(_says_which, term[1])) else ("seq", (TRUE,))
            frame.env[("items", self.naming.place(op.node))] = items
            frame.env.pop(("row", self.naming.place(op.node)), None)
        frame.pc += 1

    def _op_round(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event | None:
        node = op.node
        assert isinstance(node, (ast.For, ast.AsyncFor)) and op.target is not None
        slot, row = ("items", self.naming.place(node)), ("row", self.naming.place(node))
        left = frame.env.get(slot)
        if left is None:
            frame.pc += 1
            return Event("round", node, op.target.at)
        if not left[1]:
            del frame.env[slot]
            frame.env.pop(row, None)
            frame.pc = op.target.at
            return None
        if left[1][0] != TRUE:
            frame.env[row] = ("k", frame.env[row][1] + 1 if row in frame.env else 0)
        first, frame.env[slot] = left[1][0], ("seq", left[1][1:])
        if first == TRUE:
            for one in ast.walk(node.target):
                if isinstance(one, ast.Name):
                    group = self._group_of(one, node)
                    self.bind(state, one, ("obj", group) if group else self._unknown(one), facts)
        else:
            self.bind(state, node.target, first, facts)
        frame.pc += 1
        return None

    def _group_of(self, name: ast.Name, node: ast.AST) -> frozenset[Key]:
        found: set[Key] = set()
        for use in ast.walk(node):
            if isinstance(use, ast.Name) and use.id == name.id:
                found |= self.naming.keys(use)
        return frozenset(found & (self.program.objects.optimizers | self.program.objects.models))

    def begin_round(self, state: State, node: ast.AST, facts: Facts) -> None:
        """A round of a loop begins: its target is new."""
        assert isinstance(node, (ast.For, ast.AsyncFor))
        for one in ast.walk(node.target):
            if isinstance(one, (ast.Name, ast.Attribute)) and isinstance(one.ctx, ast.Store):
                self.bind(state, one, self._unknown(one), facts)

    # ------------------------------------------------------------ generators

    def _op_generate(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event:
        assert op.value is not None
        call = generator_call(op.value)
        assert call is not None
        callee = next(c for c in self.v.callees(call) if c in self.program.marks.functions)
        frame.generators[self.naming.place(op.node)] = self._entered(state, call, callee, facts)
        frame.pc += 1
        return Event("head", callee)

    def _op_resume(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        made = frame.generators.pop(self.naming.place(op.node), None)
        if made is None:
            raise Unfollowed("a generator that is resumed out of turn")
        state.frames.append(made)

    def _op_yield(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event:
        if len(state.frames) < 2:
            raise Unfollowed("a generator that nobody here reads")
        below = state.frames[-2]
        at = below.code.ops[below.pc]
        if at.kind != "resume":
            raise Unfollowed("a generator that is read by hand")
        term = self.value(state, op.value, facts) if op.value is not None else NONE
        frame.pc += 1
        state.frames.pop()
        below.generators[self.naming.place(at.node)] = frame
        assert isinstance(at.node, (ast.For, ast.AsyncFor))
        target = at.node.target
        if isinstance(at.node.iter, ast.Call) and getattr(at.node.iter.func, "id", "") == "enumerate":
            term = ("seq", (opaque(self.naming.place(target)), term))
        self.bind(state, target, term, facts)
        below.pc += 1
        return Event("head", at.node)

    # ------------------------------------------------------------ with

    def _op_enter(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        item = op.node
        assert isinstance(item, ast.withitem)
        expr = item.context_expr
        call = expr if isinstance(expr, ast.Call) else None
        func = call.func if call is not None else expr
        last = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if last == "autocast":
            enabled = argument(call, 2, "enabled") if call is not None else None
            on = truth(self.value(state, enabled, facts), facts) if enabled is not None else True
            state.contexts.append(("casts", state.casts))
            state.casts = on
        elif last == "disable_casts":
            state.contexts.append(("casts", state.casts))
            state.casts = False
        elif (name := self.program.scaling.stack(item)) is not None:
            state.contexts.append(("stack", name))
        else:
            term = self._entered_context(state, self.value(state, expr, facts))
            if item.optional_vars is not None:
                self.bind(state, item.optional_vars, term, facts)
        frame.pc += 1

    def _scaling(self, state: State, call: ast.Call, facts: Facts) -> Term:
        """What ``amp.scale_loss`` hands back: nothing happens before it is entered."""
        loss, given = argument(call, 0, "loss"), argument(call, 1, "optimizers")
        delayed = next((k.value for k in call.keywords if k.arg == "delay_unscale"), None)
        delay = truth(self.value(state, delayed, facts), facts) if delayed is not None else False
        known = self.program.objects.scales.get(call, self.program.objects.optimizers)
        optimizers = self.optimizers(state, given, facts) if given is not None else known
        term = self.value(state, loss, facts) if loss is not None else opaque(0)
        return ("scaling", self.naming.place(call), optimizers or known, delay, term, self._row(state, loss))

    def _row(self, state: State, loss: ast.expr | None) -> int | None:
        """The round of the loop that hands out a loss, where its items are followed one by one."""
        loop = self.models_of.loop_of(loss) if loss is not None else None
        if loop is None or not state.frames:
            return None
        row: Term = state.frames[-1].env.get(("row", self.naming.place(loop)), NONE)
        return row[1]  # type: ignore[no-any-return]

    def _entered_context(self, state: State, term: Term, on_stack: bool = False) -> Term:
        """Enter ``amp.scale_loss`` or the context that stands in for it; what that gives."""
        if term[0] == "null":
            if not on_stack:
                state.contexts.append(("null",))
            return _inside(term)
        if term[0] != "scaling":
            raise Unfollowed("a block of which it is not known whether it scales its loss")
        _, place, optimizers, delay, loss, row = term
        machines.apex_enter(state, optimizers, delay)
        state.contexts.append(("scale", place, optimizers, delay, on_stack, row))
        return ("scaled", place) if state.active else loss

    def _enter_on_stack(self, state: State, frame: Frame, call: ast.Call, facts: Facts) -> None:
        """``stack.enter_context(amp.scale_loss(…))``, where nothing else was entered since the stack was."""
        assert isinstance(call.func, ast.Attribute)
        around = next((c for c in reversed(state.contexts) if not (c[0] == "scale" and c[4])), ("",))
        if around != ("stack", getattr(call.func.value, "id", None)):
            raise Unfollowed("a scaled loss that is entered on a stack from somewhere else")
        term = self._entered_context(state, self.value(state, call.args[0], facts), on_stack=True)
        frame.env[("ret", self.naming.place(call))] = term

    def optimizers(self, state: State, expr: ast.expr, facts: Facts) -> frozenset[Key]:
        """The optimizers that an expression stands for, lists opened."""
        found: set[Key] = set()
        todo = [self.value(state, expr, facts)]
        while todo:
            term = todo.pop()
            if term[0] == "obj":
                found |= {k for k in term[1] if k in self.program.objects.optimizers}
            elif term[0] == "seq":
                todo += term[1]
        return frozenset(found) or (self.naming.keys(expr) & self.program.objects.optimizers)

    def _op_leave(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        for context in _popped(state):
            if context[0] == "casts":
                state.casts = context[1]
            elif context[0] == "scale":
                machines.apex_leave(state, context[2], context[3])
        frame.pc += 1

    def _op_abandon(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        for context in _popped(state):
            if context[0] == "casts":
                state.casts = context[1]
        frame.pc += 1

    # ------------------------------------------------------------ leaving

    def _op_return(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        term = self.value(state, op.value, facts) if op.value is not None else NONE
        state.frames.pop()
        if not state.frames:
            return
        kept = self.program.definitions.outlived(frame.code.node)
        if kept:
            state.closed[self.naming.place(frame.code.node)] = {k: t for k, t in frame.env.items() if k in kept}
        below = state.frames[-1]
        at = below.code.ops[below.pc]
        if at.kind == "resume":
            assert at.target is not None
            below.pc = at.target.at
        elif at.kind == "call":
            constructed = isinstance(frame.code.node, ast.FunctionDef) and frame.code.node.name == "__init__"
            if not (constructed and ("ret", self.naming.place(at.node)) in below.env):
                below.env[("ret", self.naming.place(at.node))] = term
            below.pc += 1

    def _op_raise(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        if isinstance(op.node, ast.Raise) and op.node.exc is not None:
            exc = op.node.exc.func if isinstance(op.node.exc, ast.Call) else op.node.exc
            state.raising = exc.attr if isinstance(exc, ast.Attribute) else getattr(exc, "id", "?")
        elif isinstance(op.node, ast.Assert):
            state.raising = "AssertionError"
        elif state.raising is None:
            state.raising = "?"
        self.unwind(state)

    def unwind(self, state: State) -> None:
        """Carry an exception to the next handler or block that is left."""
        while state.frames:
            frame = state.frames[-1]
            op = frame.code.ops[min(frame.pc, len(frame.code.ops) - 1)]
            if op.pad is not None:
                frame.pc = op.pad.at
                return
            state.frames.pop()

    def caught(self, state: State) -> bool:
        """Whether an exception raised now would be caught, or pass a block that is left, in this program."""
        for frame in reversed(state.frames):
            op = frame.code.ops[max(min(frame.pc, len(frame.code.ops) - 1), 0)]
            pad = op.pad
            while pad is not None:
                first = frame.code.ops[pad.at]
                if first.kind == "handler":
                    return True
                pad = first.pad
        return False

    def _op_handler(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        handler = op.node
        assert isinstance(handler, ast.ExceptHandler) and op.target is not None
        if self._handles(handler, state.raising or "?", facts):
            state.raising = None
            if handler.name is not None:
                env = self._frame(state, handler, handler.name)
                if env is not None:
                    env[handler.name] = opaque(self.naming.place(handler), handler.name)
            frame.pc += 1
        else:
            frame.pc = op.target.at

    def _handles(self, handler: ast.ExceptHandler, raised: str, facts: Facts) -> bool:
        if handler.type is None:
            return True
        types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        names = {t.attr if isinstance(t, ast.Attribute) else getattr(t, "id", "?") for t in types}
        if names & {"Exception", "BaseException"} or raised in names:
            return True
        if raised == "?":
            if names <= {"ImportError", "ModuleNotFoundError", "KeyboardInterrupt", "StopIteration", "AttributeError",
                         "KeyError", "NameError", "OSError", "FileNotFoundError"}:
                return False
            return truth(("v", self.naming.place(handler), "handles"), facts)
        return raised == "FloatingPointError" and "ArithmeticError" in names

    def _op_case(self, state: State, frame: Frame, op: Op, facts: Facts) -> None:
        assert isinstance(op.node, ast.match_case) and op.target is not None
        term: Term = ("v", self.naming.place(op.node.body[0]), "case")
        rest = isinstance(op.node.pattern, ast.MatchAs) and op.node.pattern.pattern is None and op.node.guard is None
        frame.pc = frame.pc + 1 if rest or truth(term, facts) else op.target.at

    def _op_epilogue(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event | None:
        node = frame.code.node
        waiting = self.program.entries.all if node is self.m.tree else self.program.entries.nested(node)
        if not waiting:
            frame.pc += 1
            return None
        return Event("choose", node, waiting)

    def choose(self, state: State, which: ast.AST | None, facts: Facts) -> None:
        """Run one of the functions that nobody here calls, or go on."""
        if which is None:
            state.frames[-1].pc += 1
            return
        frame = Frame(self.program.code(which))
        scope = self.m.scope_of[which]
        assert isinstance(which, (ast.FunctionDef, ast.AsyncFunctionDef))
        args = which.args
        for param in (*args.posonlyargs, *args.args, *args.kwonlyargs):
            frame.env[param.arg] = self._param(which, param.arg)
        owner = self.m.class_of(scope)
        first = self.m.self_name(scope)
        state.frames.append(frame)
        if owner is None or first is None:
            return
        concrete = self.program.entries.concrete(owner)
        key: Key = ("instance", self.naming.place(concrete))
        frame.env[first] = ("obj", frozenset({key}))
        init = self.v.callee(Obj("class", concrete, concrete.name))
        if init in self.program.marks.functions and init is not which and (key, " made") not in state.heap:
            assert init is not None
            made = Frame(self.program.code(init))
            for name in self.m.scope_of[init].params:
                made.env[name] = self._param(init, name)
            made.env[self.m.scope_of[init].params[0]] = ("obj", frozenset({key}))
            state.frames.append(made)
        state.heap[(key, " made")] = TRUE

    def _param(self, function: ast.AST, name: str) -> Term:
        held = {self.naming.key(o) for o in opened(self.v, self.v.variable(name, self.m.scope_of[function]))}
        known = held & (self.program.objects.optimizers | self.program.objects.models)
        return ("obj", frozenset(known)) if known else opaque(self.naming.place(function), name)

    # ------------------------------------------------------------ calls

    def _op_call(self, state: State, frame: Frame, op: Op, facts: Facts) -> Event | None:
        call = op.node
        kind = self.program.marks.kind[call]
        if kind in ("state", "scale") and self.legacy and not state.initialized:
            raise LegacyRaises  # AttributeError: no loss scaler was made
        if isinstance(call, ast.Attribute):
            if kind == "call":
                return self._inline(state, frame, call, facts)
            frame.pc += 1
            return Event(kind, call)
        assert isinstance(call, ast.Call)
        if kind in ("forward", "loss", "state", "scale"):
            if kind == "forward" and self.legacy and self._unset(state, call.func, facts):
                raise LegacyRaises  # AttributeError: nobody has set this model yet
            frame.pc += 1
            return Event(kind, call)
        if kind == "foreign":
            frame.pc += 1
            return Event(kind, call)
        if kind == "zero":
            frame.pc += 1
            return Event("zero", call, self._zeroed(state, call, facts))
        if kind == "gradients":  # of a scaled loss: whoever takes them puts them into ``.grad``
            loss = self._loss(state, call, facts)
            frame.pc += 1
            return Event("backward", call, loss) if loss[0] == "scaled" else None
        if kind == "backward":
            event = Event("backward", call, self._loss(state, call, facts))
            frame.pc += 1
            return event
        if kind == "step":
            assert isinstance(call.func, ast.Attribute)
            closure = self._closure(state, call, 0, facts)
            event = Event("step", call, (None, self.optimizers(state, call.func.value, facts)), closure)
            frame.pc += 1
            return event
        if kind == "entered":
            self._enter_on_stack(state, frame, call, facts)
            frame.pc += 1
            return None
        if kind == "initialize":
            self._initialize(state, call, facts)
            frame.pc += 1
            return None
        if kind == "create":
            self._create(state, frame, call, facts)
            frame.pc += 1
            return None
        if kind == "scaler":
            return self._scaler_call(state, frame, call, facts)
        if kind == "call":
            return self._inline(state, frame, call, facts)
        frame.pc += 1
        return None

    def _is_list(self, expr: ast.expr) -> bool:
        held = self.v.of(expr)
        return bool(held) and all(o.kind in ("seq", "dict") or self.v.is_container(o) for o in held)

    def _closure(self, state: State, call: ast.Call, first: int, facts: Facts) -> bool:
        """Whether a step is handed anything but None."""
        given = [*call.args[first:], *(k.value for k in call.keywords)]
        return any(self.value(state, one, facts) != NONE for one in given)

    def _unset(self, state: State, func: ast.expr, facts: Facts) -> bool:
        """Whether ``self.model`` is read of an object that has no such attribute yet, though this file sets it."""
        if not isinstance(func, ast.Attribute) or not self.naming.keys(func) & self.program.objects.models:
            return False
        owner = self.value(state, func.value, facts)
        if owner[0] != "obj" or len(owner[1]) != 1 or not self.program.definitions.sets(func.attr):
            return False
        (key,) = owner[1]
        return (key, " made") in state.heap and (key, func.attr) not in state.heap

    def _zeroed(self, state: State, call: ast.Call, facts: Facts) -> tuple[frozenset[Key], bool]:
        assert isinstance(call.func, (ast.Attribute, ast.Name))
        given = next((k.value for k in call.keywords if k.arg == "set_to_none"), call.args[0] if call.args else None)
        to_none = not (isinstance(given, ast.Constant) and given.value is False)
        if isinstance(call.func, ast.Attribute):
            mine = self.optimizers(state, call.func.value, facts)
            models = self.models_of.meant(call.func.value)
            if not mine and models:
                mine = self.models_of.having(models)
            return (mine or self.program.objects.optimizers), to_none
        return self.program.objects.optimizers, to_none

    def _loss(self, state: State, call: ast.Call, facts: Facts) -> Term:
        """What is differentiated: a scaled loss or another one."""
        owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
        candidates = [*owner, *call.args, *(k.value for k in call.keywords if k.arg == "tensors")]
        for one in candidates:
            term = self.value(state, one, facts)
            if term[0] == "scaled":
                return term
            if term[0] == "seq" and any(t[0] == "scaled" for t in term[1]):
                return next(t for t in term[1] if t[0] == "scaled")
        return NONE

    def _initialize(self, state: State, call: ast.Call, facts: Facts) -> None:
        old_api = getattr(call.func, "attr", getattr(call.func, "id", "")) == "init"
        enabled = argument(call, 0 if old_api else 2, "enabled")
        if enabled is not None and not truth(self.value(state, enabled, facts), facts):
            state.initialized = True
            return
        optimizers = argument(call, 1, "optimizers")
        for key in self.program.objects.known(optimizers) if optimizers is not None and not old_api else ():
            state.heap[(key, _MARK)] = TRUE
        if any(k.arg is None for k in call.keywords):
            raise Unfollowed("the options of amp.initialize come in a dictionary")
        level = argument(call, 3, "opt_level")
        on = True
        if level is not None and self.maybe_o0(call):
            on = not truth(compared("eq", self.value(state, level, facts), ("k", "O0")), facts)
        scale = next((k.value for k in call.keywords if k.arg == "loss_scale"), None)
        term = self.value(state, scale, facts) if scale is not None else NONE
        plain = level is not None and self.value(state, level, facts) == ("k", "O3") and term == NONE
        active = on and self.scaled and not plain and term not in (("k", 1.0), ("k", 1))
        machines.apex_initialize(state, on, active)
        for frame in state.frames:
            if self.program.entries.initializes(frame.code.node):
                frame.env[("switched",)] = TRUE

    def left_over(self, state: State) -> bool:
        """Whether casts are on only because a function ran before that switches them on further down."""
        for frame in state.frames:
            sites = self.program.entries.switches(frame.code.node)
            if not sites or ("switched",) in frame.env or isinstance(frame.code.node, ast.Module):
                continue
            here = frame.code.ops[frame.pc].node
            if here not in self.m.parent:
                continue
            loops = set(self.m.loops(here))
            if all(self.m.start(here) < self.m.start(s) and not loops & set(self.m.loops(s)) for s in sites):
                return True
        return False

    def _create(self, state: State, frame: Frame, call: ast.Call, facts: Facts) -> None:
        enabled = argument(call, 6, "enabled")
        on = truth(self.value(state, enabled, facts), facts) if enabled is not None else True
        key: Key = ("call", self.naming.place(call))
        state.stopped = not on and state.started > 0
        state.started += on
        state.scalers[key] = machines.new_scaler(on)
        state.fresh = True
        frame.env[("ret", self.naming.place(call))] = ("scaler", key)

    def _scaler(self, state: State, expr: ast.expr, facts: Facts) -> Key:
        """The scaler that an expression stands for; a crash where there is none yet."""
        text = self.m.src(expr)
        term = self.value(state, expr, facts)
        if term[0] == "scaler":
            return term[1]  # type: ignore[no-any-return]
        if term == NONE:
            raise Crash(f"`{text}` is None here")
        if isinstance(expr, ast.Attribute) and self._never_made(state, expr.value, facts):
            raise LegacyRaises  # an object that nobody made on this path
        made = [k for k in self.program.scaling.scalers(expr) if k in state.scalers]
        if not made:
            raise Crash(f"`{text}` does not exist yet")
        if isinstance(expr, ast.Name):
            env = self._frame(state, expr, expr.id)
            if env is not None and expr.id not in env:
                raise Crash(f"`{text}` does not exist yet")
        if isinstance(expr, ast.Attribute):
            owner = self.value(state, expr.value, facts)
            if owner[0] == "obj" and not any((k, expr.attr) in state.heap for k in owner[1]):
                raise Crash(f"`{text}` does not exist yet")
        return made[0]

    def _never_made(self, state: State, expr: ast.expr, facts: Facts) -> bool:
        """Whether an object has a constructor here that did not run on this path."""
        owner = self.value(state, expr, facts)
        keys = owner[1] if owner[0] == "obj" else {k for k in self.naming.keys(expr) if k[0] == "instance"}
        with_constructor = {
            ("instance", self.naming.place(cls))
            for f in self.program.marks.functions
            if getattr(f, "name", "") == "__init__" and (cls := self.m.class_of(self.m.scope_of[f])) is not None
        }
        return bool(keys) and all(key in with_constructor and (key, " made") not in state.heap for key in keys)

    def _scaler_call(self, state: State, frame: Frame, call: ast.Call, facts: Facts) -> Event | None:
        assert isinstance(call.func, ast.Attribute)
        key = self._scaler(state, call.func.value, facts)
        name = call.func.attr
        place = self.naming.place(call)
        if name == "scale" and call.args:
            loss = self.value(state, call.args[0], facts)
            frame.env[("ret", place)] = ("scaled", key) if machines.torch_scale(state, key) else loss
        elif name in ("unscale_", "step") and call.args and self._is_list(call.args[0]):
            raise Crash(f"{name}() is handed a list of optimizers")
        elif name == "unscale_" and call.args:
            machines.torch_unscale(state, key, self.optimizers(state, call.args[0], facts))
        elif name == "step" and call.args:
            closure = self._closure(state, call, 1, facts)
            event = Event("step", call, (key, self.optimizers(state, call.args[0], facts)), closure)
            frame.pc += 1
            return event
        elif name == "update":
            machines.torch_update(state, key)
        elif name == "get_scale":
            frame.pc += 1
            return Event("scale", call)
        elif name in ("state_dict", "load_state_dict"):
            frame.pc += 1
            return Event("state", call)
        frame.pc += 1
        return None

    def _inline(self, state: State, frame: Frame, call: ast.Call | ast.Attribute, facts: Facts) -> Event | None:
        made = self._made_class(call, facts)
        every = self._callees(state, call, facts) if made is None else [self.v.callee(made)]
        callees = [c for c in every if c in self.program.marks.functions]
        spared = len(callees) < len(every) and isinstance(call, ast.Call) and _by_name(call) is not None
        callees = [c for c in callees if not any(f.code.node is c for f in state.frames)]  # recursion: once
        callees = [c for c in callees if not self.program.code(c).generator]
        if not callees:
            frame.pc += 1
            return None
        callees.sort(key=self.naming.place)
        for number, callee in enumerate(callees):
            runs = opaque(self.naming.place(call), f"runs {self.naming.place(callee)}")
            if (number == len(callees) - 1 and not spared) or truth(runs, facts):
                frame = self._entered(state, call, callee, facts)
                if made is not None:
                    frame.env[("made",)] = ("obj", frozenset({("instance", self.naming.place(made.key))}))  # type: ignore[arg-type]
                return Event("enter", call, (callee, frame))
        frame.pc += 1
        return None

    def _made_class(self, call: ast.Call | ast.Attribute, facts: Facts) -> Obj | None:
        """The class that a call makes an instance of, where it may be one of several."""
        held = self.v.of(call.func) if isinstance(call, ast.Call) else frozenset()
        classes = [o for o in held if o.kind == "class" and isinstance(o.key, ast.ClassDef)]
        if len(classes) < 2 or len(classes) < len(held) or any(self.v.callee(o) is None for o in classes):
            return None
        classes.sort(key=lambda o: self.naming.place(o.key))  # type: ignore[arg-type]
        for one in classes[:-1]:
            if truth(opaque(self.naming.place(call), f"makes {self.naming.place(one.key)}"), facts):  # type: ignore[arg-type]
                return one
        return classes[-1]

    def _callees(self, state: State, call: ast.Call | ast.Attribute, facts: Facts) -> list[ast.AST]:
        every = self.program.callees.runs(call)
        if isinstance(call, ast.Call) and (named := _by_name(call)) is not None:
            term = self.value(state, named, facts)
            others = [o for o in self.v.of(call.func) if o.kind == "method" and term[0] == "k" and o.label != term[1]]
            left_out = {o.key[1] for o in others}  # type: ignore[index]
            return [f for f in every if f not in left_out]
        if isinstance(call, ast.Attribute) or len(every) < 2:
            return every
        called = [o for o in self.v.of(call.func) if o.kind == "instance"]
        if called:  # their `__call__`
            term = self.value(state, call.func, facts)
            meant = [o for o in called if term[0] == "obj" and self.naming.key(o) in term[1]]
            return [f for o in meant if (f := self.v.callee(o)) is not None] or every
        if isinstance(call.func, ast.Name):
            term = self.value(state, call.func, facts)
            places = {key[1] for key in term[1] if key[0] == "function"} if term[0] == "obj" else set()
            return [f for f in every if self.naming.place(f) in places] or every
        if not isinstance(call.func, ast.Attribute):
            return every
        owner = self.value(state, call.func.value, facts)
        if owner[0] != "obj":
            return every
        found: list[ast.AST] = []
        for obj in self.v.of(call.func):
            if obj.kind == "method" and self.naming.key(obj.key[0]) in owner[1]:  # type: ignore[index]
                found.append(obj.key[1])  # type: ignore[index]
        return found or every

    def pass_by(self, state: State, call: ast.AST) -> None:
        """Leave a call out: nothing is known of its result."""
        frame = state.frames[-1]
        frame.env[("ret", self.naming.place(call))] = self._unknown(call)
        frame.pc += 1

    def enter(self, state: State, call: ast.AST, callee: ast.AST, frame: Frame) -> None:
        """Go into a function of the program."""
        scope = self.m.scope_of[callee]
        if isinstance(callee, ast.FunctionDef) and callee.name == "__init__":
            owners = [o for o in self.v.of(call) if o.kind == "instance"]
            if owners:
                every: Term = ("obj", frozenset(self.naming.key(o) for o in owners))
                made = frame.env.pop(("made",), every)
                frame.env[scope.params[0]] = made
                state.frames[-1].env[("ret", self.naming.place(call))] = made
                for key in made[1]:
                    state.heap[(key, " made")] = TRUE
        state.frames.append(frame)

    def _entered(self, state: State, call: ast.Call | ast.Attribute, callee: ast.AST, facts: Facts) -> Frame:
        frame = Frame(self.program.code(callee))
        scope = self.m.scope_of[callee]
        assert isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        args = callee.args
        names = [p.arg for p in (*args.posonlyargs, *args.args)]
        for name in scope.params:
            frame.env[name] = self._param(callee, name)
        for name, default in zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True):
            if isinstance(default, (ast.Constant, ast.Name)):
                frame.env[name] = self.value(state, default, facts)
        for param, kw_default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if isinstance(kw_default, (ast.Constant, ast.Name)):
                frame.env[param.arg] = self.value(state, kw_default, facts)
        receiver = self.m.self_name(scope)
        if isinstance(call, ast.Attribute):  # a property
            owner = self.value(state, call.value, facts)
            if receiver is not None and owner[0] == "obj":
                frame.env[receiver] = owner
            return frame
        if callee not in self.v.callees(call):  # handed to code that is not here
            return frame
        part = next((o.key for o in self.v.of(call.func) if o.kind == "partial"), None)
        if isinstance(part, ast.Call):
            given = part.args[1:]
            for name, arg in zip(names, given, strict=False):
                frame.env[name] = self.value(state, arg, facts)
            for keyword in part.keywords:
                if keyword.arg in scope.params:
                    frame.env[keyword.arg] = self.value(state, keyword.value, facts)
            names = names[len(given) :]
        if any(unbound(o) for o in self.v.of(call.func)):
            pass  # Base.method(self, x)
        elif receiver is not None and any(o.kind == "instance" for o in self.v.of(call.func)):  # its __call__
            called = self.value(state, call.func, facts)
            if called[0] != "obj":
                called = ("obj", frozenset(self.naming.key(o) for o in self.v.of(call.func) if o.kind == "instance"))
            frame.env[receiver] = called
            names = names[1:]
        elif receiver is not None and isinstance(call.func, ast.Attribute):
            owner = self.value(state, call.func.value, facts)
            if owner[0] != "obj" and isinstance(call.func.value, ast.Call):  # super().method()
                outer = next((f.env[n] for f in reversed(state.frames) for n in [self._receiver(f)] if n), None)
                owner = outer or owner
            if owner[0] == "obj":
                frame.env[receiver] = owner
            names = names[1:]
        elif receiver is not None or self.m.class_name(scope) is not None:
            if receiver is not None and _by_name(call) is not None:
                held = [o.key[0] for o in self.v.of(call.func) if o.kind == "method" and o.key[1] is callee]  # type: ignore[index]
                frame.env[receiver] = ("obj", frozenset(self.naming.key(o) for o in held))
            names = names[1:]
        for number, arg in enumerate(call.args):
            if isinstance(arg, ast.Starred):
                break
            if number < len(names):
                frame.env[names[number]] = self.value(state, arg, facts)
        more: list[tuple[object, Term]] = []
        for keyword in call.keywords:
            term = self.value(state, keyword.value, facts)
            for name, one in [(keyword.arg, term)] if keyword.arg else term[1] if term[0] == "dict" else ():
                if name in scope.params:
                    frame.env[name] = one
                else:
                    more.append((name, one))
        if args.kwarg is not None and all(k.arg or self._record_of(state, k.value, facts) for k in call.keywords):
            frame.env[args.kwarg.arg] = self._record(more)
        return frame

    def _record_of(self, state: State, expr: ast.expr, facts: Facts) -> bool:
        return bool(self.value(state, expr, facts)[0] == "dict")

    def _receiver(self, frame: Frame) -> str | None:
        if isinstance(frame.code.node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.m.self_name(self.m.scope_of[frame.code.node])
        return None


def _by_name(call: ast.Call) -> ast.expr | None:
    """The name by which ``getattr(obj, name)(…)`` finds what it calls."""
    got = call.func
    if isinstance(got, ast.Call) and isinstance(got.func, ast.Name) and got.func.id == "getattr":
        return got.args[1] if len(got.args) >= 2 else None
    return None


def _says_which(term: Term) -> bool:
    """Whether an item of a list is an object that is known, or a tuple with one."""
    return term[0] == "obj" or (term[0] == "seq" and any(map(_says_which, term[1])))


def _inside(term: Term) -> Term:
    """What entering a context gives: a ``nullcontext`` what it was made with."""
    return term[1] if term[0] == "null" else term


def _popped(state: State) -> list[tuple[Any, ...]]:
    """Take off what a block that ends has entered, innermost first: all that is on its stack, if it is one."""
    found = [state.contexts.pop()]
    while found[-1][0] == "scale" and found[-1][4]:
        found.append(state.contexts.pop())
    return found


def _is_main(test: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"

