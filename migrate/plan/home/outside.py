"""What whoever has the package may call without the scaler, where a public function takes it now.

Its old calls have to work as far as they can. The parameter comes last, and without it the function makes a scaler that
is switched off: that is what it did without Apex. Where it can say itself that mixed precision is asked for, it raises,
as only the caller can keep a scaler from one call to the next. A function that always used Apex had callers who
initialized it: there is nothing that they could do without.
"""

from __future__ import annotations

import ast

from ...facts.scopes import Scope
from ...flow.arguments import default_of
from ...nodes import constructs, walk
from ...units.conditions import Term, conjunction, negation
from ...units.public import public
from ...units.unit import Context
from .guards import any_said_there
from .places import Outside

_NEEDS = ("scale_loss", "state_dict", "load_state_dict")  # what raised where nobody had initialized
_SAYS = (
    ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.expr_context, ast.cmpop,
    ast.boolop, ast.unaryop,
)  # fmt: skip


def called_outside(ctx: Context, scope: Scope) -> bool:
    """Whether a function, or one that the same calls may run, is called by whoever has the package."""
    found: set[ast.AST] = {scope.node}
    todo: list[ast.AST] = [scope.node]
    while todo:
        node = todo.pop()
        if public(ctx, ctx.m.scope_of[node]):
            return True
        for other in (one for call in ctx.v.calls[node] for one in ctx.v.callees(call)):
            if other not in found:
                found.add(other)
                todo.append(other)
    return False


def without(
    ctx: Context, scope: Scope, after: str | None, cases: list[list[tuple[ast.expr, Term]]] | None
) -> Outside:
    """What a public function is to do that is not handed the scaler; ``cases`` are the ways that lead to an
    ``initialize`` with their conditions, None where they are not known."""
    own = [_around(ctx, use, scope) for use in _needing(ctx, scope)]
    terms = [conjunction(one) for one in own]
    if cases is not None and not isinstance(said := any_said_there(ctx, cases, scope), str):
        terms.append(said)
    assert isinstance(scope.node, (ast.FunctionDef, ast.AsyncFunctionDef))
    always = any(term.value is True for term in terms)
    optional = after is not None and default_of(scope.node, after) is not None  # it may be handed no optimizer
    if (always and not optional) or not ctx.m.owns_lines(scope.node.body[0]):
        return Outside(required=True)
    asked = next((term.text for term in terms if term.value is None and _said_at_once(ctx, term.text, scope)), "")
    return Outside(required=False, asked=asked)


def _needing(ctx: Context, scope: Scope) -> list[ast.AST]:
    """What a function uses of amp that only works once it is initialized."""
    used = [use for use, dotted in ctx.facts.uses.items() if dotted.rpartition(".")[2] in _NEEDS]
    return [use for use in used if ctx.m.function(use) is scope]


def _around(ctx: Context, use: ast.AST, scope: Scope) -> list[Term]:
    """The conditions of a function under which it uses amp."""
    m, found = ctx.m, list[Term]()
    below = use
    for outer in m.ancestors(use):
        if outer is scope.node:
            break
        if isinstance(outer, (ast.If, ast.IfExp)) and below is not outer.test:
            term = ctx.conditions.term(outer.test)
            arm = outer.body if isinstance(outer.body, list) else [outer.body]
            found.append(term if below in arm else negation(term))
        below = outer
    for stmt in m.spine(use):
        block, index = m.place[stmt]
        for before in block.body[:index]:
            if isinstance(before, ast.If) and isinstance(before.body[-1], (ast.Return, ast.Continue, ast.Raise)):
                found.append(negation(ctx.conditions.term(before.test)))
    return found


def _said_at_once(ctx: Context, text: str, scope: Scope) -> bool:
    """Whether a condition reads nothing but parameters, none of which may have been left out or is given a new value,
    and names of the file, so that a function can ask it before anything else."""
    tree = ast.parse(text, mode="eval")
    if not all(isinstance(n, (ast.Expression, *_SAYS)) for n in walk(tree)):
        return False
    for node in walk(tree):
        if isinstance(node, ast.Name):
            own = node.id in scope.params
            if own and (ctx.m.stores(node.id, scope) or (node.id == ctx.m.self_name(scope) and constructs(scope.node))):
                return False
            if not own and (home := ctx.m.binding_scope(node.id, scope)) is not None and home.parent is not None:
                return False
        if isinstance(node, ast.Attribute) and ctx.assigned[scope][ast.unparse(node)]:
            return False
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in scope.params:
            if default_of(scope.node, node.value.id) is not None:
                return False
    return True
