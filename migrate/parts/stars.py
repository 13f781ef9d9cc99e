"""``from apex.fp16_utils import *`` as an import of the names that the file reads of it, which can be followed."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection

from ..facts.module import Module
from ..knowledge.apex import FP16_UTILS

_STAR = re.compile(r"\bimport(?:[ \t\f]|\\\r?\n)*\*")

# What each package gives a star, of what rules know.
_GIVES = {
    "apex.fp16_utils": FP16_UTILS,
    "apex.parallel": frozenset(
        "DistributedDataParallel Reducer ReduceOp SyncBatchNorm convert_syncbn_model "
        "create_syncbn_process_group".split()
    ),
    "apex.optimizers": frozenset("FusedAdam FusedSGD FusedAdagrad FusedLAMB FusedNovoGrad".split()),
    "apex.normalization": frozenset("FusedLayerNorm MixedFusedLayerNorm FusedRMSNorm MixedFusedRMSNorm".split()),
}


def spelled_out(text: str, taken: Collection[str]) -> str:
    """A file's text with such stars as names, where no other star may give it any of them, on the same lines.

    ``taken`` are the names that other files import from it: what they may take of a star is not told."""
    if "apex" not in text or not _STAR.search(text):
        return text
    m = Module(text)
    stars = [stmt for stmt in m.all(ast.ImportFrom) if stmt.names[0].name == "*"]
    ours = [stmt for stmt in stars if stmt.level == 0 and stmt.module in _GIVES]
    if not ours or len(ours) < len(stars) or "*" in taken:
        return text
    free = {n.id for n in m.all(ast.Name) if isinstance(n.ctx, ast.Load) and m.binding_scope(n.id, m.scope(n)) is None}
    for stmt in sorted(ours, key=m.start, reverse=True):
        gives = _GIVES[stmt.module or ""]
        names = sorted(free & gives)
        if not names or gives & set(taken):
            continue
        text = f"{text[: m.start(stmt)]}from {stmt.module} import {', '.join(names)}{text[m.end(stmt) :]}"
    return text
