"""What is left of Apex is named: every import and use stands in one change or finding.

``apex.parallel``, ``apex.fp16_utils`` and ``apex.RNN`` were deleted with ``apex.amp``; fused optimizers
and normalizations still exist in current Apex and keep working with a GradScaler.

Source: NVIDIA/apex pull request 1896; semantics of each module in docs/.
"""

from __future__ import annotations

import ast

from migrate.model import Finding, Severity
from migrate.plan.carried import AMP
from migrate.rules.common import Stage, Work
from migrate.units.unit import Context

ID = "APX090"
STAGE = Stage.REPORT
BEFORE = """\
from apex.parallel import DistributedDataParallel
"""
AFTER = """\
from apex.parallel import DistributedDataParallel
"""
NOTES = {
    "APX091": "A unit that stays: which fact is missing, on which path it would differ, and where its sites are.",
    "APX092": "A unit with more paths than the judge can follow, or with code that it cannot.",
}

_NATIVE = {
    "parallel": ("torch.nn.parallel.DistributedDataParallel, torch.nn.SyncBatchNorm", True),
    "fp16_utils": ("torch.autocast with torch.amp.GradScaler", True),
    "RNN": ("torch.nn.LSTM, GRU and RNN", True),
    "transformer": ("torch.distributed.tensor.parallel, or Megatron-Core", True),
    "multi_tensor_apply": ("torch._foreach functions", False),
    "optimizers": ("torch.optim with fused=True", False),
    "normalization": ("torch.nn.LayerNorm and torch.nn.RMSNorm", False),
    "contrib": ("torch's own layers and functions", False),
    "mlp": ("torch.nn.Sequential of Linear layers", False),
    "fused_dense": ("torch.nn.Linear", False),
}

_BY_NAME = {
    "DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel(model, device_ids=[local_rank], "
    "broadcast_buffers=False)",
    "convert_syncbn_model": "torch.nn.SyncBatchNorm.convert_sync_batchnorm(model)",
    "SyncBatchNorm": "torch.nn.SyncBatchNorm",
    "create_syncbn_process_group": "torch.distributed.new_subgroups(group_size)",
    "LARC": "torch has none: keep a copy of its 40 lines, which work with a GradScaler",
    "FusedAdam": "torch.optim.AdamW(…, weight_decay=0.0, fused=True); torch.optim.Adam where adam_w_mode=False",
    "FusedSGD": "torch.optim.SGD(…, fused=True)",
    "FusedLAMB": "torch has none: keep Apex's, or a third-party LAMB that clips the global norm to 1",
    "FusedLayerNorm": "torch.nn.LayerNorm",
    "FusedRMSNorm": "torch.nn.RMSNorm(shape, eps=1e-5)",
    "state_dict": "scaler.state_dict()",
    "load_state_dict": "scaler.load_state_dict(…)",
    "float_function": 'with torch.autocast("cuda", enabled=False): around what it does, with x.float() for its tensors',
    "half_function": 'with torch.autocast("cuda", dtype=torch.float16): around what it does',
    "disable_casts": 'torch.autocast("cuda", enabled=False)',
    "master_params": '(p for group in optimizer.param_groups for p in group["params"])',
    "loss_scalers": "scaler.get_scale()",
    "loss_scalers[]": "scaler.get_scale()",
    "loss_scale": "scaler.get_scale()",
    "_loss_scale": "scaler.get_scale()",
}

_DELAYED = (
    "torch.nn.parallel.DistributedDataParallel(model, device_ids=[local_rank], broadcast_buffers=False, "
    "find_unused_parameters=True), the last as delay_allreduce=True did not mind parameters without a gradient"
)


def apply(ctx: Context, work: Work) -> None:
    """A finding for every site that no change and no other finding names."""
    named: set[int] = set()
    for _, noted in work.noted:
        named.update(range(noted.line, noted.end_line + 1))
    for finding in work.findings:
        named.update(range(finding.line, finding.end_line + 1))
        named.update(finding.lines)
    open_sites: dict[tuple[str, Severity, str | None], list[int]] = {}
    for node, dotted in _sites(ctx, work):
        line = node.lineno  # type: ignore[attr-defined]
        if line in named:
            continue
        severity, message, suggestion = _say(dotted, work.untouched)
        if dotted.split(".")[-1] in ("float_function", "half_function") and not ctx.facts.initializes:
            message += "; where no amp.initialize has run this decorator does nothing"
        if dotted == "apex.parallel.DistributedDataParallel" and _delayed(ctx):
            suggestion = _DELAYED
        if dotted == "apex.optimizers.FusedAdam" and _uncorrected(ctx):
            suggestion = "torch has no Adam without bias correction: keep Apex's, or write the step out"
        if suggestion is not None:
            suggestion = suggestion.replace("[local_rank]", f"[{_rank(ctx)}]")
        open_sites.setdefault((message, severity, suggestion), []).append(line)
    for (message, severity, suggestion), lines in open_sites.items():
        lines = sorted(set(lines))
        work.findings.append(
            Finding(ID, severity, lines[0], lines[0], message, suggestion=suggestion, lines=tuple(lines[1:]))
        )


def _rank(ctx: Context) -> str:
    """The number of a process's own device, as the file says it."""
    said = [ctx.m.src(node) for name in ("local_rank", "gpu") for node in ctx.m.attributes(name)]
    named = [name for name in ("local_rank", "gpu", "rank") if ctx.m.named(name)]
    return next((one for one in (*said, *named) if one.replace(".", "").isidentifier()), "local_rank")


def _delayed(ctx: Context) -> bool:
    """Whether Apex's DDP waited for the whole backward, and so did not mind parameters that got no gradient."""
    calls = [ctx.m.parent[use] for use, d in ctx.facts.uses.items() if d == "apex.parallel.DistributedDataParallel"]
    words = [k for call in calls if isinstance(call, ast.Call) for k in call.keywords]
    return any(
        k.arg == "delay_allreduce" and not (isinstance(k.value, ast.Constant) and not k.value.value) for k in words
    )


def _uncorrected(ctx: Context) -> bool:
    """Whether Apex's Adam is made without bias correction."""
    words = [k for call in ctx.m.calls("FusedAdam") for k in call.keywords if k.arg == "bias_correction"]
    return any(isinstance(k.value, ast.Constant) and not k.value.value for k in words)


def _sites(ctx: Context, work: Work) -> list[tuple[ast.AST, str]]:
    found: list[tuple[ast.AST, str]] = []
    for stmt, names in ctx.facts.imports.items():
        found += [(stmt, _served(ctx, work) if name == "apex" else name) for name in names]
    found += [(use, "flag" if work.flags and d in AMP else d) for use, d in ctx.facts.uses.items()]
    found += [(name, "spelled") for name in ctx.facts.spelled]
    return found


def _served(ctx: Context, work: Work) -> str:
    """What a bare ``import apex`` is still for: a part that stays, nothing but the question, or amp."""
    uses = [d for use, d in ctx.facts.uses.items() if d.startswith("apex.") and not work.draft.gone(use)]
    parts = sorted(d for d in uses if not d.startswith("apex.amp"))
    if parts and len(parts) == len(uses):
        return parts[0]
    return "apex" if uses else "probe"


def _say(dotted: str, untouched: str) -> tuple[Severity, str, str | None]:
    if dotted == "spelled":
        return Severity.INFO, "a name spelled like an import of Apex that is none here", None
    if dotted == "flag":
        return Severity.INFO, "what stood for amp here is a flag now: it only says whether mixed precision is on", None
    if dotted == "probe":
        return Severity.REVIEW, "this only asks whether Apex is there; see what still depends on the answer", None
    part = dotted.split(".")[1] if "." in dotted else ""
    if dotted == "apex.optimizers.FP16_Optimizer":
        message = "FP16_Optimizer scales losses by itself, and apex.optimizers has none any more"
        return Severity.MANUAL, message, "torch.optim.Adam, with torch.autocast and a GradScaler for optimizer.backward"
    if part in _NATIVE:
        native, deleted = _NATIVE[part]
        suggestion = _BY_NAME.get(dotted.split(".")[-1], native)
        if deleted:
            message = f"apex.{part} is not migrated by this version; current Apex no longer has it"
            return Severity.MANUAL, message, suggestion
        message = f"apex.{part} still exists in current Apex and works with a GradScaler; it stays"
        return Severity.INFO, message, suggestion
    if part in ("amp", ""):
        return Severity.MANUAL, untouched, _BY_NAME.get(dotted.split(".")[-1])
    return Severity.MANUAL, f"apex.{part} is not migrated by this version", None
