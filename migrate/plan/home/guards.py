"""The conditions under which amp is initialized, and how another function says them."""

from __future__ import annotations

import ast

from ...facts.scopes import Scope
from ...facts.sites import Initialize
from ...flow.arguments import default_of
from ...nodes import constructs, walk
from ...units.conditions import FALSE, TRUE, Term, conjunction, negation, reads
from ...units.references import handed_to
from ...units.translate import partial_of, passed, translate, translate_open
from ...units.unit import Context, Manual, Unit
from .cases import either
from .not_yet import ahead_of
from .preparing import prepares

_MOST_CASES = 4  # more would be no condition that anybody reads


def guards(
    ctx: Context, unit: Unit, init: Initialize, anchor: ast.stmt | None, there: Scope | None = None
) -> list[tuple[ast.expr, Term]]:
    """The conditions under which an initialize runs, and its options'.

    Up to ``anchor``, a statement of its function; with None on through the functions that call its function,
    unless they are wanted ``there``, in the function itself."""
    if anchor is not None or there is ctx.m.function(init.call):
        return [*around(ctx, init, init.call, anchor), *unit.options_of(init).enabled]
    cases = guard_cases(ctx, unit, init, there)
    if len(cases) > 1:
        raise Manual(init.call, "the function with amp.initialize is called under different conditions")
    return cases[0]


def guard_cases(
    ctx: Context, unit: Unit, init: Initialize, there: Scope | None
) -> list[list[tuple[ast.expr, Term]]]:
    """The same, on through the functions that call its function, for each way that leads to it under conditions of its
    own: ``if args.train: train(…)`` and below that ``if args.train_all: train(…)``."""
    scope = ctx.m.function(init.call)
    own = [*early_exits(ctx, init), *around(ctx, init, init.call, None, there)]
    ways = _ways(ctx, init, scope, there, 3)
    return [[*outer, *own, *unit.options_of(init).enabled] for outer in ways]


def _ways(
    ctx: Context, init: Initialize, scope: Scope, there: Scope | None, left: int
) -> list[list[tuple[ast.expr, Term]]]:
    """The conditions outside of a function, up to ``left`` callers away, for each way into it that has others."""
    if not left or (there is not None and _makes_the_object_of(ctx, scope, there)):
        return [[]]
    calls = ctx.v.calls[scope.node] if scope.is_function else []
    ways = [*calls, *handed_to(ctx, scope.node)] if calls else []
    if there is not None:  # of scripts that are alike each says it in its own words
        home = ctx.m.file(there.node)
        ways.sort(key=lambda call: ctx.m.file(call) is not home)
    each = [around(ctx, init, call, None, there) for call in ways]
    if not any(each):
        return [[]]
    shared = _one_of(each)
    found = [(ways[0], shared)] if shared is not None else list(zip(ways, each, strict=True))
    cases = [
        [*outer, *said] for way, said in found for outer in _ways(ctx, init, ctx.m.function(way), there, left - 1)
    ]
    if len(cases) > _MOST_CASES:
        raise Manual(init.call, "the function with amp.initialize is called under different conditions")
    return cases


def _one_of(each: list[list[tuple[ast.expr, Term]]]) -> list[tuple[ast.expr, Term]] | None:
    """The conditions under which one of several calls runs: those that all are under, and none besides where two are
    the arms of one ``if`` or one is under nothing else; None where that cannot be said.

    ``if args.multi: mp.spawn(worker, args=(args,)) else: worker(0, args)`` runs the worker in any case."""
    texts = [[term.text for _, term in one] for one in each]
    if all(one == texts[0] for one in texts):
        return each[0]
    alike = 0
    while all(len(one) > alike and one[alike] == texts[0][alike] for one in texts):
        alike += 1
    rest = [one[alike:] for one in each]
    arms = {(expr, term.text) for one in rest if len(one) == 1 for expr, term in one}
    both = len(arms) > len({expr for expr, _ in arms})
    return each[0][:alike] if both or not all(rest) else None


def _makes_the_object_of(ctx: Context, scope: Scope, there: Scope) -> bool:
    """Whether ``scope`` is the constructor of the class whose method ``there`` is: the method runs only where an object
    was made, so the conditions under which one is made hold there."""
    cls = ctx.m.class_of(scope)
    if cls is None or not constructs(scope.node) or ctx.m.self_name(there) is None:
        return False
    return ctx.m.class_of(there) is cls


def early_exits(ctx: Context, init: Initialize) -> list[tuple[ast.expr, Term]]:
    """``if not fp16: return …`` above an initialize: it only runs where that does not hold."""
    m = ctx.m
    found: list[tuple[ast.expr, Term]] = []
    for stmt in m.spine(init.call):
        block, index = m.place[stmt]
        for before in block.body[:index]:
            if isinstance(before, ast.If) and isinstance(before.body[-1], (ast.Return, ast.Continue, ast.Break)):
                found.append((before.test, negation(ctx.conditions.term(before.test))))
    return found


def around(
    ctx: Context, init: Initialize, call: ast.Call, anchor: ast.stmt | None, there: Scope | None = None
) -> list[tuple[ast.expr, Term]]:
    """The conditions around a call, outermost first, up to ``anchor`` or its function; without those that say that it
    did not run yet, where they are wanted ``there``, in another function."""
    below: ast.AST = ctx.m.statement(call)
    found = _within_expression(ctx, call, itself=call is init.call)
    if below is not anchor:
        for outer in ctx.m.ancestors(below):
            if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                break
            if isinstance(outer, ast.If):
                term, here = ctx.conditions.term(outer.test), below in outer.body
                first = here and ahead_of(ctx, outer.test, init, there)
                if not is_main(outer.test) and not _finds_what_is_called(outer.test, call) and not first:
                    found.append((outer.test, term if here else negation(term)))
            elif isinstance(outer, (ast.For, ast.While, ast.AsyncFor)) and anchor is not None:
                if not prepares(ctx, outer, call):
                    raise Manual(init.call, "amp.initialize runs inside a loop, its optimizer is used outside of it")
            elif isinstance(outer, ast.match_case):
                raise Manual(init.call, "amp.initialize stands in a case of a match statement")
            elif isinstance(outer, ast.ExceptHandler):
                raise Manual(init.call, "amp.initialize stands in an exception handler")
            below = outer
            if outer is anchor:
                break
    found.reverse()
    return found


def _within_expression(ctx: Context, call: ast.Call, itself: bool) -> list[tuple[ast.expr, Term]]:
    """Conditions inside the statement itself: ``amp.initialize(…) if fp16 else …``; a list of what a function hands
    back calls it in a loop."""
    found: list[tuple[ast.expr, Term]] = []
    below: ast.AST = call
    for outer in ctx.m.ancestors(call):
        if isinstance(outer, (ast.stmt, ast.Lambda)):
            break
        if isinstance(outer, ast.IfExp) and below is not outer.test:
            term = ctx.conditions.term(outer.test)
            found.append((outer.test, term if below is outer.body else negation(term)))
        elif isinstance(outer, (ast.ListComp, ast.SetComp, ast.DictComp)) and not (itself and _chooses(outer)):
            if not isinstance(below, ast.comprehension):
                tests = [test for gen in outer.generators for test in gen.ifs if not _finds_what_is_called(test, call)]
                found += [(test, ctx.conditions.term(test)) for test in tests]
        elif isinstance(outer, (ast.BoolOp, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp)):
            raise Manual(call, "amp.initialize is part of an expression that may leave it out")
        below = outer
    return found


def _finds_what_is_called(test: ast.expr, call: ast.Call) -> bool:
    """``hasattr(cb, name)`` around ``getattr(cb, name)()``: a hook that runs is there."""
    match test, call.func:
        case ast.Call(func=ast.Name(id="hasattr"), args=asked), ast.Call(func=ast.Name(id="getattr"), args=taken):
            return [ast.dump(one) for one in asked] == [ast.dump(one) for one in taken[:2]]
        case _:
            return False


def _chooses(made: ast.ListComp | ast.SetComp | ast.DictComp) -> bool:
    """Whether a comprehension leaves some out: then it may be all of them."""
    return any(gen.ifs for gen in made.generators)


def is_main(test: ast.expr) -> bool:
    """``if __name__ == "__main__":``"""
    return any(isinstance(n, ast.Name) and n.id == "__name__" for n in walk(test))


_CONSTANTS = {"True": TRUE, "False": FALSE, "not True": FALSE, "not False": TRUE}


def said_there(ctx: Context, sources: list[tuple[ast.expr, Term]], there: Scope) -> Term | str:
    """A conjunction as scope ``there`` can say it; the text of the first condition that it cannot."""
    terms = terms_there(ctx, sources, there)
    return terms if isinstance(terms, str) else conjunction(terms)


def any_said_there(ctx: Context, cases: list[list[tuple[ast.expr, Term]]], there: Scope) -> Term | str:
    """The same of several ways, one of which is gone."""
    if len(cases) == 1:
        return said_there(ctx, cases[0], there)
    said: list[list[Term]] = []
    for case in cases:
        terms = terms_there(ctx, case, there)
        if isinstance(terms, str):
            return terms
        said.append(terms)
    return either(said)


def terms_there(ctx: Context, sources: list[tuple[ast.expr, Term]], there: Scope) -> list[Term] | str:
    """Conditions as scope ``there`` can say them; the text of the first that it cannot."""
    terms: list[Term] = []
    for expr, term in sources:
        if term.value is not None:
            terms.append(term)
            continue
        said = translate(ctx, expr, term.text, there)
        if said is not None and _open_to_others(ctx, there) and _reads_parameter(said, there):
            said = translate_open(ctx, expr, term.text, there)
        if said is None and (decided := _decided_by(ctx, expr, term, there)) is not None:
            terms.append(decided)
            continue
        if said is None:
            return term.text
        if said in _CONSTANTS:
            terms.append(_CONSTANTS[said])
            continue
        terms.append(Term(said, term.binds, boolean=term.boolean))
    return terms


def _decided_by(ctx: Context, expr: ast.expr, term: Term, there: Scope) -> Term | None:
    """A condition of a function that all its calls decide alike: those in ``there`` by what they hand over
    (``build(fp16=True)``), others by a default that none of them fills. Calls of other files are not known, but those
    in ``there`` are all that count there."""
    callee = ctx.m.function(expr)
    calls = ctx.v.calls[callee.node] if callee.is_function else []
    if not calls or any(len(ctx.v.of(call.func)) != 1 for call in calls):  # a partial, or the function: two ways
        return None
    if any(ctx.m.function(call) is not there for call in calls):
        names = reads(term.text) & set(callee.params)
        filled = any(_left_as_it_is(ctx, call, callee, name) is None for call in calls for name in names)
        if filled or _open_to_others(ctx, callee):
            return None
    said = [said_by(ctx, call, callee, expr, term) for call in calls]
    values = {None if one is None else one.value for one in said}
    return said[0] if values in ({True}, {False}) else None


def said_by(ctx: Context, call: ast.Call, callee: Scope, expr: ast.expr, term: Term) -> Term | None:
    """A condition of a function as one of its calls says it: parameters are what the call hands over."""
    if term.value is not None:
        return term
    m, tree = ctx.m, ast.parse(term.text, mode="eval")
    said: dict[str, ast.expr] = {}
    for node in walk(tree):
        home = m.binding_scope(node.id, m.scope(expr)) if isinstance(node, ast.Name) else None
        if isinstance(node, ast.Name) and home is callee:
            given = None
            if node.id in callee.params:
                given = passed(ctx, call, callee, node.id) or _left_as_it_is(ctx, call, callee, node.id)
            if not isinstance(given, (ast.Constant, ast.Name, ast.Attribute)) or m.bindings(node.id, callee):
                return None
            said[node.id] = given
        elif isinstance(node, ast.Name) and m.binding_scope(node.id, m.scope(call)) is not home:
            return None  # of the function's own file
    text = ast.unparse(_Given(said).visit(tree)).replace("'", '"')
    match ast.parse(text, mode="eval").body:
        case ast.Compare(left=ast.Constant(value=one), ops=[op], comparators=[ast.Constant(value=other)]) if isinstance(
            op, (ast.Eq, ast.NotEq)
        ):
            return TRUE if (one == other) is isinstance(op, ast.Eq) else FALSE
        case ast.Constant(value=one):
            return TRUE if one else FALSE
        case ast.UnaryOp(op=ast.Not(), operand=ast.Constant(value=one)):
            return FALSE if one else TRUE
    return Term(text, term.binds, boolean=term.boolean)


def _left_as_it_is(ctx: Context, call: ast.Call, callee: Scope, name: str) -> ast.expr | None:
    """The default of a parameter that a call does not fill."""
    splat = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    filled = passed(ctx, call, callee, name) is not None or partial_of(ctx, call) is not None
    return None if splat or filled else default_of(callee.node, name)


class _Given(ast.NodeTransformer):
    """Puts arguments in the place of parameters."""

    def __init__(self, said: dict[str, ast.expr]) -> None:
        self.said = said

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.said.get(node.id, node)


def _open_to_others(ctx: Context, scope: Scope) -> bool:
    """Whether other files call this function, with arguments that are not known here."""
    name = getattr(scope.node, "name", None)
    return name is not None and bool(ctx.exported(scope.node) & {name, "*"})


def _reads_parameter(text: str, scope: Scope) -> bool:
    return not reads(text).isdisjoint(scope.params)
