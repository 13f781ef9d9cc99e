"""What Apex's own Python code computes on a CPU, beside the migrated text. ``APEX_SRC=/path/to/apex``.

Fused optimizers, losses and the wrapper for processes need CUDA; they have only their formulas.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from .play_apex import play
from .support import migrated, network, regression

ROOT = Path(__file__).resolve().parents[2]
SOURCE = os.environ.get("APEX_SRC", "")

pytestmark = [
    pytest.mark.apex,
    pytest.mark.skipif(
        not (Path(SOURCE) / "apex" / "amp").is_dir() if SOURCE else True,
        reason="APEX_SRC does not name a copy of Apex 25.05 or older",
    ),
]

LOOP = """
for inputs, targets in batches:
    optimizer.zero_grad()
    (model(inputs) - targets).pow(2).mean().backward()
    optimizer.step()
"""
LARC = "import torch\nfrom apex.parallel.LARC import LARC\n\n"
SGD = "torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=0.2)"
NORM = "import torch\nimport apex\nfrom torch import nn\n\ntorch.manual_seed(0)\n"
TRAIN_NORM = f"optimizer = torch.optim.SGD(model.parameters(), 0.1)\n{LOOP}"
SYNC = "import apex\nimport torch\n\nmodel = apex.parallel.convert_syncbn_model(model)\n"
SCALED = """
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
for inputs, targets in batches:
    optimizer.zero_grad()
    scaler.scale((model(inputs) - targets).pow(2).mean()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
"""
MASTERS = """
import torch
from apex.fp16_utils import master_params_to_model_params, model_grads_to_master_grads, prep_param_lists, tofp16

model_params, master_params = prep_param_lists(model.bfloat16()FLAT)
optimizer = torch.optim.SGD(master_params, 0.1, momentum=0.9)
losses = [tofp16()(torch.ones(2) / 3)]
for inputs, targets in batches:
    model.zero_grad()
    loss = (model(inputs.bfloat16()).float() - targets).pow(2).mean()
    loss.backward()
    model_grads_to_master_grads(model_params, master_paramsFLAT)
    optimizer.step()
    master_params_to_model_params(model_params, master_paramsFLAT)
    losses.append(loss.detach())
found = master_params
"""
PROGRAMS = {
    "larc": f"{LARC}optimizer = LARC({SGD})\n{LOOP}",
    "larc that scales": f"{LARC}optimizer = LARC({SGD}, trust_coefficient=0.001, clip=False)\n{LOOP}",
    "larc by position": f"{LARC}optimizer = LARC({SGD}, 0.5, True, 1e-3)\n{LOOP}",
    "larc around adam": f"{LARC}optimizer = LARC(torch.optim.Adam(model.parameters(), 0.01, weight_decay=0.1))\n{LOOP}",
    "larc behind a scaler": f"{LARC}optimizer = LARC({SGD}, trust_coefficient=0.01)\n{SCALED}",
    "layer norm": f"{NORM}model = nn.Sequential(nn.Linear(6, 3), apex.normalization.FusedLayerNorm(3)).double()\n"
    + TRAIN_NORM,
    "layer norm without weights": f"{NORM}model = nn.Sequential("
    "nn.Linear(6, 3), apex.normalization.FusedLayerNorm(3, 1e-2, False)).double()\n" + TRAIN_NORM,
    "rms norm": f"{NORM}model = nn.Sequential(nn.Linear(6, 3), apex.normalization.FusedRMSNorm(3)).double()\n"
    + TRAIN_NORM,
    "mixed rms norm": f"{NORM}model = nn.Sequential("
    "nn.Linear(6, 3), apex.normalization.MixedFusedRMSNorm(3, 1e-3)).double()\n" + TRAIN_NORM,
    "clip": "import torch\nfrom apex.contrib.clip_grad import clip_grad_norm_\n\nnorms = []\n"
    + "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
    + LOOP.replace("optimizer.step()", "norms.append(clip_grad_norm_(model.parameters(), 0.1)); optimizer.step()"),
    "clip by another norm": "import torch\nfrom apex.contrib import clip_grad\n\n"
    "(model(batches[0][0])).sum().backward()\n"
    "norms = [clip_grad.clip_grad_norm_(list(model.parameters()), 0.5, float('inf'), True)]\n"
    "found = [p.grad for p in model.parameters()]\n",
    "master weights": MASTERS.replace("FLAT", ""),
    "flat master weights": MASTERS.replace("FLAT", ", flat_master=True"),
    "batch norms back in float32": "import torch\nfrom apex.fp16_utils import BN_convert_float, convert_network\n\n"
    "found = [one.clone() for one in BN_convert_float(model.half()).state_dict().values()]\n"
    "found += convert_network(model.double(), torch.half).state_dict().values()\n",
    "batch norm": f"{SYNC}{TRAIN_NORM}",
    "batch norm in evaluation": f"{SYNC}{TRAIN_NORM}\nmodel.eval()\nfound = model(batches[0][0])\n",
}


def _names(program: str) -> dict[str, Any]:
    model = network()
    if program.startswith("batch norm"):
        model.insert(1, nn.BatchNorm1d(5, eps=1e-3, momentum=0.3).double())
    return {"model": model, "batches": regression()}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the texts come to as they were, on Apex."""
    folder = tmp_path_factory.mktemp("apex")
    torch.save({name: (text, _names(name)) for name, text in PROGRAMS.items()}, folder / "jobs.pt")
    done = subprocess.run(
        [sys.executable, "-m", "tests.parts.play_apex", str(folder / "jobs.pt"), str(folder / "out.pt")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": SOURCE, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = torch.load(folder / "out.pt", weights_only=False)
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_migrated_text_computes_what_apex_did(original: dict[str, Any], program: str) -> None:
    names = _names(program)
    begun = copy.deepcopy(names["model"].state_dict())
    found = play(migrated(PROGRAMS[program]), names)
    wanted = original[program]
    assert found.keys() == wanted.keys()
    near = 1e-5 if "rms" in program else 1e-9  # on a CPU Apex takes the mean of squares in float32
    for what, value in wanted.items():
        torch.testing.assert_close(found[what], value, rtol=near, atol=near, msg=f"{what} differs")
    assert "clip by" in program or any(not torch.equal(one, begun.get(k, one + 1)) for k, one in found["model"].items())
