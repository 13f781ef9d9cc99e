"""Runs programs on Apex's Python code or on the double: ``play_apex_parts.py apex|double JOBS.json OUT.json``.

A job is a text that leaves what it came to in ``out``. What of Apex is compiled, and a program here needs, is an empty
module or (for FusedSGD) its kernel as plain arithmetic.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import torch

from tests.equivalence import apex_shim


@torch.no_grad()
def _sgd(
    chunk: int, flag: Any, lists: Any, decay: float, momentum: float, dampening: float, lr: float, nesterov: bool,
    first: bool, behind: bool, scale: float,
) -> None:  # fmt: skip
    """csrc/multi_tensor_sgd_kernel.cu"""
    for grad, weight, velocity in zip(*lists, strict=True):
        g, w = grad * scale, weight.clone()
        g = g if behind else g + decay * w
        if momentum:
            velocity.copy_(g if first else velocity * momentum + (1 - dampening) * g)
            g = g + momentum * velocity if nesterov else velocity.clone()
        weight.sub_(lr * (g + decay * w if behind else g))


def _shown(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), list(value.shape), [repr(one) for one in value.detach().double().flatten().tolist()]]
    if isinstance(value, dict):
        return {str(key): _shown(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shown(one) for one in value]
    return value if isinstance(value, (int, float, str, bool, type(None))) else type(value).__name__


def play(text: str) -> Any:
    space: dict[str, Any] = {"torch": torch}
    torch.manual_seed(0)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(compile(text, "program", "exec"), space)
        except Exception as error:
            return [type(error).__name__, _shown(space.get("out"))]
    return _shown(space["out"])


def main(side: str, jobs: Path, out: Path) -> None:
    warnings.simplefilter("ignore")
    if side == "apex":
        profiler: Any = torch.cuda.nvtx
        profiler.range_push = profiler.range_pop = lambda *args: 0
        sys.modules["fused_layer_norm_cuda"] = types.ModuleType("fused_layer_norm_cuda")
        apex_shim.install(kernels=True)
        kernels: Any = sys.modules["amp_C"]
        kernels.multi_tensor_sgd = _sgd
    out.write_text(json.dumps([play(text) for text in json.loads(jobs.read_text())]))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
