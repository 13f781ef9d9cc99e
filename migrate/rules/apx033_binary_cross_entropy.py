"""Binary cross entropy on probabilities runs outside of autocast, in float32.

O1 raised for ``F.binary_cross_entropy`` and ``nn.BCELoss`` only if an argument was half; with a
``.float()`` before it, or with sigmoid registered as a float function, it ran. Native autocast on CUDA
raises for every type. The statement goes under a nested ``autocast(enabled=False)`` and the prediction
gets ``.float()``. What else the statement computes stays under autocast: then the call, or its
prediction, gets a name and a line of its own. (``binary_cross_entropy_with_logits`` needs none of this.)

Source: apex/amp/lists/functional_overrides.py at tag 25.05 (BANNED_FUNCS); ATen/autocast_mode.cpp.
"""

from __future__ import annotations

import ast

from ..plan.precision.hazards import Entropy, EntropyStatement
from .common import Plan, Stage, Work

ID = "APX033"
STAGE = Stage.UNIT
BEFORE = """\
output = model(images)
loss = F.binary_cross_entropy(output.float(), target)
"""
AFTER = """\
with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
    output = model(images)
    with torch.autocast("cuda", enabled=False):
        loss = F.binary_cross_entropy(output.float(), target)
"""


def apply(plan: Plan, work: Work) -> None:
    """Take binary cross entropy out of autocast. Runs after APX030, whose headers are the outer ones."""
    found = plan.hazards
    done = {noted.line for _, noted in work.noted if noted.rule == ID}
    todo = [e for e in found.entropies if not work.draft.gone(e.stmt) and e.stmt.lineno not in done]
    for run in _runs(work, [e for e in todo if e.plain]):
        for entropy in run:
            for one in entropy.calls:
                _floats(work, one)
        block, header = work.m.block(run[0].stmt), f"with {work.native(run[0].stmt).no_autocast()}:"
        work.draft.wrap(block, work.m.index(run[0].stmt), work.m.index(run[-1].stmt), header)
    for entropy in todo:
        if not entropy.plain:
            _apart(work, entropy, f"with {work.native(entropy.stmt).no_autocast()}:")
        work.note(plan.unit.number, ID, entropy.stmt, "binary cross entropy runs in float32, outside of autocast")


def _runs(work: Work, plain: list[EntropyStatement]) -> list[list[EntropyStatement]]:
    """Neighbours come under one header."""
    runs: list[list[EntropyStatement]] = []
    for entropy in plain:
        last = runs[-1][-1].stmt if runs else None
        if (
            last is not None
            and work.m.block(last).body is work.m.block(entropy.stmt).body
            and work.m.index(entropy.stmt) == work.m.index(last) + 1
        ):
            runs[-1].append(entropy)
        else:
            runs.append([entropy])
    return runs


def _floats(work: Work, one: Entropy) -> None:
    """``.float()`` behind the arguments that need it."""
    m = work.m
    for node in _cast(one):
        if not _closed(node):
            work.draft.insert_at(m.start(node), "(")
            work.draft.insert_at(m.end(node), ").float()")
        else:
            work.draft.insert_at(m.end(node), ".float()")


def _apart(work: Work, entropy: EntropyStatement, header: str) -> None:
    """The calls, or their predictions, are computed on lines of their own before."""
    m = work.m
    lines = [f"{one.lifted} = {m.src(one.prediction)}" for one in entropy.calls if one.lifted]
    if entropy.names is None:
        changes = [c for one in entropy.calls for c in _changes(one)]
        work.draft.rewrite(entropy.stmt, *lines, header, "\t" + _substituted(work, entropy.stmt, changes))
        return
    lines.append(header)
    for one, name in zip(entropy.calls, entropy.names, strict=True):
        lines.append(f"\t{name} = {_substituted(work, one.call, list(_changes(one)))}")
        work.draft.replace(one.call, name)
    work.draft.before(entropy.stmt, *lines)


def _cast(one: Entropy) -> list[ast.expr]:
    found = [one.prediction] if one.prediction_float and one.lifted is None else []
    return [*found, one.target] if one.target_float and one.target is not None else found


def _changes(one: Entropy) -> list[tuple[ast.expr, str]]:
    """What becomes of a call's arguments; the braces stand for their own text."""
    lifted = [(one.prediction, f"{one.lifted}.float()")] if one.lifted else []
    return [*lifted, *((n, "{}.float()" if _closed(n) else "({}).float()") for n in _cast(one))]


def _substituted(work: Work, node: ast.AST, changes: list[tuple[ast.expr, str]]) -> str:
    """The text of ``node`` with some of the expressions in it changed."""
    m = work.m
    text, start = m.src(node), m.start(node)
    for inner, new in sorted(changes, key=lambda c: -m.start(c[0])):
        low, high = m.start(inner) - start, m.end(inner) - start
        text = text[:low] + new.replace("{}", text[low:high]) + text[high:]
    return text


def _closed(node: ast.expr) -> bool:
    """Whether a dot can follow an expression as it stands."""
    return isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
