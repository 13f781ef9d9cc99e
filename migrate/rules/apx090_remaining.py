"""What is left of Apex is named: every import and use stands in one change or finding.

``apex.parallel``, ``apex.fp16_utils`` and ``apex.RNN`` were deleted with ``apex.amp``. What current Apex still has
(fused optimizers, normalization, contrib) works with a GradScaler and stays with ``--keep-fused``; else what has no
counterpart in torch asks for work by hand.

Source: NVIDIA/apex pull request 1896; semantics of each module in docs/.
"""

from __future__ import annotations

import ast

from ..facts.files import File
from ..facts.from_others import amp_of_others
from ..facts.module import Module
from ..facts.strays import strays
from ..flow.values import Values
from ..knowledge.apex import DELETED_PARTS, FP16_UTILS, FUSED_PARTS, unknown
from ..model import Finding, Severity
from ..plan.backends.outdated import natives, outdated
from ..plan.carried import AMP
from ..plan.listed_state import listed
from ..units.conditions import finds_apex
from ..units.unit import Context
from .apex_heard import heard_by_others, questions, tells
from .apex_told import reports
from .common import Stage, Work

ID = "APX090"
STAGE = Stage.REPORT
BEFORE = """\
from apex.optimizers import FusedMixedPrecisionLamb
"""
AFTER = """\
from apex.optimizers import FusedMixedPrecisionLamb
"""
NOTES = {
    "APX091": "A unit that stays: which fact is missing, on which path it would differ, and where its sites are.",
    "APX092": "A unit with more paths than the judge can follow, or with code that it cannot.",
}

ASKS = "this only asks whether Apex is there; see what still depends on the answer"
_STRAYS = {  # what is said of calls that no import of Apex leads to, and what to do
    True: (
        "amp has no value in this file: this fails as it stands, with Apex or without",
        "from apex import amp at the top of this file, and run again",
    ),
    False: (
        "this calls what Apex's amp has, and no import that is followed leads there",
        "from apex import amp at the top of this file instead of handing it over, and run again",
    ),
}
BY_STAR = DELETED_PARTS | FUSED_PARTS | FP16_UTILS

_NATIVE = {  # what torch has instead, and whether current Apex no longer has the part
    "parallel": ("torch.nn.parallel.DistributedDataParallel, torch.nn.SyncBatchNorm", True),
    "fp16_utils": ("torch.autocast with torch.amp.GradScaler", True),
    "RNN": ("torch.nn.LSTM, GRU and RNN", True),
    "reparameterization": ("torch.nn.utils.parametrizations.weight_norm", True),
    "pyprof": ("torch.profiler", True),
    "transformer": ("torch.distributed.tensor.parallel, or Megatron-Core", True),
    "multi_tensor_apply": ("torch._foreach functions", False),
    "optimizers": ("torch.optim with fused=True", False),
    "normalization": ("torch.nn.LayerNorm and torch.nn.RMSNorm", False),
    "contrib": ("torch's own layers and functions", False),
    "mlp": ("torch.nn.Sequential of Linear layers", False),
    "fused_dense": ("torch.nn.Linear", False),
    "built": ("torch._foreach functions", False),
}

_BY_NAME = {
    "DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel(model, broadcast_buffers=False)",
    "convert_syncbn_model": "torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)",
    "SyncBatchNorm": "torch.nn.SyncBatchNorm",
    "create_syncbn_process_group": "torch.distributed.new_subgroups(group_size)",
    "LARC": "torch has none: keep a copy of its 40 lines, which work with a GradScaler",
    "FusedAdam": "torch.optim.AdamW(…, weight_decay=0.0, fused=True); torch.optim.Adam where adam_w_mode=False",
    "FusedSGD": "torch.optim.SGD(…, fused=True)",
    "Reducer": "for p in model.parameters(): torch.distributed.all_reduce(p.grad, torch.distributed.ReduceOp.AVG)",
    "FusedLAMB": "keep Apex's with --keep-fused, or timm.optim.Lamb (which clips the global norm to 1 as Apex's does)",
    "FusedMixedPrecisionLamb": "keep Apex's with --keep-fused, or timm.optim.Lamb",
    "FusedNovoGrad": "keep Apex's with --keep-fused, or timm.optim.NvNovoGrad",
    "ASP": "torch.sparse.to_sparse_semi_structured, with torch.ao.pruning",
    "FusedLayerNorm": "torch.nn.LayerNorm",
    "FusedRMSNorm": "torch.nn.RMSNorm(shape, eps=1e-5)",
    "state_dict": "scaler.state_dict()",
    "load_state_dict": "scaler.load_state_dict(…)",
    "float_function": 'with torch.autocast("cuda", enabled=False): around what it does, with x.float() for its tensors',
    "half_function": 'with torch.autocast("cuda", dtype=torch.float16): around what it does, with x.half() for its '
    "tensors",
    "disable_casts": 'torch.autocast("cuda", enabled=False)',
    "master_params": '(p for group in optimizer.param_groups for p in group["params"])',
    "loss_scalers": "scaler.get_scale()",
    "loss_scalers[]": "scaler.get_scale()",
    "loss_scale": "scaler.get_scale()",
    "_loss_scale": "scaler.get_scale()",
}

def apply(ctx: Context, work: Work) -> None:
    """A finding for every site that no change and no other finding names."""
    named: set[int] = set()
    for _, noted in work.noted:
        named.update(range(noted.line, noted.end_line + 1))
    for finding in work.findings:
        named.update(range(finding.line, finding.end_line + 1))
        named.update(finding.lines)
    open_sites: dict[tuple[str, Severity, str | None], list[int]] = {}
    told_by = _tellers(ctx, work)
    for node, dotted in _sites(ctx, work, told_by):
        line = node.lineno  # type: ignore[attr-defined]
        if line in named or _of_parts(dotted) is not (work.sites is not None):
            continue
        severity, message, suggestion = _say(dotted, work.untouched, ctx.settings.keep_fused)
        if dotted == "stray":
            assert isinstance(node, ast.Call)
            message, suggestion = _STRAYS[_unbound_amp(node)]
        if dotted == "told":
            severity, message = _told(ctx, work, told_by[node])
        if dotted.split(".")[-1] in ("float_function", "half_function") and not ctx.facts.initializes:
            message += "; where no amp.initialize has run this decorator does nothing"
        open_sites.setdefault((message, severity, suggestion), []).append(line)
    for (message, severity, suggestion), lines in open_sites.items():
        lines = sorted(set(lines))
        work.findings.append(
            Finding(ID, severity, lines[0], lines[0], message, suggestion=suggestion, lines=tuple(lines[1:]))
        )


def _of_parts(dotted: str) -> bool:
    """Whether a name is one of Apex's other parts, which are looked at once amp is settled."""
    return dotted in ("apex~", "star") or dotted.rstrip("~").split(".")[1:2] not in ([], ["amp"])


def _sites(ctx: Context, work: Work, told_by: dict[ast.AST, ast.stmt]) -> list[tuple[ast.AST, str]]:
    found: list[tuple[ast.AST, str]] = []
    for stmt, names in ctx.facts.imports.items():
        if reports(ctx, stmt):
            found.append((stmt, "reported"))
            continue
        if stmt in told_by:
            continue
        for name in names:
            found.append((stmt, _served(ctx, work) if name == "apex" else _imported(ctx, work, name)))
    if work.sites is not None and any(name.endswith(".*") for names in ctx.facts.imports.values() for name in names):
        found += [(n, "star") for n in ctx.m.all(ast.Name) if n.id in BY_STAR and _unbound(ctx, n)]
    held: set[ast.AST] = set()
    held |= work.sites.variables if work.sites is not None else set()  # what gave them their value is told
    held |= natives(ctx) | told_by.keys()
    found += [(node, "told") for node in told_by]
    uses = [(use, _served(ctx, work) if d == "apex" else d) for use, d in ctx.facts.uses.items() if use not in held]
    found += [(use, _instead(ctx, use) if work.flags and d in AMP else d) for use, d in uses]
    found += [(name, "spelled") for name in (*ctx.facts.spelled, *natives(ctx))]
    found += [(name, "handed") for name in amp_of_others(ctx.m, ctx.facts, ctx.own)]
    found += [(call, "stray") for call in strays(ctx.m, ctx.v, ctx.facts.uses)]
    return found


def _tellers(ctx: Context, work: Work) -> dict[ast.AST, ast.stmt]:
    """The imports that only ask for Apex or its amp, and the questions by what they bind, each with its import: where
    nothing that stays in the file uses Apex otherwise."""
    found: dict[ast.AST, ast.stmt] = {}
    for stmt, names in ctx.facts.imports.items():
        if any(map(_of_parts, names)) or reports(ctx, stmt) or not tells(ctx, stmt):
            continue
        asked, file = set(questions(ctx, stmt)), ctx.m.file(stmt)
        uses = {use for use in ctx.facts.uses if ctx.m.file(use) is file and not work.draft.gone(use)}
        if uses <= asked:
            found |= {stmt: stmt} | dict.fromkeys(asked, stmt)
    return found


def _told(ctx: Context, work: Work, stmt: ast.stmt) -> tuple[Severity, str]:
    """What is said of one: where training of its program went, and all who ask are known, it is not to ask on."""
    holder = ctx.m.parent[stmt]
    why = heard_by_others(ctx, holder) if isinstance(holder, ast.Try) else None
    if work.migrated and why is None:
        return Severity.REVIEW, ASKS
    said = "this only tells whether Apex is there, of whatever is installed, and stays"
    if why is not None:
        said = f"{said}: {why}"
    if ctx.answered or work.migrated:
        said += "; what asks it ahead of mixed precision still waits for Apex"
    return Severity.INFO, said


def of_nobody(m: Module, v: Values, file: File) -> tuple[Finding, ...]:
    """What is said of a file without anything of Apex that asks for it by its name, or calls what its amp has."""
    asking = [call for call in m.all(ast.Call) if finds_apex(call) and m.file(call) is file]
    found = [_said_of(file, Severity.INFO, ASKS, None, asking)] if asking else []
    calls = [call for call in strays(m, v, ()) if m.file(call) is file]
    for unbound, (message, suggestion) in _STRAYS.items():
        if some := [call for call in calls if _unbound_amp(call) is unbound]:
            found.append(_said_of(file, Severity.MANUAL, message, suggestion, some))
    return tuple(found)


def _unbound_amp(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)


def _said_of(file: File, severity: Severity, message: str, suggestion: str | None, at: list[ast.Call]) -> Finding:
    first, *more = sorted({call.lineno - file.first + 1 for call in at})
    return Finding(ID, severity, first, first, message, suggestion=suggestion, lines=tuple(more))


def _unbound(ctx: Context, name: ast.Name) -> bool:
    """Whether nothing but a star can give a name its value."""
    return isinstance(name.ctx, ast.Load) and ctx.m.binding_scope(name.id, ctx.m.scope(name)) is None


def _imported(ctx: Context, work: Work, name: str) -> str:
    """What is to be said of a name that an import brings in: of a part of Apex, whether it is used."""
    if work.sites is None and name == "apex.amp" and work.migrated and not _left(ctx, work):
        return f"{name}~"
    if work.sites is None and name == "apex.amp" and outdated(ctx) and not _left(ctx, work):
        return f"{name}?"  # what runs on an older torch alone went
    if work.sites is None or not _of_parts(name):
        return name
    if name.endswith(".*"):
        return "star" if any(n.id in BY_STAR and _unbound(ctx, n) for n in ctx.m.all(ast.Name)) else f"{name}?"
    uses = [use for use, d in ctx.facts.uses.items() if d == name or d.startswith(f"{name}.")]
    told = {line for finding in work.findings for line in (finding.line, *finding.lines)}
    if not uses and (ctx.taken[0] if ctx.taken else frozenset()) & {name.split(".")[-1], "*"}:
        return f"{name}^"
    return f"{name}?" if not uses else f"{name}!" if any(use.lineno in told for use in uses) else name


def _left(ctx: Context, work: Work) -> bool:
    """Whether a use of amp is left in the program."""
    return any(d.startswith("apex.amp") and not work.draft.gone(use) for use, d in ctx.facts.uses.items())


def _served(ctx: Context, work: Work) -> str:
    """What a bare ``import apex`` is still for: a part that stays, nothing but the question, or amp."""
    left = [use for use in ctx.facts.uses if use not in work.replaced and not work.draft.gone(use)]
    uses = [d for use in left if (d := ctx.facts.uses[use]).startswith("apex.")]
    if not uses and work.replaced:
        return "apex~"
    parts = sorted(d for d in uses if not d.startswith("apex.amp"))
    if parts and len(parts) == len(uses):
        return parts[0]
    return "apex" if uses else "probe"


def _instead(ctx: Context, use: ast.expr) -> str:
    """What stands where something was kept for amp: a flag, or the scaler, where it is among others that are asked for
    their states."""
    others = any(o.kind != "apex" for o in ctx.v.of(use))
    return "scaler" if others and listed(ctx) else "flag"


def _say(dotted: str, untouched: str, keep_fused: bool) -> tuple[Severity, str, str | None]:
    severity, said, suggestion = _about(dotted, untouched, keep_fused)
    return severity, said.replace("apex.built.", ""), suggestion  # amp_C is a module of its own


def _about(dotted: str, untouched: str, keep_fused: bool) -> tuple[Severity, str, str | None]:
    if dotted == "spelled":
        return Severity.INFO, "a name spelled like an import of Apex that is none here", None
    if dotted == "handed":
        said = "amp comes from another file of this tree here, and the two could not be read together"
        return Severity.MANUAL, said, "from apex import amp at the top of this file, and run again"
    if dotted == "flag":
        return Severity.INFO, "what stood for amp here is a flag now: it only says whether mixed precision is on", None
    if dotted == "scaler":
        return Severity.INFO, "what stood for amp here is the GradScaler now", None
    if dotted == "reported":
        return Severity.INFO, "this only reports whether Apex is there, of whatever is installed, and stays", None
    if dotted == "probe":
        return Severity.REVIEW, ASKS, None
    if dotted.endswith("?"):
        said = f"{dotted[:-1]} is imported and not used in this file, which may ask whether Apex is there"
        return Severity.REVIEW, f"{said}; see what depends on the answer", None
    if dotted.endswith("^"):
        said = f"{dotted[:-1]} is imported and not used in this file; others take names from here, and may use Apex's"
        module, _, name = dotted[:-1].rpartition(".")
        return Severity.REVIEW, said, f"where it is used: from {module} import {name}, and run again"
    if dotted.endswith("!"):
        return Severity.INFO, f"{dotted[:-1]} stays imported, as not every use of it went", None
    if dotted == "star":
        said = "names that a star brings in from Apex are not followed"
        return Severity.MANUAL, said, "import them by their names (from apex.optimizers import FusedAdam) and run again"
    if dotted.endswith("~"):
        said = f"nothing in this file needs {dotted[:-1]} any more"
        said = f"{said}, which stays imported, as other files may take it from here"
        return Severity.REVIEW if dotted == "apex~" else Severity.MANUAL, said, None
    part = dotted.split(".")[1] if "." in dotted else ""
    if dotted == "apex.optimizers.FP16_Optimizer":
        message = "FP16_Optimizer scales losses by itself, and apex.optimizers has none any more"
        return Severity.MANUAL, message, "torch.optim.Adam, with torch.autocast and a GradScaler for optimizer.backward"
    if unknown(dotted):
        said = f"no Apex that is known has {dotted}: its import fails, and what stands here for a missing Apex runs"
        return Severity.MANUAL, said, "take the import out, and leave what stands for a missing Apex"
    if part in _NATIVE:
        native, deleted = _NATIVE[part]
        suggestion = _BY_NAME.get(dotted.split(".")[-1], native)
        if deleted:
            why = untouched or "has no counterpart in torch that takes its place as it is"
            return Severity.MANUAL, f"{dotted} {why}; current Apex has no apex.{part} any more", suggestion
        if keep_fused or untouched:
            why = untouched or "works with a GradScaler and stays"
            return Severity.INFO, f"{dotted} {why}; current Apex still has it", suggestion
        message = f"{dotted} has no counterpart in torch that takes its place as it is; current Apex still has it"
        return Severity.MANUAL, message, suggestion
    if part in ("amp", ""):
        return Severity.MANUAL, untouched, _BY_NAME.get(dotted.split(".")[-1])
    return Severity.MANUAL, f"apex.{part} is not migrated by this version", None
