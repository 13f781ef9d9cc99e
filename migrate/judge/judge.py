"""Is a migrated program the same? Every path of both is followed and compared."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ..facts.module import Module
from ..facts.sites import Facts
from ..flow.values import Values
from ..rewrite.trace import Run
from .compare.forgetting import Kept
from .compare.pair import Both
from .compare.refining import Refining
from .compare.search import Search
from .compare.telling import Allows, Grants, Marked
from .folded import folded
from .halves import Halves
from .handed import not_handed
from .origin import Origin
from .program.program import Program
from .run.runner import Runner
from .sides import Switch
from .verdict import Difference, Verdict


def judge(
    m: Module,
    v: Values,
    facts: Facts,
    texts: Sequence[str],
    runs: Sequence[Run],
    *,
    maybe_o0: Callable[[ast.Call], bool] = lambda call: True,
    scaled: bool = True,
    moved: frozenset[ast.stmt] = frozenset(),
    rescaled: frozenset[ast.AST] = frozenset(),
    dropped: frozenset[ast.AST] = frozenset(),
    scales: bool = False,
    patched: bool = True,
    switch: Switch | None = None,
    stops: frozenset[ast.If] = frozenset(),
    announced: Allows = lambda difference, node: False,
    allows: Allows = lambda difference, node: False,
    marked: Marked = lambda: lambda: None,
) -> Verdict:
    """Compare the program ``m`` with the migrated ``texts`` of its files; ``runs`` say what comes from where.

    ``maybe_o0`` says of an initialize whether its level may be O0; where not ``scaled`` the new type needs no loss
    scale, and the old program is taken as if its own had been 1. ``moved`` are readers of gradients that a rule
    moved under the step's condition, ``rescaled`` clips that got another threshold instead (and calls
    of functions of the file of which that is said), ``dropped`` what saved or loaded Apex's state, and is gone, as the
    unit's report says. ``scales`` says that Apex scales a loss somewhere: a path on which it does has to be met,
    else what was compared says little; ``patched``, that it cast torch's functions (O1). ``switch`` chooses between
    the two sides; in the first arm of ``stops``, which a library's switch leads to, the new program may stop.
    ``announced`` says of a difference (and the node it shows at) whether the unit's report names it, ``allows`` the
    same, and adds to the report what is only worth a look; ``marked`` marks what the report says so far, and gives back
    what takes it there again.
    """
    new = m.rewritten(texts)
    switched = frozenset({switch.name, switch.flag} - {""}) if switch is not None else frozenset[str]()
    before = Program.legacy(m, v, facts, switched, stops)
    origin = Origin(m, new, runs)
    after = Program.migrated(new, before, origin)
    after.naming.rescaled = rescaled
    before.naming.folded = folded(m, new, origin, rescaled)
    both = Both(Runner(before, True, maybe_o0, scaled, switch), Runner(after, False, maybe_o0, switch=switch))
    theirs = after.mattering.asked
    asked = {name: places | theirs.get(name, set()) for name, places in before.mattering.asked.items()}
    once = frozenset(name for name, places in asked.items() if len(places) == 1)

    verdict = Verdict(tuple(not_handed(after)))
    for file in m.roots:

        def begun(kind: type[Search], grants: Grants, kept: Kept | None, root: int = file.number) -> Search:
            return kind(both, root, moved, rescaled, dropped, once, grants, kept)

        verdict = verdict.and_of(Refining(both, begun, announced, allows, marked).verdict())
    if scales and facts.scales and not verdict.differences and "scaled" not in both.followed:
        verdict = verdict.and_of(Verdict((), "no path was found on which Apex scales a loss"))
    return verdict.and_of(Verdict(_halves(after, patched, allows)))


def _halves(after: Program, patched: bool, allows: Allows) -> tuple[Difference, ...]:
    """What reaches, in half precision, what Apex cast and nothing does now, and no report names."""
    found = list[Difference]()
    for one in Halves(after, patched).run():
        said = f"`{after.m.src(one.node)}` {one.message}"
        difference = Difference("half", after.naming.line(one.node), said)
        if not allows(difference, after.naming.twin(one.node)):
            found.append(difference)
    return tuple(found)
