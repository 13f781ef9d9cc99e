"""``scale_loss`` under a name of the program's own: ``self.scale_loss = amp.scale_loss``, entered as
``with self.scale_loss(loss, self.optimizer) as scaled_loss``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ..facts.names import is_none
from ..facts.once import once
from ..units.unit import Context
from .carried import kept_unseen


def scale_name(ctx: Context, use: ast.expr) -> Sequence[ast.stmt] | None:
    """The statements that give such a name what it holds, where nobody but scaled backwards calls it: what was put
    there for a run without Apex (``self.scale_loss = None``) is no more asked for than that."""
    m = ctx.m
    match m.parent[use]:
        case ast.Assign(targets=[ast.Name(id=name) as target], value=value) if value is use:
            home = m.binding_scope(name, m.scope(target))
            if home is None or name in home.params or any(c.original == name and c.source is home for c in m.copied):
                return None
            reads: Iterable[ast.expr] = m.loads(name, home)
            writes: list[ast.AST] = [*m.bindings(name, home), *(n for n in m.declared(name) if m.scope(n) is home)]
        case ast.Assign(targets=[ast.Attribute(attr=name) as target], value=value) if value is use:
            own = [n for n in m.attributes(name) if not ctx.v.apex_names(n.value)]
            reads = [n for n in own if isinstance(n.ctx, ast.Load)]
            writes = [n for n in own if not isinstance(n.ctx, ast.Load)]
        case _:
            return None
    calls = _scaling(ctx)
    given = [stmt for node in writes if isinstance(stmt := m.parent[node], ast.Assign) and stmt.targets == [node]]
    if not reads or not calls.issuperset(reads) or len(given) < len(writes):
        return None
    if any(stmt is not m.parent[use] and not is_none(stmt.value) for stmt in given):
        return None
    spelled = any(node.value == name for node in m.all(ast.Constant))
    return None if spelled or kept_unseen(ctx, target) is not None else given


@once
def _scaling(ctx: Context) -> frozenset[ast.expr]:
    """What the scaled backwards call."""
    return frozenset(scale.call.func for scale in ctx.facts.scales)
