"""The double's other parts beside Apex's own Python code, bit by bit. ``APEX_SRC=/path/to/apex``.

Kernels cannot run here: what they compute is held by formulas (test_double_parts.py).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from migrate.verify.running import DOUBLE

ROOT = Path(__file__).resolve().parents[2]
SOURCE = os.environ.get("APEX_SRC", "")

pytestmark = [
    pytest.mark.apex,
    pytest.mark.skipif(
        not (Path(SOURCE) / "apex" / "amp").is_dir() if SOURCE else True,
        reason="APEX_SRC does not name a copy of Apex 25.05 or older",
    ),
]

HALF = """
from apex.fp16_utils import *
from apex.fp16_utils import FP16_Optimizer
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 2).KIND)
KINDS
inner = torch.optim.SGD(model.parameters(), lr=0.0625, momentum=0.5)
optimizer = FP16_Optimizer(inner, WORDS)
out = []
def seen():
    out.append([
        optimizer.overflow, optimizer.loss_scale, [p.clone() for p in model.parameters()],
        [None if p.grad is None else p.grad.clone() for p in model.parameters()],
        [p.clone() for g in optimizer.param_groups for p in g["params"]],
    ])
def loss(factor=1.0):
    x = torch.arange(6.0).reshape(2, 3) / 8
    for layer in model:
        x = layer(x.to(layer.weight.dtype))
    return x.float().pow(2).mean() * factor
"""
PLAIN = """
for step in range(6):
    optimizer.zero_grad(step == 3)
    optimizer.backward(loss(1e9 if step in (2, 4) else 1.0))
    seen()
    out.append(float(optimizer.clip_master_grads(0.05)))
    out.append(optimizer.step())
    seen()
"""
GATHERED = """
for step in range(4):
    optimizer.zero_grad()
    for part in (0, 1):
        optimizer.backward(loss(0.5), update_master_grads=False)
    optimizer.update_master_grads()
    out.append(optimizer.inspect_master_grad_data())
    optimizer.step()
    optimizer.backward(loss(0.5))
    seen()
"""
CLOSURE = """
calls = []
def closure():
    optimizer.zero_grad()
    calls.append(1)
    value = loss(1e9 if len(calls) == 2 else 1.0)
    optimizer.backward(value)
    return value
for step in range(3):
    out.append(optimizer.step(closure))
    seen()
out.append(len(calls))
"""
STATE = """
optimizer.backward(loss())
optimizer.step()
saved = optimizer.state_dict()
out.append(sorted(saved))
again = FP16_Optimizer(torch.optim.SGD([
    p.detach().clone().requires_grad_() for p in model.parameters()], lr=0.5), WORDS)
again.load_state_dict(saved)
out += [again.loss_scale, [p for g in again.param_groups for p in g["params"]], again.param_groups[0]["lr"]]
optimizer.loss_scale = 4.0
out.append(optimizer.loss_scaler.loss_scale())
import copy
copy.copy(optimizer)
"""
KINDS = {
    "half": ("half()", "model[0].half()"),
    "mixed": ("float()", "model[0].half()"),
    "single": ("float()", ""),
    "frozen": ("half()", "model[0].half(); model[0].weight.requires_grad_(False)"),
}
WORDS = {
    "static": "static_loss_scale=128.0",
    "plain": "",
    "dynamic": "dynamic_loss_scale=True, dynamic_loss_args={'init_scale': 2.0**12, 'scale_window': 2}",
}
PROGRAMS = {
    f"{kind}, {words}, {name}": HALF.replace("KINDS", more).replace("KIND", tail).replace("WORDS", options)
    + body.replace("WORDS", options)
    for kind, (tail, more) in KINDS.items()
    for words, options in WORDS.items()
    for name, body in (("plain", PLAIN), ("gathered", GATHERED), ("closure", CLOSURE), ("state", STATE))
}
PROGRAMS |= {
    "double": "from apex.fp16_utils import FP16_Optimizer\nout = 1\n"
    "FP16_Optimizer(torch.optim.SGD([torch.ones(1).double().requires_grad_()], lr=1))",
    "network_to_half": """
from apex.fp16_utils import network_to_half, BN_convert_float, FP16Model, convert_network, tofp16
def net():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Conv2d(2, 3, 1), torch.nn.BatchNorm2d(3), torch.nn.BatchNorm2d(3, affine=False))
one, two, three = network_to_half(net()), FP16Model(net()), convert_network(net(), torch.float64)
out = [one.state_dict(), two.state_dict(), three.state_dict(), BN_convert_float(net().half()).state_dict()]
out.append(tofp16()(torch.ones(2)))
out.append(FP16Model(torch.nn.Flatten())(torch.ones(1, 2)))
""",
    "param lists": """
from apex.fp16_utils import *
out = []
for flat in (False, True):
    model = torch.nn.Linear(2, 3).half()
    params, masters = prep_param_lists(model, flat)
    out += [len(params), masters]
    model(torch.ones(1, 2).half()).float().sum().backward()
    model_grads_to_master_grads(params, masters, flat)
    out.append([m.grad for m in masters])
    with torch.no_grad():
        for m in masters:
            m.mul_(2)
    master_params_to_model_params(params, masters, flat)
    out.append(params)
    if not flat:
        params[0].grad = None
        model_grads_to_master_grads(params, masters)
        out.append([m.grad for m in masters])
out += [to_python_float(torch.tensor(3.0)), to_python_float([4])]
""",
    "loss scalers": """
from apex.fp16_utils import LossScaler, DynamicLossScaler
out = []
p = torch.nn.Parameter(torch.ones(2))
for scaler in (LossScaler(8.0), DynamicLossScaler(2.0**4, scale_window=3), DynamicLossScaler()):
    for step in range(9):
        p.grad = None
        scaler.backward((p * (float("inf") if step in (2, 5) else 1.0)).sum())
        over = scaler.has_overflow([p])
        scaler.update_scale(over)
        out += [over, scaler.loss_scale, p.grad.clone()]
    out.append(scaler.scale_gradient(None, (torch.ones(1),), None))
""",
    "normalization": """
from apex.normalization import *
import apex
x = torch.randn(4, 2, 6) / 100
out = []
for make in (FusedLayerNorm, FusedRMSNorm, MixedFusedLayerNorm, MixedFusedRMSNorm):
    for shape in (6, (2, 6), [6]):
        layer = make(shape, 1e-4)
        out += [layer.state_dict(), layer(x), repr(layer), layer.normalized_shape]
        out.append(isinstance(layer, torch.nn.LayerNorm))
out += [FusedLayerNorm(6, elementwise_affine=False)(x), FusedRMSNorm(6, elementwise_affine=False).half()(x.half())]
MixedFusedRMSNorm(6, elementwise_affine=False)
""",
    "clip": """
from apex.contrib.clip_grad import clip_grad_norm_
out = []
p = [torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(1))]
for words in ((0.5,), (0.5, float("inf")), (3.0, 1.0)):
    p[0].grad = torch.tensor([1.0, -3.0])
    out += [clip_grad_norm_(p, *words), p[0].grad.clone(), clip_grad_norm_(p[1], *words)]
p[0].grad = torch.tensor([float("nan"), 0.0])
clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
""",
    "sync batch norm": """
from apex.parallel import convert_syncbn_model, SyncBatchNorm
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4, momentum=0.25), torch.nn.Sequential(
    torch.nn.BatchNorm1d(4, affine=False), torch.nn.InstanceNorm1d(4)))
net.eval()
net = convert_syncbn_model(net)
out = [type(m).__name__ for m in net.modules()] + [m.training for m in net.modules()] + [net[:2].state_dict()]
""",
    "larc": """
from apex.parallel.LARC import LARC
p = torch.nn.Parameter(torch.arange(4.0))
out = []
for words in ({}, {"clip": False}, {"trust_coefficient": 0.5, "eps": 1e-3}):
    larc = LARC(torch.optim.SGD([p], lr=0.25, weight_decay=0.5, momentum=0.5), **words)
    for step in range(3):
        p.grad = torch.ones(4) * step
        larc.step()
        out += [p.clone(), larc.param_groups[0]["weight_decay"]]
    larc.param_groups = larc.param_groups[:1]
""",
    **{
        f"sgd {words}": f"""
from apex.optimizers import FusedSGD
p = [torch.nn.Parameter(torch.arange(3.0) + n) for n in range(3)]
o = FusedSGD([{{"params": p[:2]}}, {{"params": p[2:], "lr": 0.5}}], {words})
out = []
for step in range(4):
    for n, one in enumerate(p):
        one.grad = None if (n, step) in ((1, 0), (0, 2)) else torch.ones(3) * (step + n)
    o.step()
    out += [[one.clone() for one in p], [sorted(o.state[one]) for one in p]]
"""
        for words in (
            "0.25", "lr=0.25, momentum=0.5", "0.25, 0.5, 0.25, 0.5", "0.25, 0.5, 0, 0.5, True",
            "0.25, 0.5, 0, 0.5, False, True",
        )
    },
}  # fmt: skip
# Where a closure overflows and the scale is static Apex asks it for ever.
for _kind in KINDS:
    for _words in ("static", "plain"):
        PROGRAMS.pop(f"{_kind}, {_words}, closure")


def played(side: str, folder: Path) -> list[Any]:
    jobs, out = folder / "jobs.json", folder / f"{side}.json"
    jobs.write_text(json.dumps(list(PROGRAMS.values())))
    path = f"{SOURCE if side == 'apex' else DOUBLE}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [sys.executable, "-m", "tests.verify.play_apex_parts", side, str(jobs), str(out)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(out.read_text())
    return found


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, Any]]:
    folder = tmp_path_factory.mktemp("parts")
    pairs = zip(played("apex", folder), played("double", folder), strict=True)
    return dict(zip(PROGRAMS, pairs, strict=True))


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_double_comes_to_what_apex_does(both: dict[str, tuple[Any, Any]], program: str) -> None:
    real, double = both[program]
    assert double == real
    assert real is not None
