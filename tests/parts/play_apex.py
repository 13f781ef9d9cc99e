"""Runs programs on the real Apex's Python code, on a CPU: ``play_apex.py JOBS OUT`` with Apex on the path.

JOBS is what `torch.save` made of ``{name: (text, names)}``; OUT gets ``{name: {what: value}}`` of the names that the
tests compare. Apex's extensions do not exist here: an empty one stands for the layers', which ask for it when they are
made and run torch's functions on a CPU, and ranges for a profiler go nowhere.
"""

from __future__ import annotations

import sys
import types
import warnings
from pathlib import Path
from typing import Any

import torch

KEPT = ("model", "losses", "norms", "found")


def play(text: str, names: dict[str, Any]) -> dict[str, Any]:
    space = {"__name__": "script", **names}
    exec(compile(text, "script.py", "exec"), space)
    found = {name: space[name] for name in KEPT if name in space}
    if "model" in found:
        found["model"] = found["model"].state_dict()
    return found


def main(jobs: Path, out: Path) -> None:
    warnings.simplefilter("ignore")
    sys.modules["fused_layer_norm_cuda"] = types.ModuleType("fused_layer_norm_cuda")
    profiler: Any = torch.cuda.nvtx
    profiler.range_push = profiler.range_pop = lambda *args: 0
    given = torch.load(jobs, weights_only=False)
    torch.save({name: play(*job) for name, job in given.items()}, out)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
