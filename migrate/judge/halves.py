"""Which values reach, outside of autocast's regions, what Apex cast and nothing casts natively: a look of its own at
the new text, beside the run of both programs, which takes a model's call for one step.

Every function is run once in order, with what it is handed where it is called here; branches are joined, and what is
not known is never complained of. The planner's rooms (`units/precision.py`, `plan/precision`) are not asked.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..facts.names import is_property, root_name
from ..facts.usual_names import dotted
from ..knowledge import operations as known
from ..knowledge.models import GENERATING, OPTIONS
from ..knowledge.results import floating
from ..nodes import positional_parameters
from . import widths
from .casting import FUNCTIONAL, PROMOTING, TORCH, Frame, Narrowed, Operations, item_of, pythons
from .program.program import Program
from .program.syntax import FUNCTIONS, last_name
from .widths import (
    A_NUMBER,
    ANYTHING,
    FLOAT,
    FLOATS,
    HALF,
    NO_VALUE,
    Width,
    join,
    joined,
    many,
)

_PASSES = 4  # in which what one function leaves in an attribute reaches another
_DEPTH = 6
_FORGET = known.TYPE_FORGOTTEN_BY_FUNCTION | frozenset("list tuple sorted zip enumerate iter next reversed sum".split())
_ADDS = frozenset("append add appendleft".split())
_HANDED = "is handed half precision where Apex handed float32"


@dataclass
class _Kept:
    """Attributes by their class, names by the function or file that they are of; and what other functions put there."""

    all: dict[tuple[ast.AST | None, str], Width] = field(default_factory=dict)
    from_others: dict[tuple[ast.AST | None, str], Width] = field(default_factory=dict)


class Halves(Operations):
    """One new program. ``patched``: Apex cast torch's functions (O1), else models alone (O2, O3)."""

    def __init__(self, program: Program, patched: bool) -> None:
        super().__init__(program, patched)
        self.m = program.m
        self._kept, self._puts = _Kept(), _Kept()  # what the last pass found, and what this one finds
        self._results: dict[object, Width] = {}
        self._entered: set[ast.AST] = set()

    def run(self) -> list[Narrowed]:
        for _ in range(_PASSES):
            self._puts = _Kept()
            self.found.clear()
            self._results.clear()
            self._entered.clear()
            self._pass()
            if self._puts == self._kept:
                break
            self._kept = self._puts
        return list(self.found.values())

    def _pass(self) -> None:
        for file in self.m.files:
            self._block(Frame(False, 0, None), file.tree.body)
        called = self.v.callers
        functions = [*self.m.all(ast.FunctionDef), *self.m.all(ast.AsyncFunctionDef)]
        for function in sorted(functions, key=lambda one: bool(called.get(one))):
            if function not in self._entered:
                self._enter(function, {}, False, 0)

    # ------------------------------------------------------------ functions

    def _enter(self, function: ast.AST, given: dict[str, Width], region: bool, depth: int) -> Width:
        if not isinstance(function, FUNCTIONS) or depth > _DEPTH:
            return ANYTHING
        assert isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        region = region or any(last_name(_func(d)) == "autocast" for d in function.decorator_list)
        key = (function, region, tuple((name, held) for name, held in given.items() if held != ANYTHING))
        if key not in self._results:
            self._results[key] = ANYTHING  # where it calls itself
            self._entered.add(function)
            frame = Frame(region, depth, self.m.class_of(self.m.scope_of[function]), env=dict(given))
            for name in self.m.scope_of[function].params:
                _keep(self._puts.all, (function, name), frame.env.setdefault(name, ANYTHING))
            self._block(frame, function.body)
            self._results[key] = frame.returned if frame.yielded is None else many(frame.yielded)
        return self._results[key]

    def _call_of(
        self,
        frame: Frame,
        function: ast.AST,
        call: ast.Call,
        args: list[Width],
        words: dict[str, Width],
        receiver: Width,
    ) -> Width:
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return ANYTHING
        names = positional_parameters(function)
        scope = self.m.scope_of[function]
        if names and (self.m.self_name(scope) == names[0] or self.m.class_name(scope) == names[0]):
            names = names[1:]
        given = {"self": receiver} if receiver.holds and self.m.self_name(scope) == "self" else {}
        given |= _bound(function, names, call, args, words)
        given = {name: held for name, held in given.items() if name in scope.params}
        held = self._enter(function, given, frame.region, frame.depth + 1)
        return ANYTHING if held == NO_VALUE else held

    # ------------------------------------------------------------ statements

    def _block(self, frame: Frame, body: Sequence[ast.stmt]) -> None:
        for stmt in body:
            self._statement(frame, stmt)

    def _arms(self, frame: Frame, *arms: Sequence[ast.stmt]) -> None:
        """One of these is run, or (an empty one) none."""
        before, after = frame.env, list[dict[str, Width]]()
        for arm in arms:
            frame.env = dict(before)
            self._block(frame, arm)
            after.append(frame.env)
        names = dict.fromkeys(name for env in after for name in env)
        frame.env = {name: joined(env.get(name, NO_VALUE) for env in after) for name in names}

    def _statement(self, frame: Frame, stmt: ast.stmt) -> None:
        match stmt:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                frame.env[stmt.name] = ANYTHING
            case ast.ClassDef():
                pass
            case ast.Assign(targets=targets, value=value):
                held = self._expr(frame, value)
                for target in targets:
                    self._assign(frame, target, held)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(frame, target, self._expr(frame, value))
            case ast.AugAssign(target=target, op=op, value=value):
                old, new = self._expr(frame, target), self._expr(frame, value)
                held = self.arithmetic(frame, stmt, op, old, new)
                if isinstance(op, PROMOTING) and old.new in (HALF, FLOAT):
                    held = widths.put_in(held, old.new)  # in place
                    if old.new == HALF and new.new == FLOAT and held.narrowed:
                        self.say(stmt, "stays half, in place, where Apex made float32 of it")
                self._assign(frame, target, held)
            case ast.Return(value=value):
                held = self._expr(frame, value) if value is not None else NO_VALUE
                if frame.depth == 0 and held.narrowed:
                    self.say(stmt, "gives back half precision where Apex gave float32")
                frame.returned = join(frame.returned, held)
            case ast.If(test=test, body=body, orelse=orelse):
                self._expr(frame, test)
                self._arms(frame, body, orelse)
            case ast.While(test=test, body=body, orelse=orelse):
                for _ in range(2):
                    self._expr(frame, test)
                    self._arms(frame, body, [])
                self._block(frame, orelse)
            case ast.For(target=target, iter=source, body=body, orelse=orelse) | ast.AsyncFor(
                target=target, iter=source, body=body, orelse=orelse
            ):
                held = self._expr(frame, source)
                for _ in range(2):
                    self._assign(frame, target, held.element)
                    self._arms(frame, body, [])
                self._block(frame, orelse)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                self._with(frame, items, body)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                self._arms(frame, [*body, *orelse], *([*body, *one.body] for one in handlers))
                self._block(frame, final)
            case ast.Match(subject=subject, cases=cases):
                self._expr(frame, subject)
                self._arms(frame, [], *(one.body for one in cases))
            case ast.Expr(value=value):
                self._put(frame, value)
            case ast.Delete() | ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Global() | ast.Nonlocal():
                pass
            case _:
                for child in ast.iter_child_nodes(stmt):
                    if isinstance(child, ast.expr):
                        self._expr(frame, child)

    def _with(self, frame: Frame, items: Sequence[ast.withitem], body: Sequence[ast.stmt]) -> None:
        region, off = frame.region, frame.off
        for item in items:
            expr = item.context_expr
            held = self._expr(frame, expr)
            if last_name(_func(expr)) == "autocast" or self.p.scaling.autocasting.enters(expr):
                never = isinstance(expr, ast.Call) and any(map(_switches_off, expr.keywords))
                frame.region, frame.off = not never, never and self.p.naming.twin(expr) is not None
            elif self.p.scaling.disables(expr):
                frame.off = True
            if item.optional_vars is not None:
                self._assign(frame, item.optional_vars, held)
        self._block(frame, body)
        frame.region, frame.off = region, off

    def _put(self, frame: Frame, value: ast.expr) -> Width:
        """A call for its effect: what a list is given, it has."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as base, attr=name), args=[one]) if (
                name in _ADDS or name == "extend"
            ):
                had, held = self._expr(frame, base), self._expr(frame, one)
                if had.holds and not had.items:
                    self._assign(frame, base, many(join(had.element, held.element if name == "extend" else held)))
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Call(func=ast.Attribute(value=base, attr="setdefault"), args=[_, ast.List(elts=[])]),
                    attr="append",
                ),
                args=[one],
            ):
                self._assign(frame, base, many(join(self._expr(frame, base).element, many(self._expr(frame, one)))))
            case _:
                return self._expr(frame, value)
        return ANYTHING

    def _assign(self, frame: Frame, target: ast.expr, held: Width) -> None:
        match target:
            case ast.Name(id=name):
                frame.env[name] = held
                home = self._home(target)
                _keep(self._puts.all, (home, name), held)
                if home is not self.m.function(target).node:
                    _keep(self._puts.from_others, (home, name), held)
            case ast.Attribute():
                if text := dotted(target):
                    frame.env[text] = held
                    _keep(self._puts.all, (frame.owner, text), held)
            case ast.Subscript(value=base, slice=index):
                self._expr(frame, index)
                had = self._expr(frame, base)
                if had.holds and isinstance(base, (ast.Name, ast.Attribute)):
                    self._assign(frame, base, many(join(had.element, held)))
            case ast.Starred(value=inner):
                self._assign(frame, inner, ANYTHING)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                exact = held.items and not any(isinstance(one, ast.Starred) for one in elts)
                for number, one in enumerate(elts):
                    part = held.item(number) if exact else ANYTHING if held.items else held.element
                    if held.opaque and isinstance(one, ast.Name) and floating(one.id):
                        part = Width(held.old, held.new)  # of what a model gave, by its name
                    self._assign(frame, one, part)

    def _home(self, name: ast.Name) -> ast.AST | None:
        """The function or file that a name is of."""
        home = self.m.binding_scope(name.id, self.m.scope(name))
        return home.node if home is not None else None

    # ------------------------------------------------------------ expressions

    def _expr(self, frame: Frame, node: ast.expr) -> Width:
        match node:
            case ast.Constant(value=value):
                number = isinstance(value, (int, float))
                return NO_VALUE if value is None else A_NUMBER if number else ANYTHING
            case ast.Name(id=name):
                place = (self._home(node), name)
                if name in frame.env:
                    return join(frame.env[name], self._kept.from_others.get(place, NO_VALUE))
                return self._kept.all.get(place, ANYTHING)
            case ast.Attribute(value=base, attr=attr):
                return self._attribute(frame, node, base, attr)
            case ast.Subscript(value=base, slice=index):
                held = self._expr(frame, base)
                self._expr(frame, index)
                return item_of(held, index)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                items = [self._expr(frame, one) for one in elts]
                if not elts or any(isinstance(one, ast.Starred) for one in elts):
                    return many(joined(items) if not elts else ANYTHING)
                if isinstance(node, ast.List) and len(elts) > 8:
                    return many(joined(items))
                return widths.record(enumerate(items))
            case ast.Dict(keys=keys, values=values):
                under = [self._expr(frame, one) for one in values]
                names = [one.value if isinstance(one, ast.Constant) else None for one in keys]
                if not keys or None in names:
                    return many(joined(under))
                return widths.record(zip(names, under, strict=True))
            case ast.ListComp(elt=elt, generators=gens) | ast.SetComp(elt=elt, generators=gens) | ast.GeneratorExp(
                elt=elt, generators=gens
            ) | ast.DictComp(value=elt, generators=gens):
                before, frame.env = frame.env, dict(frame.env)
                for gen in gens:
                    self._assign(frame, gen.target, self._expr(frame, gen.iter).element)
                    for test in gen.ifs:
                        self._expr(frame, test)
                held_by = self._expr(frame, elt)
                frame.env = before
                return many(held_by)
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(frame, node, op, self._expr(frame, left), self._expr(frame, right))
            case ast.UnaryOp(op=op, operand=operand):
                one = self._expr(frame, operand)
                return A_NUMBER if isinstance(op, ast.Not) else one
            case ast.Compare(left=left, comparators=others):
                for each in (left, *others):
                    self._expr(frame, each)
                return A_NUMBER
            case ast.BoolOp(values=values):
                return joined([self._expr(frame, one) for one in values])
            case ast.IfExp(test=test, body=one_arm, orelse=other):
                self._expr(frame, test)
                return join(self._expr(frame, one_arm), self._expr(frame, other))
            case ast.NamedExpr(target=target, value=value):
                held_now = self._expr(frame, value)
                self._assign(frame, target, held_now)
                return held_now
            case ast.Await(value=value):
                return self._expr(frame, value)
            case ast.Call():
                held_then = self._call(frame, node)
                return ANYTHING if frame.off else held_then
            case ast.Lambda():
                return ANYTHING
            case ast.Yield(value=value):
                held_out = self._expr(frame, value) if value is not None else NO_VALUE
                frame.yielded = join(frame.yielded or NO_VALUE, held_out)
                return ANYTHING
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self._expr(frame, child)
                    elif isinstance(child, ast.FormattedValue):
                        self._expr(frame, child.value)
                return ANYTHING

    def _attribute(self, frame: Frame, node: ast.Attribute, base: ast.expr, attr: str) -> Width:
        if (text := dotted(node)) in frame.env:
            return frame.env[text]
        if text and (kept := self._kept.all.get((frame.owner, text))) is not None:
            return kept
        held = self._expr(frame, base)
        if held.items and any(attr == key for key, _ in held.items):
            return held.item(attr)
        if attr in ("data", "T", "mT"):
            return held
        if (found := self._of_object(frame, base, attr, held)) is not None:
            return found
        if attr in ("values", "indices") and held.items:
            return held.item(attr == "indices")
        return A_NUMBER if root_name(node) in OPTIONS else ANYTHING

    def _of_object(self, frame: Frame, base: ast.expr, attr: str, held: Width) -> Width | None:
        """An attribute or property of an object of a class of the program; None where it is none."""
        owners = [obj.key for obj in self.v.of(base)]
        if not owners and frame.owner is not None and isinstance(base, ast.Name) and base.id == "self":
            owners = [frame.owner]
        classes = [one for one in owners if isinstance(one, ast.ClassDef)]
        if not classes or len(classes) < len(owners):
            return None
        found = NO_VALUE
        for owner in classes:
            method = self.m.method(owner, attr)
            if method is not None and is_property(method):
                given = {"self": held} if held.holds else {}
                found = join(found, self._enter(method, given, frame.region, frame.depth + 1))
            else:
                found = join(found, self._kept.all.get((owner, f"self.{attr}"), NO_VALUE))
        return None if found == NO_VALUE else found

    # ------------------------------------------------------------ calls

    def _call(self, frame: Frame, call: ast.Call) -> Width:
        func = call.func
        args = [self._expr(frame, one.value if isinstance(one, ast.Starred) else one) for one in call.args]
        words = {k.arg or "**": self._expr(frame, k.value) for k in call.keywords}
        name = last_name(func)
        kind = self.p.marks.kind.get(call, "")
        callees = self.v.callees(call)
        layer = self.layer(frame, call, args)
        if callees:
            receiver = self._expr(frame, func.value) if isinstance(func, ast.Attribute) else ANYTHING
            held = joined([self._call_of(frame, one, call, args, words, receiver) for one in callees])
            held = ANYTHING if held == NO_VALUE else held
            if kind == "forward" and ANYTHING in (held, held.each) and frame.region and not GENERATING.fit(name):
                return Width(HALF if self.patched else FLOAT, HALF, opaque=True)
            if kind == "forward" and not self.patched and not held.holds:
                return Width(FLOAT, held.new)  # as Apex handed it on
            return ANYTHING if any(getattr(one, "name", "") == "__init__" for one in callees) else held
        if layer is not None:
            return layer
        if kind == "forward" and GENERATING.fit(name):
            return ANYTHING  # tokens, maybe
        if kind == "forward":
            return Width(HALF if self.patched else FLOAT, HALF if frame.region else FLOAT, opaque=True)
        if kind == "loss":
            return FLOATS if frame.region else ANYTHING
        if name == "register_forward_hook" and isinstance(func, ast.Attribute) and call.args:
            self._hooked(frame, func.value, call.args[0])
            return ANYTHING
        if isinstance(func, ast.Attribute):
            home = dotted(func.value)
            if self._elsewhere(func.value, name) and self._hands_over(frame, args, words):
                self.say(call, _HANDED)
            if home in TORCH or home in FUNCTIONAL:
                operands = [*args, *(words[k] for k in ("input", "target", "other", "mat2", "tensors") if k in words)]
                return self.function(frame, call, name, operands, home in FUNCTIONAL, False)
            return self.function(frame, call, name, [self._expr(frame, func.value), *args], False, True)
        if name == "map" and len(call.args) == 2:
            return self._mapped(frame, call.args[0], args[1].element)
        if name == "zip" and len(call.args) == 1 and isinstance(call.args[0], ast.Starred) and args[0].element.items:
            return widths.record((key, many(held)) for key, held in args[0].element.items)
        if (fields := self._fields(func)) is not None and not any(isinstance(one, ast.Starred) for one in call.args):
            return widths.record({**dict(zip(fields, args, strict=False)), **words}.items()) if fields else ANYTHING
        if self._hands_over(frame, args, words) and name not in _FORGET:
            self.say(call, _HANDED)
        return pythons(name, args)

    def _hands_over(self, frame: Frame, args: list[Width], words: dict[str, Width]) -> bool:
        """Whether one of these is half where it was float32. Under O2 all that a model gave was: in a region it may
        be."""
        return (self.patched or not frame.region) and any(one.narrowed for one in (*args, *words.values()))

    def _elsewhere(self, base: ast.expr, name: str) -> bool:
        """Whether a function is one of a package that is not here: ``np.save``, ``torch.save``."""
        if not isinstance(base, ast.Name) or dotted(base) in (*TORCH, *FUNCTIONAL):
            return name == "save"
        home = self._home(base)
        return isinstance(home, ast.Module) and (home, base.id) not in self._puts.all and not self.v.of(base)

    def _hooked(self, frame: Frame, layer: ast.expr, function: ast.expr) -> None:
        """A function that is handed what a layer gave, under the casts of the model's call."""
        made = [obj.key for obj in self.v.of(layer) if obj.kind == "call" and isinstance(obj.key, ast.Call)]
        inside = Frame(True, frame.depth, frame.owner)
        given = [self.through(inside, one, one, ANYTHING) for one in made]
        output = joined(one for one in given if one is not None) if given and None not in given else ANYTHING
        self._run(inside, function, output, -1)

    def _mapped(self, frame: Frame, function: ast.expr, item: Width) -> Width:
        """``map(f, xs)``"""
        return many(self._run(frame, function, item, 0))

    def _run(self, frame: Frame, function: ast.expr, item: Width, at: int) -> Width:
        """A function that somebody else calls, and hands this as its first or last argument."""
        if isinstance(function, ast.Lambda):
            before, frame.env = frame.env, dict(frame.env)
            frame.env.update(dict.fromkeys(positional_parameters(function), ANYTHING))
            frame.env.update(dict.fromkeys(positional_parameters(function)[at:][:1], item))
            held = self._put(frame, function.body)
            frame.env = before
            return held
        meant = [one for obj in self.v.of(function) for one in self.v.functions(obj)]
        if len(meant) != 1 or not isinstance(meant[0], ast.FunctionDef):
            return ANYTHING
        names = positional_parameters(meant[0])
        names = names[1:] if names[:1] == ["self"] else names
        return self._enter(meant[0], dict.fromkeys(names[at:][:1], item), frame.region, frame.depth + 1)

    def _fields(self, func: ast.expr) -> list[str] | None:
        """The fields of a record of the program's that is made here: a dataclass, a named tuple."""
        match [obj.key for obj in self.v.of(func)]:
            case [ast.ClassDef(body=body) as owner] if self.m.method(owner, "__init__") is None and (
                owner.decorator_list or any("NamedTuple" in dotted(one) for one in owner.bases)
            ):
                targets = [one.target for one in body if isinstance(one, ast.AnnAssign)]
                return [one.id for one in targets if isinstance(one, ast.Name)]
            case [ast.Call(func=made, args=[_, ast.List(elts=elts)])] if last_name(made) == "namedtuple":
                return [str(one.value) for one in elts if isinstance(one, ast.Constant)]
            case _:
                return None

def _keep(store: dict[tuple[ast.AST | None, str], Width], key: tuple[ast.AST | None, str], held: Width) -> None:
    store[key] = join(store.get(key, NO_VALUE), held)


def _switches_off(word: ast.keyword) -> bool:
    """``enabled=False``"""
    return word.arg == "enabled" and isinstance(word.value, ast.Constant) and not word.value.value


def _func(expr: ast.expr) -> ast.expr:
    return expr.func if isinstance(expr, ast.Call) else expr


def _bound(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    names: list[str],
    call: ast.Call,
    args: list[Width],
    words: dict[str, Width],
) -> dict[str, Width]:
    """What the parameters of a function are handed, ``*args`` and ``**kwargs`` too."""
    given: dict[str, Width] = {}
    starred = [number for number, one in enumerate(call.args) if isinstance(one, ast.Starred)]
    plain = args[: starred[0]] if starred else args
    given.update(zip(names, plain, strict=False))
    rest = [args[number].element if number in starred else args[number] for number in range(len(plain), len(args))]
    if function.args.vararg is not None:
        sure = len(names) <= len(plain)
        given[function.args.vararg.arg] = many(joined([*plain[len(names) :], *rest])) if sure else ANYTHING
    elif starred == [len(args) - 1]:
        left = enumerate(names[len(plain) :])
        given.update((name, args[-1].item(number)) for number, name in left)
    given.update((str(key), held) for key, held in words.get("**", ANYTHING).items)
    given.update((key, held) for key, held in words.items() if key != "**")
    if function.args.kwarg is not None:
        given[function.args.kwarg.arg] = many(joined(held for key, held in words.items() if key not in names))
    return given


