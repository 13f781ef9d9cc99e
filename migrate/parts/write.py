"""What was decided about uses of Apex's parts, as wishes to the draft."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..facts.module import Module
from ..facts.names import called_name
from ..facts.torchs import spelled_out
from ..model import Severity
from ..nodes import walk
from ..rules.common import Work
from ..units.unit import Context
from . import arguments
from .outcome import Native
from .sites import Role, Site
from .words import native

# What a condition is made of that may go unasked.
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.BoolOp, ast.UnaryOp, ast.Compare)
_SIGNS = (ast.expr_context, ast.boolop, ast.unaryop, ast.cmpop)
_LINES = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)  # statements without a block


def write(ctx: Context, work: Work, rule: str, site: Site, outcome: Native) -> None:
    """Write what was decided about one use, and note it."""
    m, draft = ctx.m, work.draft
    if site.variable and outcome.definition:  # it holds what is written out here, and is called as before
        work.replaced.add(site.use)
        work.note(None, rule, site.call or site.use, outcome.said)
        return
    if outcome.text is not None and site.call is not None and not site.filled:
        draft.replace(site.call, outcome.text)
    else:
        kept = site.binding is not None and (site.binding.stmt, site.binding.alias) in work.natives
        above = m.parent[site.use]
        if outcome.spelled is not None:
            if isinstance(above, ast.Assign) and [m.src(target) for target in above.targets] == [outcome.spelled]:
                draft.delete(above)  # the name that it has already
            else:
                draft.replace(site.use, outcome.spelled)
        elif not kept and not site.variable:
            file = m.file(site.use)
            words = native(m, file, work.native(site.use), outcome.name)
            if isinstance(above, ast.Assign) and [m.src(target) for target in above.targets] == [words]:
                draft.delete(above)  # torch's name is torch's
            else:
                draft.replace(site.use, words)
        if site.call is not None:
            arguments.rewrite(
                m, draft, site, outcome.parameters, outcome.positional, outcome.drop, outcome.add
            )
            for keyword in site.call.keywords:
                if keyword.arg is None and f"**{m.src(keyword.value)}" in outcome.options:
                    draft.replace(keyword, outcome.options[f"**{m.src(keyword.value)}"])
            draft.realign(site.call, site.use)
    if outcome.definition:
        _define(ctx, site, work, outcome.name, outcome.definition)
    work.replaced.add(site.use)
    at = site.call or site.use
    what = site.name.removesuffix(".apply").rpartition(".")[2]
    said = outcome.said or f"{what} is {outcome.name}"
    work.note(None, rule, at, said, review=outcome.review is not None)
    if outcome.review is not None:
        work.find(None, rule, Severity.REVIEW, site.use, outcome.review)
    if outcome.info is not None:
        work.find(None, rule, Severity.INFO, site.use, outcome.info)


def _define(ctx: Context, site: Site, work: Work, name: str, lines: Sequence[str]) -> None:
    """Put a definition behind the imports above its first use, two blank lines around it."""
    m = ctx.m
    file = m.file(site.use)
    if (file.number, name) in work.defined:
        return
    work.defined.add((file.number, name))
    body = file.tree.body
    use = next(n for n, stmt in enumerate(body) if m.inside(site.use, stmt))
    above = [n for n, stmt in enumerate(body[:use]) if isinstance(stmt, (ast.Import, ast.ImportFrom, ast.Try))]
    if not above:
        templates = work.templates[file.number]
        torch = ["import torch", "", ""] if templates.needs_import else []
        templates.needs_import = False
        work.draft.prepend(body[use], *torch, *lines, "", "")
        return
    at = above[-1]
    below = m.last_line(body[at]) + 1
    apart = 0
    while below + apart <= file.fence and apart < 2 and not m.line_text(below + apart).strip():
        apart += 1
    behind = [""] * (2 - apart if at + 1 < len(body) else 0)
    ahead = ["", ""][len(behind) if work.draft.appended(body[at]) else 0 :]
    work.draft.append(body[at], *ahead, *lines, *behind)


def fold_arms(ctx: Context, work: Work, sites: Sequence[Site]) -> None:
    """``LayerNorm(n) if fused else LayerNorm(n)`` is one of them, where asking has no effect, and so is
    ``nn.LayerNorm if fused else torch.nn.LayerNorm``; calls among ``sites`` got another name and no other arguments."""
    m, draft = ctx.m, work.draft
    around = [m.parent[site.call or site.use] for site in sites if site.use in work.replaced]
    for one in {at: None for at in around if isinstance(at, ast.IfExp)}:
        arms = [_arm(ctx, work, arm) for arm in (one.body, one.orelse)]
        same = all(arms) and len({spelled_out(m, m.file(one), ast.parse(arm or "")) for arm in arms}) == 1
        if same and _unasked(m, one.test) and not draft.gone(one):
            own = isinstance(one.orelse, (ast.Name, ast.Attribute)) and one.orelse not in work.replaced
            draft.replace(one, arms[own] or "")  # as the file spelled it
            work.note(None, "APX011", one, "both arms are the same now")


def _arm(ctx: Context, work: Work, arm: ast.expr) -> str | None:
    """What an arm says from now on, where it is a class or a call of one."""
    m, draft = ctx.m, work.draft
    match arm:
        case ast.Call(func=func):
            return draft.text_of(func) + m.text[m.end(func) : m.end(arm)]
        case ast.Name() | ast.Attribute():
            return draft.text_of(arm)
        case _:
            return None


def fold_statements(ctx: Context, work: Work, sites: Sequence[Site]) -> None:
    """``if fused: net = convert(net) else: net = …`` whose arms do the same now is the arm that had been torch's, where
    asking has no effect; ``sites`` are calls that got another name and no other arguments."""
    m, draft = ctx.m, work.draft
    for site in sites:
        if site.call is None or site.use not in work.replaced:
            continue
        mine = m.statement(site.call)
        if (ahead := _ahead(ctx, work, mine, site.use)) is not None:
            draft.delete(ahead)
            work.note(None, "APX011", ahead, "what follows returns the same now")
            continue
        holder = m.parent[mine]
        if not isinstance(holder, ast.If) or m.is_elif(holder) or draft.gone(holder):
            continue
        arms = [holder.body, holder.orelse]
        if any(len(arm) != 1 for arm in arms) or not _unasked(m, holder.test):
            continue
        theirs, arm = (holder.orelse[0], "orelse") if mine is holder.body[0] else (holder.body[0], "body")
        plain = isinstance(theirs, type(mine)) and isinstance(theirs, _LINES)  # not an ``elif``, nor another block
        if plain and _done(ctx, work, mine, site.use) == _done(ctx, work, theirs, None):
            draft.unwrap(holder, arm)
            work.note(None, "APX011", holder, "both arms are the same now")


def _ahead(ctx: Context, work: Work, mine: ast.stmt, use: ast.expr) -> ast.stmt | None:
    """The guard of an import and the ``if``, or one of them, around nothing but ``return FusedLayerNorm(n)``, where the
    statement behind returns the same; None for anything else."""
    m, outer = ctx.m, mine
    while isinstance(mine, ast.Return):
        above = m.parent[outer]
        block = getattr(above, "body", [])
        match above:
            case ast.Try(handlers=handlers, orelse=[], finalbody=[]):
                passes = all(isinstance(s, ast.Pass) for handler in handlers for s in handler.body)
                goes = passes and all(isinstance(s, ast.ImportFrom) for s in block[:-1])
            case ast.If(test=test, orelse=[]):
                goes = len(block) == 1 and not m.is_elif(above) and _unasked(m, test)
            case _:
                break
        if not goes or block[-1] is not outer or work.draft.gone(above):
            return None
        outer = above
    if outer is mine:
        return None
    below = m.block(outer).body
    behind = below[below.index(outer) + 1 :][:1]
    same = bool(behind) and isinstance(behind[0], ast.Return)
    return outer if same and _done(ctx, work, mine, use) == _done(ctx, work, behind[0], None) else None


def _unasked(m: Module, test: ast.expr) -> bool:
    """Whether a condition may go unasked: it is made of plain names, or asks whether there is a GPU; or of several
    such."""
    if isinstance(test, ast.BoolOp):
        return all(_unasked(m, one) for one in test.values)
    gpu = isinstance(test, ast.Call) and m.src(test.func) == "torch.cuda.is_available"
    return gpu or all(isinstance(n, (*_PLAIN, *_SIGNS)) for n in walk(test))


def _done(ctx: Context, work: Work, stmt: ast.stmt, use: ast.expr | None) -> str:
    """What a statement does, with its use of Apex's part by the new name."""
    m, text = ctx.m, ctx.m.src(stmt)
    if use is not None:
        begin = m.start(stmt)
        text = text[: m.start(use) - begin] + work.draft.text_of(use) + text[m.end(use) - begin :]
    return spelled_out(m, m.file(stmt), ast.parse(text))


def shorten_tuples(ctx: Context, work: Work, sites: Sequence[Site]) -> None:
    """``isinstance(x, (DDP, ApexDDP))`` asks for one class once."""
    m, draft = ctx.m, work.draft
    above = [
        holder
        for site in sites
        if site.use in work.replaced and isinstance(holder := m.parent[site.use], ast.Tuple)
        if site.role is Role.NAMED or _asked_by_name(m, holder)
    ]
    for classes in {one: None for one in above if isinstance(one, ast.Tuple)}:
        texts = [draft.text_of(one) for one in classes.elts]
        once = list(dict.fromkeys(texts))
        if len(once) < len(texts) and not draft.gone(classes):
            draft.replace(classes, once[0] if len(once) == 1 else f"({', '.join(once)})")


def _asked_by_name(m: Module, classes: ast.Tuple) -> bool:
    """``kinds = (DataParallel, ApexDDP)`` of a function, which only ``isinstance(model, kinds)`` reads."""
    match m.parent[classes]:
        case ast.Assign(targets=[ast.Name(id=name) as target]):
            home = m.binding_scope(name, m.scope(target))
        case _:
            return False
    calls = [m.parent[n] for n in m.loads(name, home)]
    asked = all(isinstance(c, ast.Call) and called_name(c) in ("isinstance", "issubclass") for c in calls)
    return home is not None and home.is_function and bool(calls) and asked
