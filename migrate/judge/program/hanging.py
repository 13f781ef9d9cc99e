"""What hangs on something that the two programs may not have alike, on ways that neither of them follows.

A list that holds a flag, what an unknown call makes of it, an attribute that code sets which is not followed: each is
one value at one place, whatever it is made of, and one in both programs. Where what it is made of is not the same in
both, neither is it; so there a value says what it hangs on: ``any(flags)`` in one program on ``flag`` being True, in
the other on its being False. Where these are the same, so are the values, and all is as it was.

Looked at are only flags and other plain values that a migration gave in another way: what losses, scalers, models and
gradients are, the machines know. Most programs have none of these.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...facts.names import imports_apex
from ...nodes import children, header, named_parameters, positional_parameters, walk
from ..state import State
from ..terms import NONE, TRUE, Term, is_deep
from .answering import answering, decorated
from .mattering import Mattering, keyed, plain_name
from .reading import Graph, Reading
from .syntax import FUNCTIONS
from .unlike import Comparison, words

_NOTED: Term = ("noted",)  # in the heap: what a name was given last

Flags = dict[str, tuple[set[Term], set[Term]]]  # by name: in the old program, and in the new one


@dataclass(frozen=True, eq=False)
class Hanging:
    """One program's share of it. ``names`` are those between what was changed and what is asked, as `Mattering.scoped`
    says them."""

    reading: Reading
    names: frozenset[str]
    flags: Mapping[str, set[Term]]  # what the changed text gives names where that is not followed

    def behind(self, expr: ast.expr) -> frozenset[str]:
        """The names that an expression hangs on of itself: of ``cfg.flag`` the attribute, and what holds it is what
        it is whatever its attributes are."""
        if isinstance(expr, ast.Call) and keyed(expr) is not None:
            return frozenset()  # written out: each key is a name of its own
        found = self.reading.directly(expr) & self.names
        if found and isinstance(self.reading.m.parent[expr], (ast.Attribute, ast.Subscript)):
            found -= self.reading.parts - self.reading.besides
        return frozenset(found)

    def answers(self, expr: ast.expr) -> frozenset[str]:
        """Those of the results that an expression runs without a call, or that stand behind a decorator."""
        return frozenset(answering(self.reading.m, self.reading.v, expr) & self.names)

    def replaced(self, call: ast.Call) -> bool:
        """Whether a decorator that hangs on a changed flag may have put another function in the place of what is
        called."""
        return any(not self.names.isdisjoint(decorated(one)) for one in self.reading.v.callees(call))

    def note(self, state: State, target: ast.expr, term: Term | None) -> None:
        """A name, attribute or key was given a value; None where nobody knows it."""
        for name in self.reading.given(target) & self.names:
            self.note_name(state, name, term)

    def note_name(self, state: State, name: str, term: Term | None) -> None:
        """The same of a name, as `Mattering.scoped` says it."""
        if name in self.names:
            told = plainly(term) if term is not None else None
            if told is not None and not is_deep(told):
                state.heap_to_set()[_NOTED, name] = told
            elif (_NOTED, name) in state.heap:
                del state.heap_to_set()[_NOTED, name]

    def knows(self, state: State, names: Iterable[str], bound: bool) -> bool:
        """Whether all there is to say of names is what they were given last; ``bound``: a variable has a value."""
        reading = self.reading
        more = reading.besides | reading.parts
        return all((bound or (_NOTED, name) in state.heap) and name not in more for name in names)

    def said(self, state: State, names: Iterable[str]) -> tuple[Term, ...]:
        """The flags that names hang on: what they were given, and where that is not followed what is behind them."""
        found: set[Term] = set()
        seen: set[str] = set()
        todo = [*names]
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            held = state.heap.get((_NOTED, name))
            if held is not None:
                found.add(held)
            if held is None or name in self.reading.besides or name in self.reading.parts:
                found |= self.flags.get(name, set())
                todo += self.reading.near.get(name, set()) & self.names
        return tuple(sorted(found, key=repr))


def hanging(comparison: Comparison, switch: frozenset[str]) -> tuple[Hanging, Hanging] | None:
    """What hangs on changed flags in either program, as far as conditions ask for it; None where nothing does. What
    chooses one of two backends, the ``switch``, is another one by intent."""
    old, new = Reading(comparison.old), Reading(comparison.new)
    old.presence = _presence(comparison, old, new)
    flags = {**_find_apart(old, new, comparison.new.naming.twin), **_find_gone(old, new)}
    for name, theirs, ours in comparison.changes:
        if plain_name(name) not in old.every - switch:
            continue
        if not ours and (name in old.presence or _runs_without_apex(old, theirs[0])):
            continue
        if not theirs and plain_name(name) in old.of_apex and _flags_of(new, ours) == {TRUE}:
            continue  # what was imported at times is True there
        if not _is_another_matter(old, theirs) and not _is_another_matter(new, ours):
            before, after = (_forms(one, given) for one, given in ((old, theirs), (new, ours)))
            if theirs and ours and before == after and None not in before:
                continue
            here, there = (_flags_of(one, given) for one, given in ((old, theirs), (new, ours)))
            if here == there and theirs and ours:  # `args.one` is `args.two` now
                here, there = ({("k", repr(form)) for form in forms if form is not None} for forms in (before, after))
            if here or there or (theirs and ours):
                known = flags.setdefault(name, (set(), set()))
                known[0].update(here)
                known[1].update(there)
    if not flags:
        return None
    forward = _reached(flags, [old.onwards, new.onwards])
    asked = {name for reading in (old, new) for expr in _asked(reading) for name in reading.wholly(expr)}
    asked |= {name for reading in (old, new) for one in reading.mattering.marks.functions for name in decorated(one)}
    names = frozenset(forward & _reached(asked & forward, [old.graph, new.graph])) - switch
    if not names:
        return None
    of_old, of_new = ({name: both[which] for name, both in flags.items()} for which in (0, 1))
    return Hanging(old, names, of_old), Hanging(new, names, of_new)


def _asked(reading: Reading) -> Iterator[ast.AST]:
    """What decides which way a program goes."""
    yield from reading.mattering.tests
    for node in reading.m.of(ast.For, ast.AsyncFor, ast.Match):
        if node in reading.mattering.marks.relevant:
            yield node.subject if isinstance(node, ast.Match) else node.iter  # type: ignore[attr-defined]


def _reached(names: Iterable[str], graphs: list[Graph]) -> set[str]:
    found: set[str] = set()
    todo = [*names]
    while todo:
        at = todo.pop()
        if at not in found:
            found.add(at)
            todo += (more for graph in graphs for more in graph.get(at, ()))
    return found


def _find_apart(old: Reading, new: Reading, twin: Callable[[ast.AST], ast.AST | None]) -> Flags:
    """The flags in statements of which one program alone has some, in either; their readings know of them."""
    ours = [node for node in new.m.all(ast.Constant) if _is_flag(node)]
    theirs = [node for node in old.m.all(ast.Constant) if _is_flag(node)]
    pairs = ((twin(node), node) for node in ours)
    alike = {source for source, node in pairs if isinstance(source, ast.Constant) and source.value is node.value}
    apart = [(old, old.m.statement(node), node) for node in theirs if node not in alike]
    lone = [node for node in ours if twin(node) not in alike]
    apart += [(new, source, node) for node in lone if isinstance(source := twin(new.m.statement(node)), ast.stmt)]
    if not apart:
        return {}
    stmts = {source: stmt for stmt in new.m.place if (source := twin(stmt)) is not None}
    functions = {twin(one): one for one in new.m.scope_of if isinstance(one, FUNCTIONS)}
    found: Flags = {}
    for reading, stmt, node in apart:
        other = stmts.get(stmt)
        if reading is old and _goes_to_nobody(old, functions, node):
            continue
        if other is None or isinstance(stmt, FUNCTIONS) or _form(old, stmt) == _form(new, other):
            continue  # defaults are what parameters are given
        if _of_the_machines(old.mattering, stmt) or _of_the_machines(new.mattering, other):
            continue
        here, there = _flags_in(old, stmt), _flags_in(new, other)
        if here != there:
            name = reading.apart[node] = f"@{old.m.start(stmt)}"
            found[name] = {here} - {()}, {there} - {()}
    return found


def _goes_to_nobody(old: Reading, functions: Mapping[ast.AST | None, ast.AST], node: ast.expr) -> bool:
    """Whether a call hands something to a parameter that the function has no more: Apex alone asked for it. Of the old
    program's functions those of the new one."""
    above = old.m.parent[node]
    call = old.m.parent[above] if isinstance(above, ast.keyword) else above
    callees = [one for one in old.v.callees(call) if isinstance(one, FUNCTIONS)] if isinstance(call, ast.Call) else []
    for function in callees:
        assert isinstance(call, ast.Call)
        names = positional_parameters(function)
        if old.m.self_name(old.m.scope_of[function]) in names[:1]:
            names = names[1:]
        place = call.args.index(node) if node in call.args else len(names)
        name = above.arg if isinstance(above, ast.keyword) else names[place] if place < len(names) else None
        left = functions.get(function)
        if name is None or not isinstance(left, FUNCTIONS) or name in named_parameters(left):
            return False
    return bool(callees)


def _presence(comparison: Comparison, old: Reading, new: Reading) -> frozenset[str]:
    """The names of Apex, and those that were set True where it is there and that nothing reads any more."""
    given: dict[str, list[ast.AST | None]] = defaultdict(list)
    for name, theirs, _ in comparison.changes:  # who imports one takes it as it is
        given[name] += (one for one in theirs[1:] if not isinstance(one, ast.alias) or one.name != plain_name(name))
    flags = {
        name
        for name, values in given.items()
        if plain_name(name) not in new.read
        and any(one is not None and _form(old, one) is True for one in values)
        and all(one is not None and (_is_flag(one) or _form(old, one) is True) for one in values)
    }
    return frozenset(flags) | old.of_apex


def _find_gone(old: Reading, new: Reading) -> Flags:
    """The names of Apex that files had, and have no more, where a file is asked by the word whether it has one:
    ``"amp" in globals()``."""
    gone = old.of_apex - new.of_apex
    found: Flags = {}
    for reading in (old, new):
        for node in reading.m.all(ast.Constant):
            if isinstance(node.value, str) and node.value in gone and _asks_a_file(reading, node):
                name = reading.apart[node] = f"{node.value} of the file"
                found[name] = {TRUE}, set()
    return found


def _asks_a_file(reading: Reading, node: ast.AST) -> bool:
    """Whether a word stands in an expression, or a part of a condition, that looks for names of a file."""
    while not isinstance(above := reading.m.parent[node], (ast.stmt, ast.BoolOp)):
        node = above
    own = reading.m.function(node).parent is None  # in a function, these are its own names
    for inner in walk(node):
        match inner:
            case ast.Call(func=ast.Name(id="globals")):
                return True
            case ast.Call(func=ast.Name(id="vars" | "locals" | "dir"), args=[]) if own:
                return True
            case ast.Attribute(attr="modules" | "__dict__"):
                return True
            case _:
                pass
    return False


def _is_flag(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool))


def _flags_in(reading: Reading, code: ast.AST) -> Term:
    """The flags in a piece of code, in order, but for those that change nothing: ``x and True``. Apex is there."""
    found: list[Term] = []
    todo = [code] if not isinstance(code, ast.stmt) else header(code)[::-1]
    while todo:
        node = todo.pop()
        match node:
            case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]):
                if reading.is_apex(left):
                    found.append(("k", isinstance(op, ast.IsNot)))
                else:
                    todo.append(left)
            case ast.Constant() if _is_flag(node):
                found.append(("k", node.value))
            case ast.BoolOp(op=op, values=values):
                neutral = ("k", isinstance(op, ast.And))
                found += (part for one in values if (part := _flags_in(reading, one)) and part != neutral)
            case ast.IfExp(test=test, body=body, orelse=orelse) if not _is_flag(test) and isinstance(
                holds := _form(reading, test), bool
            ):
                todo.append(body if holds else orelse)
            case ast.Name() if reading.is_apex(node):
                found.append(("k", True))
            case _:
                todo += children(node)[::-1]
    return ("seq", tuple(found)) if len(found) > 1 else found[0] if found else ()


def _form(reading: Reading, node: ast.AST) -> object:
    """What a piece of code says, where Apex is there."""
    match node:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]) if (
            reading.is_apex(left)
        ):
            return isinstance(op, ast.IsNot)
        case ast.BoolOp(op=op, values=values):
            told, neutral = [_form(reading, one) for one in values], isinstance(op, ast.And)
            parts = [part for part in told if part is not neutral]
            if any(part is (not neutral) for part in parts):
                return not neutral
            return (type(op), *parts) if len(parts) > 1 else parts[0] if parts else neutral
        case ast.UnaryOp(op=ast.Not(), operand=inner) if isinstance(holds := _form(reading, inner), bool):
            return not holds
        case ast.IfExp(test=test, body=body, orelse=orelse) if isinstance(holds := _form(reading, test), bool):
            return _form(reading, body if holds else orelse)
        case ast.Constant(value=bool(value)):
            return value
        case _:
            return True if reading.is_apex(node) else (words(node), *(_form(reading, one) for one in children(node)))


def _forms(reading: Reading, given: Sequence[ast.AST | None]) -> list[object]:
    """What the values of a statement say; None where one says nothing."""
    return [None if value is None else _form(reading, value) for value in given[1:]]


def _flags_of(reading: Reading, given: Sequence[ast.AST | None]) -> set[Term]:
    """The flags in the values of a statement."""
    return {said for value in given[1:] if value is not None and (said := _flags_in(reading, value))}


def _runs_without_apex(reading: Reading, node: ast.AST | None) -> bool:
    """Whether a statement only runs where Apex cannot be imported."""
    known, below = reading.without_apex, list[ast.AST]()
    while node is not None and node not in known:
        below.append(node)
        node = reading.m.parent.get(node)
    holds = node is not None and known[node]
    for inner in reversed(below):
        outer = reading.m.parent.get(inner)
        holds = known[inner] = holds or (outer is not None and _is_arm_without_apex(reading, inner, outer))
    return holds


def _is_arm_without_apex(reading: Reading, inner: ast.AST, outer: ast.AST) -> bool:
    """Whether what stands in ``inner`` only runs where Apex cannot be imported, as ``outer`` around it has it."""
    if isinstance(outer, ast.If) and inner is not outer.test:
        return _form(reading, outer.test) is (inner not in outer.body)
    if not isinstance(inner, ast.ExceptHandler):
        return False
    tried = (n for stmt in getattr(outer, "body", ()) for n in walk(stmt))
    return any(isinstance(n, (ast.Import, ast.ImportFrom)) and imports_apex(n) for n in tried)


def _is_another_matter(reading: Reading, given: Sequence[ast.AST | None]) -> bool:
    """Whether what a statement gives, here with the values, is no flag: an object, or what `_of_the_machines` says."""
    objects = any(isinstance(value, ast.alias) or _is_object(reading, value) for value in given[1:])
    return objects or any(_of_the_machines(reading.mattering, node) for node in given if node is not None)


def _is_object(reading: Reading, value: ast.AST | None) -> bool:
    """Whether a value is something that was made; an attribute of what nobody here made (an option) may be a flag."""
    return isinstance(value, ast.expr) and any(obj.kind != "path" for obj in reading.v.of(value))


def _of_the_machines(mattering: Mattering, code: ast.AST) -> bool:
    """Whether the machines follow what some code gives: mixed precision, models, losses, gradients; or it is Apex's."""
    if isinstance(code, (ast.With, ast.AsyncWith)) or code in mattering.marks.readers:
        return True
    for node in (inner for part in (header(code) if isinstance(code, ast.stmt) else [code]) for inner in walk(part)):
        if mattering.marks.kind.get(node, "call") != "call":
            return True
        if isinstance(node, ast.Call) and any(o.kind == "apex" for o in mattering.v.of(node.func)):
            return True
    return False


def hangs(term: Term) -> bool:
    """Whether a value says somewhere what flags it hangs on."""
    return term[:2] == ("op", "of") or any(isinstance(part, tuple) and part and hangs(part) for part in term)


def plainly(term: Term) -> Term | None:
    """A value as it is wherever it is read: without the places; None of an object, which is what it is in any case."""
    match term:
        case ("k", *_):
            return term
        case ("v", _, name):
            return ("v", 0, name)
        case ("and" | "or" as word, *parts):
            neutral = ("k", word == "and")
            told = [one for part in parts if (one := plainly(part)) is not None and one != neutral]
            return told[0] if len(told) == 1 else (word, *told)
        case ("apex", *_):
            return TRUE  # it is there
        case ("seq", items):
            return ("seq", tuple(plainly(one) or NONE for one in items))
        case ("dict", pairs):
            return ("seq", tuple((plainly(value) or NONE) for _, value in pairs))
        case ("attr" | "sub" | "op" | "not", *parts):
            return (term[0], *(plainly(one) or NONE if isinstance(one, tuple) and one else one for one in parts))
        case _:
            return None
