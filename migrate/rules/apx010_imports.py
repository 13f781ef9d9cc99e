"""Imports of ``apex.amp`` go when nothing in the file needs them any more, and so does what guarded them.

A ``try`` around the import goes with its handlers ("Please install apex"), an ``if`` that held nothing
else goes, and a flag such as ``APEX_AVAILABLE`` is true from now on: conditions drop it, branches for
its absence are dead. A variable that held amp or ``None`` holds ``True`` or ``None``, once all its readers
are known to ask no more. ``import torch`` is added where the file had no name for it.

Source: NVIDIA/apex pull request 1896 deleted ``apex.amp`` in May 2025.
"""

from __future__ import annotations

import ast

from ..facts.bound_anew import bound_anew
from ..facts.names import called_name
from ..facts.nearest import import_of
from ..flow.objects import WRAPPERS
from ..knowledge.apex import FP16_UTILS, of_apex
from ..model import Severity
from ..nodes import walk
from ..parts.sites import Role, computed
from ..plan.carried import AMP, asks_a_flag, becomes_true, imported_here, sometimes_imported
from ..plan.listed_state import asks_the_scaler
from ..plan.premises.unbound import asked_elsewhere
from ..units.available import Key, taken_unasked, unasked
from ..units.public import listed, serves_nobody
from ..units.unit import Context
from .apex_asked import about, apex_tests, asking_parts, fold_test
from .apex_heard import asked_by_name, handed_out, heard, heard_by_others, probes
from .apex_told import known_as, reports
from .apex_tried import harmless, remove_fallbacks, remove_flags, set_in, told_beside
from .common import Stage, Work
from .import_torch import add_torch
from .own_fallbacks import settle_own_fallbacks

ID = "APX010"
STAGE = Stage.TIDY
BEFORE = """\
try:
    from apex import amp
    APEX_AVAILABLE = True
except ImportError:
    APEX_AVAILABLE = False

parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
if args.fp16 and not APEX_AVAILABLE:
    raise ImportError("Please install apex")
"""
AFTER = """\
parser.add_argument("--fp16", action="store_true")
args = parser.parse_args()
"""
NOTES = {
    "APX011": "Tidying: what stood only for Apex goes; what stays and is not read any more is told.",
}
_ANSWERED = (
    "this told whether Apex's amp is there. Nothing in this tree needs it any more, so the answer is yes from now on, "
    "Apex or not: what is done for mixed precision by this answer has to be native"
)

_YES = "says yes from now on, Apex or not, as what it was asked for needs no Apex. Who else hears it is not known here"


def apply(ctx: Context, work: Work) -> None:
    """Remove what no longer serves, and import what is needed now."""
    settle_own_fallbacks(ctx, work)
    _remove_served(ctx, work)
    add_torch(ctx, work)


def _remove_served(ctx: Context, work: Work) -> None:
    _flags_for_objects(ctx, work)
    tests = list(apex_tests(ctx))
    inside_tests = {id(n) for t in tests for part in asking_parts(ctx, t) for n in walk(part)}
    doomed: dict[ast.stmt, list[ast.alias]] = {}
    for stmt in ctx.facts.imports:
        assert isinstance(stmt, (ast.Import, ast.ImportFrom))
        gone = [a for a in stmt.names if _serves_no_more(ctx, work, stmt, a, inside_tests)]
        if gone:
            doomed[stmt] = gone
    for stmt in [one for one in doomed if work.sites is not None and _asks_beside(ctx, work, one, doomed)]:
        del doomed[stmt]
    if not doomed:
        return
    kept_tries = {
        ctx.m.parent[s]
        for s in ctx.facts.imports
        if len(doomed.get(s, [])) < len(s.names)  # type: ignore[attr-defined]
    }
    names = {
        (ctx.m.binding_scope(a.asname or a.name.split(".")[0], ctx.m.scope(s)), a.asname or a.name.split(".")[0])
        for s, aliases in doomed.items()
        for a in aliases
    }
    flags = {key for key in ctx.conditions.flags if not set_in(ctx, key, kept_tries)}
    for test in tests:
        if not work.draft.gone(test) and about(ctx, test, names | flags):
            fold_test(ctx, work, test)
    for stmt, aliases in doomed.items():
        if ctx.answered and probes(ctx, stmt):
            work.find(None, ID, Severity.REVIEW, stmt, _ANSWERED)
        _remove(ctx, work, stmt, aliases)
        if work.sites is not None:
            _one_of_two(ctx, work, stmt)
    beside = told_beside(ctx, doomed) if work.sites is not None else set()
    dropped = remove_flags(ctx, work, flags | beside, doomed)
    _tell_flags(ctx, work, flags - dropped, names)
    remove_fallbacks(ctx, work, names)
    _globals(ctx, work, names)
    _remove_handed_on(ctx, work, names | dropped | _remove_unasked(ctx, work), flags - dropped)


def _asks_beside(ctx: Context, work: Work, stmt: ast.stmt, doomed: dict[ast.stmt, list[ast.alias]]) -> bool:
    """Whether an import that nobody reads stands in a try beside one of Apex that stays: both ask for it."""
    holder = ctx.m.parent[stmt]
    if not isinstance(holder, ast.Try) or stmt not in holder.body:
        return False
    names = {alias.asname or alias.name.split(".")[0] for alias in doomed[stmt]}
    sites = [site for every in work.sites.by_name.values() for site in every] if work.sites else []
    used = {site.binding.local for site in sites if site.binding is not None}
    beside = [one for one in holder.body if one in ctx.facts.imports and one is not stmt]
    return not names & used and any(len(doomed.get(one, [])) < len(one.names) for one in beside)  # type: ignore[attr-defined]


def _remove_handed_on(ctx: Context, work: Work, names: set[Key], kept: set[Key]) -> None:
    """What other files of the program import of ``names`` goes there too; of those that are ``kept`` for whoever has
    the package, where nobody asks them any more."""
    for stmt in ctx.m.all(ast.ImportFrom) if len(ctx.m.files) > 1 else ():
        copies = {c.name: (c.source, c.original) for c in ctx.m.copied_by.get(stmt, ())}
        gone = []
        for alias in stmt.names:
            name = alias.asname or alias.name
            key = copies.get(name, (ctx.m.binding_scope(name, ctx.m.scope(stmt)), name))
            if name == "*" or stmt in ctx.facts.imports:
                continue
            if key in names or (key in kept and _asked_no_more(ctx, work, stmt, alias)):
                gone.append(alias)
        if gone:
            _remove(ctx, work, stmt, gone)


def _asked_no_more(ctx: Context, work: Work, stmt: ast.ImportFrom, alias: ast.alias) -> bool:
    """Whether a file asked for a name that it imports, and all that did is gone."""
    file, name = ctx.m.file(stmt), alias.asname or alias.name
    asked = [n for n in ctx.m.named(name) if ctx.m.file(n) is file]
    return bool(asked) and all(map(work.draft.gone, asked)) and serves_nobody(ctx, stmt, alias)


def _tell_flags(ctx: Context, work: Work, flags: set[Key], names: set[Key]) -> None:
    """A flag beside amp that went says yes from now on, and so does what the import of amp bound; that somebody else
    may hear it is told."""
    for key in sorted(flags | names, key=lambda key: key[1]) if not ctx.answered else ():
        home, name = key
        why = heard(ctx, key, key in flags)
        stores = ctx.m.stores(name, home)
        if why is not None and stores:
            work.find(None, ID, Severity.INFO, ctx.m.statement(stores[0]), f"{name} {_YES}: {why}")


def _remove_unasked(ctx: Context, work: Work) -> set[Key]:
    """Functions that only looked for Apex go where nobody asks them any more."""
    found: set[Key] = set()
    for key, node in unasked(ctx.m, work.draft.gone):
        if not ctx.exported(node) & {node.name, "*"} and not handed_out(ctx, key):
            work.draft.delete(node)
            work.note(None, "APX011", node, f"{node.name}() is not asked any more")
            found.add(key)
    for stmt, aliases in taken_unasked(ctx.m, ctx.conditions.asks_elsewhere, work.draft.gone):
        kept = [a for a in aliases if not ctx.exported(stmt) & {a.name, "*"}]
        if kept:
            _remove(ctx, work, stmt, kept)
    return found


def _flags_for_objects(ctx: Context, work: Work) -> None:
    """What held amp or nothing holds ``True`` or nothing; where nobody asks any more, the assignment goes."""
    m, draft = ctx.m, work.draft
    needed = any(d.startswith("apex.amp.") and _live(ctx, work, use) for use, d in ctx.facts.uses.items())
    if needed or not work.migrated:
        return
    work.flags = True
    flags = AMP - {"apex"} if _asked_for_parts(ctx, work) else AMP
    for use, dotted in ctx.facts.uses.items():
        whole = becomes_true(ctx, use)
        if dotted not in flags or draft.gone(use) or not (whole or asks_a_flag(ctx, use)):
            continue
        stmt = m.statement(use)
        if isinstance(stmt, ast.Assign) and stmt.value is use and not _still_read(ctx, work, stmt):
            draft.delete(stmt)
            _delete_nothing(ctx, work, stmt)
        elif whole or "apex" not in flags:
            draft.replace(use, "True")
        else:
            draft.cut(m.start(use) + m.src(use).rindex("."), m.end(use))  # a flag has no attributes
        work.note(None, "APX011", use, "what held amp is a flag now")
    for stmt in ctx.facts.imports:
        if "apex" in flags or ctx.facts.imports[stmt] != ["apex"]:
            _flag_import(ctx, work, stmt)


def _asked_for_parts(ctx: Context, work: Work) -> bool:
    """Whether another part of Apex is taken by way of what holds Apex itself, which has to go on holding it then."""
    for use, dotted in ctx.facts.uses.items():
        base = use
        while isinstance(base, (ast.Attribute, ast.Subscript)) and not dotted.startswith("apex.amp"):
            base = base.value
            imported = isinstance(base, ast.Name) and imported_here(ctx, base)
            if "apex" in ctx.v.apex_names(base) and not (imported or work.draft.gone(use)):
                return True
    return False


def _delete_nothing(ctx: Context, work: Work, stmt: ast.Assign) -> None:
    """``self.amp = None`` in the other arm goes with ``self.amp = amp``, which nobody reads any more."""
    match stmt.targets:
        case [ast.Attribute(attr=attr, value=ast.Name(id=owner))] if not ctx.spelled:
            pass
        case _:
            return
    cls = ctx.m.class_of(ctx.m.function(stmt))
    for node in ctx.m.attributes(attr):
        other = ctx.m.parent[node]
        if cls is None or ctx.m.class_of(ctx.m.function(node)) is not cls or work.draft.gone(other):
            continue
        match other:
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name))], value=ast.Constant(value=None)):
                if name == owner:
                    work.draft.delete(other)
                    work.note(None, "APX011", other, f"{ctx.m.src(node)} is no longer read")


def _live(ctx: Context, work: Work, use: ast.expr) -> bool:
    """Whether a use of amp still needs it: no question for what amp has, and no parameter that takes the scaler."""
    above = ctx.m.parent[use]
    asked = isinstance(above, ast.expr) and ctx.conditions.constant(above) is not None
    return not (work.draft.gone(use) or asked or asks_the_scaler(ctx, use))


def _flag_import(ctx: Context, work: Work, stmt: ast.stmt) -> None:
    """An import that runs only at times, and whose name is asked for, leaves a flag of that name."""
    m, draft = ctx.m, work.draft
    assert isinstance(stmt, (ast.Import, ast.ImportFrom))
    if len(stmt.names) != 1 or not _is_amp(stmt, stmt.names[0]):
        return
    alias = stmt.names[0]
    name = alias.asname or alias.name.split(".")[0]
    home = m.binding_scope(name, m.scope(stmt))
    if not sometimes_imported(ctx, home, name):
        return
    asked = any(
        isinstance(n.ctx, ast.Load) and m.binding_scope(name, m.scope(n)) is home and not draft.gone(n)
        for n in m.named(name)
    )
    if not asked:
        return
    holder = m.parent[stmt]
    flag = f"{name} = True"
    if isinstance(holder, ast.Try) and stmt in holder.body and not holder.finalbody:
        rest = [s for s in (*holder.body, *holder.orelse) if s is not stmt and not draft.deleted(s)]
        if all(harmless(s) for s in rest):
            draft.rewrite(holder, flag, *(m.src(s) for s in rest))
            work.note(None, "APX011", holder, "what was imported at times is a flag now")
            return
    draft.rewrite(stmt, flag)
    work.note(None, "APX011", stmt, "what was imported at times is a flag now")


def _still_read(ctx: Context, work: Work, stmt: ast.Assign) -> bool:
    """Whether a variable or attribute that held amp is still read somewhere."""
    m = ctx.m
    for target in stmt.targets:
        if not isinstance(target, (ast.Name, ast.Attribute)):
            return True
        # not by itself: `apex = apex.amp`
        if any(m.statement(n) is not stmt and not work.draft.gone(n) for n in m.reads(target)):
            return True
    return False


def _is_amp(stmt: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    if isinstance(stmt, ast.ImportFrom):
        source = stmt.module or ""
        return source.startswith("apex.amp") or (source == "apex" and alias.name == "amp")
    return alias.name == "apex" or alias.name.split(".")[:2] == ["apex", "amp"]


def _of_apex(stmt: ast.Import | ast.ImportFrom, alias: ast.alias) -> bool:
    return of_apex(stmt.module or "" if isinstance(stmt, ast.ImportFrom) else alias.name) is not None


def _serves_no_more(
    ctx: Context,
    work: Work,
    stmt: ast.Import | ast.ImportFrom,
    alias: ast.alias,
    tests: set[int],
) -> bool:
    """Whether an imported name goes: amp that nobody reads any more, or any name of Apex that nobody ever read."""
    if alias.name == "*":
        file = ctx.m.file(stmt)
        names = {n.id for n in ctx.m.all(ast.Name) if ctx.m.file(n) is file and not work.draft.gone(n)}
        names |= ctx.exported(stmt)
        names -= {name for one in file.tree.body if ctx.m.start(one) > ctx.m.start(stmt) for name in _binds(one)}
        return (
            isinstance(stmt, ast.ImportFrom)
            and stmt.module == "apex.fp16_utils"
            and names.isdisjoint(FP16_UTILS | {"*"})
        )
    if (stmt, alias) in work.natives:
        return True  # torch's takes its place
    if _needed(ctx, work, stmt, alias, tests) or _asks_for_kernels(work, stmt, alias):
        return False
    if reports(ctx, stmt) or _asks_on(ctx, work, stmt):
        return False
    if _is_amp(stmt, alias):
        return True
    return _of_apex(stmt, alias) and (work.sites is not None or _beside_amp(ctx, work, stmt, alias, tests))


def _binds(stmt: ast.stmt) -> list[str]:
    """The names that take a star's place behind it, as a statement of the file binds them in any case."""
    match stmt:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ImportFrom(names=names) if not any(one.name == "*" for one in names):
            return [one.asname or one.name for one in names]
        case _:
            return []


def _beside_amp(
    ctx: Context, work: Work, stmt: ast.Import | ast.ImportFrom, alias: ast.alias, tests: set[int]
) -> bool:
    """Whether a name that nobody reads stands in one try with an import of amp that goes: what the try told others was
    whether there is amp, and mixed precision would go on asking for Apex."""
    holder = ctx.m.parent[stmt]
    if not isinstance(holder, ast.Try) or stmt not in holder.body or not isinstance(stmt, ast.ImportFrom):
        return False
    if computed(ctx, alias.asname or alias.name, chosen=True):
        return False
    beside = [one for one in holder.body if isinstance(one, (ast.Import, ast.ImportFrom))]
    amp = [(one, name) for one in beside for name in one.names if _is_amp(one, name)]
    return bool(amp) and all(_serves_no_more(ctx, work, one, name, tests) for one, name in amp)


def _asks_on(ctx: Context, work: Work, stmt: ast.stmt) -> bool:
    """Whether an import that only asks for Apex goes on asking: for others to know, of whom not all may be told yes."""
    holder = ctx.m.parent[stmt]
    if not isinstance(holder, ast.Try) or not probes(ctx, stmt):
        return False
    if work.migrated and asked_by_name(ctx, stmt):
        return False  # it was asked for what needs no Apex now
    return not (ctx.unled and ctx.answered and heard_by_others(ctx, holder) is None)


def _asks_for_kernels(work: Work, stmt: ast.stmt, alias: ast.alias) -> bool:
    """Whether ``multi_tensor_applier`` is only asked for its kernels by this import, and another part of the file goes
    on calling it: what stands there may need the answer."""
    if work.sites is None or alias.name != "multi_tensor_applier":
        return False
    every = work.sites.by_name
    applier = every.get("apex.multi_tensor_apply.multi_tensor_applier", [])
    calls = [site for site in applier if site.role is not Role.ASKED]
    kernels = [site for name, sites in every.items() if name.startswith("apex.built.") for site in sites]
    return any(site.use not in work.replaced for site in (*calls, *kernels))


def _needed(
    ctx: Context, work: Work, stmt: ast.stmt, alias: ast.alias, tests: set[int]
) -> bool:
    """Whether the name an import binds is still read where it is seen."""
    m = ctx.m
    name = alias.asname or alias.name.split(".")[0]
    if isinstance(stmt, (ast.Import, ast.ImportFrom)) and bound_anew(m, stmt, name):
        return False  # what is read is the next import's
    home = m.binding_scope(name, m.scope(stmt))
    if work.sites is not None and computed(ctx, name, chosen=alias.name not in WRAPPERS):
        return True
    local = home is not None and home.is_function  # which nobody can take from there
    if local and asked_elsewhere(ctx, stmt, name):
        return True  # what is said of those readers speaks of this import
    if not local and (ctx.takes(stmt, name) or listed(ctx, home, name)):
        return True
    for node in (one for home, called in known_as(ctx, home, name) for one in m.loads(called, home)):
        if id(node) not in tests and not work.draft.gone(node):
            if import_of(m, node) in (None, alias):  # in a handler another library may have the name
                return True
    return False


def _remove(ctx: Context, work: Work, stmt: ast.stmt, aliases: list[ast.alias]) -> None:
    assert isinstance(stmt, (ast.Import, ast.ImportFrom))
    kept = [a for a in stmt.names if a not in aliases]
    native = [work.natives[stmt, a] for a in aliases if (stmt, a) in work.natives]
    amp = work.sites is None and any(a.name == "*" or _is_amp(stmt, a) for a in aliases)
    gone = "apex.amp" if amp else "Apex"
    work.note(None, ID, stmt, "imported from torch" if native else f"{gone} is no longer imported")
    if work.draft.gone(stmt):
        return
    if not kept:
        work.draft.rewrite(stmt, *native)
        return
    work.draft.after(stmt, *native)
    for alias in aliases:
        index = stmt.names.index(alias)
        behind = next((a for a in stmt.names[index + 1 :] if a in kept), None)
        if behind is not None:
            work.draft.cut(ctx.m.start(alias), ctx.m.start(stmt.names[index + 1]))
        else:
            before = stmt.names[index - 1]
            work.draft.cut(ctx.m.end(before), ctx.m.end(alias))


def _one_of_two(ctx: Context, work: Work, stmt: ast.stmt) -> None:
    """An ``if`` whose arms import the same from torch now is that import, where asking has no effect."""
    m, holder = ctx.m, ctx.m.parent[stmt]
    if not isinstance(holder, ast.If) or len(holder.body) != 1 or len(holder.orelse) != 1 or work.draft.gone(holder):
        return
    arms = [work.native_lines(one) or [m.src(one)] for one in (holder.body[0], holder.orelse[0])]
    imports = all(isinstance(one, ast.ImportFrom) for one in (holder.body[0], holder.orelse[0]))
    if imports and arms[0] == arms[1] and not m.is_elif(holder) and _idle(holder.test):
        work.draft.rewrite(holder, *arms[0])
        work.note(None, "APX011", holder, "both arms import the same now")


def _idle(test: ast.expr) -> bool:
    """Whether asking a condition has no effect: names, comparisons and questions without arguments."""
    calls = [n for n in walk(test) if isinstance(n, ast.Call)]
    asked = all(not call.args and not call.keywords and called_name(call).startswith("is_") for call in calls)
    return asked and not any(isinstance(n, (ast.NamedExpr, ast.Await, ast.Yield)) for n in walk(test))


def _globals(ctx: Context, work: Work, names: set[Key]) -> None:
    for node in ctx.m.all(ast.Global):
        if not work.draft.gone(node):
            left = [n for n in node.names if (ctx.m.file(node).scope, n) not in names]
            if len(left) < len(node.names):
                if left:
                    work.draft.replace(node, f"global {', '.join(left)}")
                else:
                    work.draft.delete(node)
                work.note(None, "APX011", node, "apex.amp is no longer a global name")
