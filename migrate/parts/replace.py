"""Uses of Apex's parts become uses of torch's: what a rule decides about each, as far as its name allows it.

An import that gave a part its name gives torch's counterpart that name where that is no lie (an alias, or the same
name); elsewhere each use is spelled as torch's, and the import goes with those that nobody needs (APX010).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace as replaced

from ..flow.objects import WRAPPERS
from ..model import Severity
from ..rewrite.templates import Templates
from ..rules.common import Work
from ..units.public import listed
from ..units.unit import Context
from . import arguments
from .narrowed import narrowed
from .outcome import Decide, Native, Stays
from .sites import Binding, Role, Site, Sites, computed
from .words import native
from .write import fold_arms, fold_statements, shorten_tuples, write

_SAYS_APEX = re.compile(r"apex|fused", re.I)
_IGNORE = re.compile(r"#\s*apex2native:\s*ignore\b")


def replace(
    ctx: Context, work: Work, rule: str, table: Mapping[str, Decide], drop_in: Mapping[str, str] | None = None
) -> None:
    """Decide about every use of the names of ``table``, and write what was decided.

    ``drop_in`` are names that stand for torch's without a word, also where other files take them from this one."""
    assert work.sites is not None
    needed = [templates.needs_import for templates in work.templates]
    decided: dict[Site, Native | Stays] = {}
    for name, decide in table.items():
        for site in work.sites.by_name.get(name, ()):
            if site.role is not Role.ASKED or site.call is not None:
                decided[site] = _held(ctx, _ignored(ctx, site) or _derived(ctx, site, decide(ctx, work, site)))
    decided.update(_as_called(decided))
    decided.update(_or_torchs(ctx, work.sites, decided))
    decided.update(_unsure(decided))
    decided.update(_bound(ctx, work, work.sites, decided))
    decided.update(narrowed(ctx, work, decided))
    if not any(isinstance(outcome, Native) for outcome in decided.values()):  # words were found for nothing
        for templates, before in zip(work.templates, needed, strict=True):
            templates.needs_import = before
    for site, outcome in decided.items():
        if isinstance(outcome, Stays):
            work.find(None, rule, outcome.severity, site.use, outcome.message, outcome.suggestion)
        else:
            write(ctx, work, rule, site, outcome)
    _tell_questions(ctx, work, rule, {one.name for one in decided.values() if isinstance(one, Native)})
    shorten_tuples(ctx, work, list(decided))
    named = [site for site, one in decided.items() if isinstance(one, Native) and site.call and not _changes(site, one)]
    values = [site for site, one in decided.items() if isinstance(one, Native) and site.call is None]
    fold_arms(ctx, work, [*named, *values])
    fold_statements(ctx, work, named)
    for binding in work.sites.unused:
        dotted = (drop_in or {}).get(binding.name)
        if dotted is not None and _handed_on(ctx, binding) and not _asked_to_ignore(ctx, binding.stmt):
            work.natives[binding.stmt, binding.alias] = _import(dotted, binding.local)


def _tell_questions(ctx: Context, work: Work, rule: str, names: set[str]) -> None:
    """What asks for torch's class, and not for Apex's beside it, gets another answer from now on."""
    m = ctx.m
    for call in m.calls("isinstance"):
        classes = call.args[1] if len(call.args) == 2 else None
        if classes is None or any(use in work.replaced and m.inside(use, classes) for use in ctx.facts.uses):
            continue
        asked = {m.src(one) for one in (classes.elts if isinstance(classes, ast.Tuple) else [classes])}
        file = m.file(call)
        for name in sorted(names):
            if asked & {name, native(m, file, Templates(m, file, ctx.settings), name)}:
                what = name.rpartition(".")[2]
                said = f"this asks for torch's {what}, which Apex's was not: from now on it is one"
                work.find(None, rule, Severity.INFO, call, said)


def _handed_on(ctx: Context, binding: Binding) -> bool:
    """Whether other files may take the name that an import binds from here."""
    if binding.home is not None and binding.home.is_function:
        return False
    taken = ctx.exported(binding.stmt) & {binding.local, "*"}
    return bool(taken) or listed(ctx, binding.home, binding.local)


def _import(dotted: str, local: str) -> str:
    module, _, name = dotted.rpartition(".")
    return f"from {module} import {name}" + ("" if name == local else f" as {local}")


def _ignored(ctx: Context, site: Site) -> Stays | None:
    if _asked_to_ignore(ctx, site.use) or (site.binding is not None and _asked_to_ignore(ctx, site.binding.stmt)):
        return Stays("left alone: `# apex2native: ignore`")
    return None


def _asked_to_ignore(ctx: Context, node: ast.expr | ast.stmt) -> bool:
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return any(_IGNORE.search(ctx.m.line_text(line)) for line in lines)


def _derived(ctx: Context, site: Site, outcome: Native | Stays) -> Native | Stays:
    """A class that derives from one of Apex's hands its constructor what torch's has as well, or stays."""
    derived = ctx.m.parent[site.use]
    if site.role is not Role.BASE or not isinstance(derived, ast.ClassDef) or isinstance(outcome, Stays):
        return outcome
    for given in arguments.made_by(ctx.m, derived, outcome.parameters or ()):
        if outcome.parameters and (given.surplus or any(name in outcome.drop for name in given.named)):
            return Stays("what derives from it hands its constructor arguments that torch's has not", outcome.name)
    return outcome


def _as_called(decided: Mapping[Site, Native | Stays]) -> dict[Site, Native]:
    """Where a class is only named (isinstance, annotations), what all calls of it became."""
    found: dict[Site, Native] = {}
    for site, outcome in decided.items():
        if site.role is not Role.NAMED or site.call is not None or isinstance(outcome, Native):
            continue
        calls = [one for other, one in decided.items() if other.name == site.name and other.call is not None]
        made = {one.name for one in calls if isinstance(one, Native) and one.spelled in (None, one.name)}
        if len(made) == 1 and all(isinstance(one, Native) for one in calls):
            first = next(one for one in calls if isinstance(one, Native))
            found[site] = Native(first.name, spelled=first.spelled, definition=first.definition, alias=False)
    return found


def _held(ctx: Context, outcome: Native | Stays) -> Native | Stays:
    if isinstance(outcome, Native) and outcome.review is not None and ctx.settings.safe_only:
        return Stays(f"held back by --safe-only: {outcome.review}", severity=Severity.REVIEW)
    return outcome


def _or_torchs(
    ctx: Context, known: Sites, decided: Mapping[Site, Native | Stays]
) -> dict[Site, Native | Stays]:
    """Calls by a name that is torch's own class where Apex is not asked for, with arguments that both take: they go on
    as they are written, as torch's did."""
    found: dict[Site, Native | Stays] = {}
    for site, outcome in decided.items():
        if site.sure or site.call is None or not isinstance(outcome, Native) or not outcome.add:
            continue
        plain, others = replaced(outcome, add=()), known.besides(site)
        if others and not _changes(site, plain) and all(_takes(one, outcome.name) for one in others):
            added = ", ".join(outcome.add)
            why = f"by the same name torch's own is called here, and so it is for both now; as Apex's was: {added}"
            said = f"{outcome.review}; {why}" if outcome.review else why
            found[site] = _held(ctx, replaced(plain, review=said))
    return found


def _takes(stmt: ast.AST, name: str) -> bool:
    """Whether a statement imports torch's class, from where it is or from the module of its package."""
    package, _, last = name.rpartition(".")
    where = isinstance(stmt, ast.ImportFrom) and (stmt.module or "").startswith(package) and not stmt.level
    return where and [alias.name for alias in stmt.names] == [last]  # type: ignore[attr-defined]


def _unsure(decided: Mapping[Site, Native | Stays]) -> dict[Site, Stays]:
    """What stays after all: calls of what may be another class as well, which ask for other arguments, and with them
    every place that such a class comes from."""
    found: dict[Site, Stays] = {}
    for site, outcome in decided.items():
        if not site.sure and site.call is not None and isinstance(outcome, Native) and _changes(site, outcome):
            what = site.name.removesuffix(".apply").rpartition(".")[2]
            found[site] = Stays(f"what is called here may be {what} or another, and torch's takes other arguments")
    names = {site.name for site in found}
    for site, outcome in decided.items():
        if site.name in names and site.call is None and isinstance(outcome, Native):
            found[site] = Stays("what it is called with depends on what else may stand there")
    return found


def _changes(site: Site, outcome: Native) -> bool:
    """Whether a call is written another way, beside its name."""
    if site.variable and outcome.definition:  # what is written out takes the same arguments
        return False
    if outcome.add or outcome.options or outcome.text is not None or outcome.spelled is not None:
        return True
    given = arguments.bind(site, outcome.parameters)
    count = len(arguments.positional(site))
    moved = list(outcome.parameters[:count]) != list(outcome.positional[:count])
    return moved or bool(given.splat) or any(name in outcome.drop for name in given.named)


def _bound(
    ctx: Context, work: Work, known: Sites, decided: Mapping[Site, Native | Stays]
) -> dict[Site, Stays]:
    """What stays since the name that an import gives it cannot go; names that go on as torch's are noted."""
    found: dict[Site, Stays] = {}
    for binding in {site.binding: None for site in decided if site.binding is not None}:
        twins = [one for one in known.bindings if one.twin_of(binding)]  # imports of one name: a use may mean each
        sites = [one for every in known.by_name.values() for one in every if one.binding in twins]
        sites = [one for one in sites if one.role is not Role.ASKED or one.call is not None]
        outcomes = [decided.get(one) for one in sites]
        fits = [one for one in outcomes if isinstance(one, Native)]
        chosen = binding.alias.name not in WRAPPERS
        handed_on = _handed_on(ctx, binding) or computed(ctx, binding.local, chosen=chosen)
        if len(fits) == len(sites) and _goes_on(binding, fits, handed_on):
            for twin in twins:
                work.natives[twin.stmt, twin.alias] = _import(fits[0].name, twin.local)
            continue
        for site in sites:
            if isinstance(decided.get(site), Native) and (handed_on or not site.sure):
                why = "this name may be taken from here" if handed_on else "this name may be something else too"
                found[site] = Stays(f"{why}, and torch's counterpart does not fit it in all places")
    return found


def _goes_on(binding: Binding, outcomes: Sequence[Native], handed_on: bool) -> bool:
    """Whether the name that an import gives a part of Apex fits torch's counterpart, so that the uses stay."""
    names = {one.name for one in outcomes}
    if len(names) != 1 or any(not one.alias or one.text is not None or one.spelled for one in outcomes):
        return False
    honest = binding.alias.asname is not None and not _SAYS_APEX.search(binding.local)
    return handed_on or honest or names.pop().rpartition(".")[2] == binding.local
