"""The double does what Apex's own Python code does. Needs its sources: ``APEX_SRC=/path/to/apex``.

Made-up histories (backwards with overflows, accumulation, several optimizers and losses, delays, saved
states) are played on both, and every state in between is compared. See player.py and apex_shim.py.
"""

from __future__ import annotations

import json
import os
import random
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from .harness import ForkServer

HERE = Path(__file__).resolve().parent
DOUBLE = HERE.parents[1] / "migrate" / "verify" / "double"
SOURCE = os.environ.get("APEX_SRC", "")

pytestmark = [
    pytest.mark.apex,
    pytest.mark.skipif(
        not (Path(SOURCE) / "apex" / "amp").is_dir() if SOURCE else True,
        reason="APEX_SRC does not name a copy of Apex 25.05 or older",
    ),
]

Job = dict[str, Any]


def play(side: str, jobs: list[Job], place: Path) -> list[Any]:
    given, out = place / f"{side}.jobs.json", place / f"{side}.json"
    given.write_text(json.dumps(jobs), encoding="utf-8")
    where = str(DOUBLE) if side == "double" else SOURCE
    environment = dict(os.environ, PYTHONPATH=where, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(
        [sys.executable, str(HERE / "player.py"), side, str(given), str(out)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: list[Any] = json.loads(out.read_text(encoding="utf-8"))
    return results


def first_difference(job: Job, real: list[Any], double: list[Any]) -> str | None:
    """Where two histories part, in words."""
    for at, (before, after) in enumerate(zip(real, double, strict=False)):
        if before == after:
            continue
        op = "initialize" if at == 0 else job["ops"][at - 1] if at <= len(job["ops"]) else "the end"
        if isinstance(before, dict) and isinstance(after, dict):
            keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
            return f"after {op}: " + "; ".join(f"{key}: {before.get(key)} | {after.get(key)}" for key in keys)
        return f"at {op}: {before} | {after}"
    return None if len(real) == len(double) else "one history is longer"


# ---------------------------------------------------------------- histories


def _init(rng: random.Random, level: str) -> Job:
    init: Job = {"opt_level": level}
    if rng.random() < 0.4:
        choices: list[Any] = ["dynamic", 128.0, "64.0", 1.0]
        init["loss_scale"] = rng.choice(choices)
    if rng.random() < 0.3:
        init["min_loss_scale"] = rng.choice([1.0, 16384.0, 65536.0])
    if level == "O2" or rng.random() < 0.3:
        # Scaled gradients have to fit into half precision at O2.
        init["max_loss_scale"] = rng.choice([256.0, 65536.0])
    init["num_losses"] = rng.choice([1, 1, 2, 3])
    return init


def _backward(rng: random.Random, which: list[int], losses: int, wild: bool) -> list[Any]:
    options: Job = {"loss_id": rng.randrange(losses)}
    if rng.random() < 0.25:
        options |= {"bad": rng.choice(["inf", "-inf", "nan"]), "at": rng.randrange(4)}
    if wild:
        options |= {"delay": rng.random() < 0.2, "no_check": rng.random() < 0.1}
        options["form"] = "one" if len(which) == 1 and rng.random() < 0.5 else rng.choice(["list"] * 5 + ["tuple"])
        options["without"] = [rng.randrange(4)] if rng.random() < 0.3 else []
    return ["backward", which, rng.randint(1, 8), options]


def wild(seed: int) -> Job:
    """Any operation at any time."""
    rng = random.Random(seed)
    level = rng.choice(["O0", "O1", "O1", "O1", "O2", "O2", "O3"])
    count = rng.choice([1, 1, 2, 3])
    init = _init(rng, level)
    ops: list[list[Any]] = []
    for _ in range(rng.randint(4, 14)):
        index = rng.randrange(count)
        kind = rng.random()
        if kind < 0.45:
            which = sorted(rng.sample(range(count), rng.randint(1, count)))
            ops.append(_backward(rng, which, init["num_losses"], wild=level != "O3"))
        elif kind < 0.7:
            ops.append(["step", index])
        elif kind < 0.85:
            ops.append(["zero", index])
        elif kind < 0.9 and level != "O3":
            ops.append(["clip", index])
        else:
            ops.append([rng.choice(["save", "save", "load", "add_group", "closure"])])
            if ops[-1][0] == "closure":
                ops[-1].append(index)
            if ops[-1][0] == "load" and not any(op[0] == "save" for op in ops):
                ops[-1] = ["save"]
    # At O3 Apex adds, clips and steps in half precision: kept to what is exact there.
    momentum = 0.0 if level == "O3" else rng.choice([0.0, 0.5])
    return {
        "optimizers": count, "init": init, "ops": ops, "momentum": momentum,
        "window": rng.choice([2, 3, 2000]), "frozen": rng.random() < 0.2,
    }  # fmt: skip


def loop(seed: int) -> Job:
    """An ordinary training loop: gradients are dropped at the start of every iteration."""
    rng = random.Random(seed)
    count = rng.choice([1, 1, 2])
    init = _init(rng, rng.choice(["O1", "O2"]))
    ops: list[list[Any]] = []
    for _ in range(rng.randint(2, 6)):
        ops += [["zero", index] for index in range(count)]
        for _ in range(rng.choice([1, 1, 2, 3])):
            ops.append(_backward(rng, list(range(count)), init["num_losses"], wild=False))
        ops += [["step", index] for index in range(count)]
    return {"optimizers": count, "init": init, "ops": ops, "momentum": 0.5, "window": rng.choice([2, 2000])}


def test_histories(tmp_path: Path) -> None:
    jobs = [wild(seed) for seed in range(250)]
    pairs = zip(jobs, play("kernels", jobs, tmp_path), play("double", jobs, tmp_path), strict=True)
    found = [(job, where) for job, real, double in pairs if (where := first_difference(job, real, double))]
    assert not found, f"{len(found)} of {len(jobs)} differ, the first: {found[0]}"


def test_histories_with_the_python_fallback(tmp_path: Path) -> None:
    """Apex without its kernels leaves gradients half unscaled after an overflow: only those may differ."""

    def seen(states: list[Any]) -> list[Any]:
        kept = ("scalers", "stash", "weights", "models", "raised", "returned")
        return [{k: v for k, v in one.items() if k in kept} if isinstance(one, dict) else one for one in states]

    jobs = [loop(seed) for seed in range(120)]
    pairs = zip(jobs, play("fallback", jobs, tmp_path), play("double", jobs, tmp_path), strict=True)
    found = [(job, where) for job, real, double in pairs if (where := first_difference(job, seen(real), seen(double)))]
    assert not found, f"{len(found)} of {len(jobs)} differ, the first: {found[0]}"


# ---------------------------------------------------------------- calls

SNIPPETS = (
    "out = amp.initialize(model, opt)",
    "out = amp.initialize(model, opt, True, 'O2')",
    "out = amp.initialize(model)",
    "out = amp.initialize([model])",
    "out = amp.initialize([model], opt)",
    "out = amp.initialize(model, [opt])",
    "out = amp.initialize([model, other], [opt, opt2])",
    "out = amp.initialize([model, other], [opt, opt2], opt_level='O2')",
    "out = amp.initialize(model, [])",
    "out = amp.initialize(model, opt, enabled=False)",
    "out = amp.initialize(model, enabled=False)",
    "out = amp.initialize((model, other), (opt, opt2), enabled=False)",
    "amp.initialize(model, (opt, opt2))",
    "amp.initialize((model, other), opt)",
    "amp.initialize(model, opt, opt_level='01')",
    "amp.initialize(model, opt, opt_level=None)",
    "amp.initialize(model, opt, opt_level='O1', keep_batchnorm_fp32=True)",
    "amp.initialize(model, opt, opt_level='O1', master_weights=False)",
    "amp.initialize(model, opt, opt_level='O1', cast_model_type=torch.float16)",
    "amp.initialize(model, opt, opt_level='O1', cast_model_type=torch.float32)",
    "amp.initialize(model, opt, opt_level='O2', patch_torch_functions=True)",
    "amp.initialize(model, opt, opt_level='O2', keep_batchnorm_fp32='maybe')",
    "amp.initialize(model, opt, opt_level='O2', keep_batchnorm_fp32='False')",
    "amp.initialize(model, opt, opt_level='O2', loss_scale='fast')",
    "amp.initialize(model, opt); amp.initialize(model, opt)",
    "amp.initialize(torch.nn.DataParallel(model), opt)",
    "amp._amp_state.hard_override = True; out = amp.initialize(model, opt, keep_batchnorm_fp32=True)",
    "torch.backends.cudnn.enabled = False; amp.initialize(model, opt)",
    "torch.backends.cudnn.enabled = False; out = amp.initialize(model, opt, enabled=False)",
    "with amp.scale_loss(torch.ones(()), opt): pass",
    "amp.initialize(model, opt, enabled=False)\nwith amp.scale_loss(torch.ones(()), opt) as out: pass",
    "amp.initialize(model, opt)\nwith amp.scale_loss(torch.ones(()), opt) as out: pass",
    "amp.initialize(model, opt)\nwith amp.scale_loss(torch.ones(3).half(), opt) as out: pass",
    "amp.initialize(model, opt, loss_scale=1.0)\nwith amp.scale_loss(torch.ones(2).half(), opt) as out: pass",
    "amp.initialize(model, opt, opt_level='O0')\nwith amp.scale_loss(torch.ones(()).double(), opt) as out: pass",
    "amp.initialize(model, opt, opt_level='O2', loss_scale=1.0)\nwith amp.scale_loss(torch.ones(()), opt) as out: pass",
    "amp.initialize(model, opt)\nwith amp.scale_loss(torch.ones(()), opt, loss_id=1): pass",
    "amp.initialize(model, opt)\nwith amp.scale_loss(torch.ones(()), opt2): pass",
    "amp.initialize(model, opt, num_losses=2); out = dict(amp.state_dict())",
    "amp.initialize(model, opt, loss_scale='128.0'); out = dict(amp.state_dict())",
    "amp.initialize(model, opt, max_loss_scale=8.0); out = dict(amp.state_dict())",
    "amp.initialize(model, opt, opt_level='O0'); out = dict(amp.state_dict())",
    "out = amp.state_dict({'epoch': 1})",
    "amp.initialize(model, opt); out = amp.state_dict({'epoch': 1})",
    "amp.initialize(model, opt, enabled=False); amp.state_dict()",
    "amp.load_state_dict({})",
    "amp.initialize(model, opt); amp.load_state_dict({'scale': 1})",
    "amp.initialize(model, opt); s = amp.state_dict(); s['loss_scaler9'] = s['loss_scaler0']; amp.load_state_dict(s)",
    "amp.initialize(model, opt)\n"
    "try: amp.load_state_dict({'loss_scaler5': {'loss_scale': 4.0, 'unskipped': 7}, 'x': 1})\n"
    "except RuntimeError: out = dict(amp.state_dict())",
    "amp.initialize(model, opt); p = amp.master_params(opt); out = [len(list(p)), len(list(p))]",
    "amp.initialize(model, opt, opt_level='O2'); p = list(model.parameters())[0]; opt.zero_grad();"
    " out = [any(q is p for q in amp.master_params(opt)), len(list(amp.master_params(opt)))]",
    "amp.initialize(model, opt, opt_level='O2'); opt.zero_grad(set_to_none=True)",
    "amp.initialize(model, opt); opt.zero_grad(set_to_none=True)",
    "amp.initialize(model, opt, opt_level='O2'); opt.step(lambda: 0)",
    "amp.initialize(model, opt); opt.step(lambda: 0)",
    "amp.disable_casts().__enter__()",
    "amp.initialize(model, opt, opt_level='O2'); amp.disable_casts().__enter__()",
    "amp.initialize(model, opt)\nwith amp.disable_casts(): out = amp._amp_state.handle.is_active()",
    "amp.initialize(model, opt)\nwith amp.disable_casts():\n    with amp.disable_casts(): pass\n"
    "    out = amp._amp_state.handle.is_active()",
    "amp.initialize(model, opt)\ntry:\n    with amp.disable_casts(): 1 / 0\n"
    "except ZeroDivisionError: out = amp._amp_state.handle.is_active()",
    "amp.initialize(model, opt); out = amp._amp_state.loss_scalers[0].loss_scale()",
    "from apex.amp._amp_state import _amp_state; out = _amp_state is amp._amp_state",
    "amp.register_float_function(torch, 'no_such_function')",
    "amp.register_half_function(torch, 'no_such_function')",
    "amp.register_promote_function(torch, 'no_such_function')",
    "amp.register_float_function(torch, 'sigmoid'); amp.initialize(model, opt); out = torch.sigmoid(torch.zeros(2))",
    "out = amp.float_function(lambda x: x + 1)(torch.ones(2))",
    "out = amp.half_function(lambda x: x + 1)(torch.ones(2))",
    "amp.initialize(model, opt); out = amp.float_function(lambda x: x + 1)(torch.ones(2))",
    "amp.initialize(model, opt); out = amp.promote_function(lambda x, y: x + y)(torch.ones(2), torch.ones(2))",
    "h = amp.init(); out = h.is_active()",
    "h = amp.init(enabled=False); out = h.is_active()",
    "h = amp.init()\nwith h.scale_loss(torch.ones(()), opt): pass",
    "h = amp.init(enabled=False)\nwith h.scale_loss(torch.ones(()), opt) as out: pass",
    "h = amp.init(enabled=False); o = h.wrap_optimizer(opt)\nwith o.scale_loss(torch.ones(())) as out: pass",
    "h = amp.init(); o = h.wrap_optimizer(opt); o.step(lambda: 0)",
    "out = amp.init().wrap_optimizer(opt).param_groups[0]['lr']",
    "p = torch.nn.Parameter(torch.ones(2).double()); o = torch.optim.SGD([p], lr=1)\n"
    "amp.initialize(model, o)\n"
    "with amp.scale_loss(p.sum(), o) as s: s.backward()",
    "model.linear.weight.grad = torch.ones(2, 3); amp.initialize(model, opt, opt_level='O2');"
    " opt.zero_grad(); out = model.linear.weight.grad is None",
    "model.bn.weight.grad = torch.ones(2); amp.initialize(model, opt, opt_level='O2'); opt.zero_grad();"
    " out = model.bn.weight.grad is None",
    "amp.initialize(model, opt, opt_level='O2'); opt.add_param_group({'params': {torch.nn.Parameter(torch.ones(1))}})",
    "amp.initialize(model, opt); opt.add_param_group([torch.nn.Parameter(torch.ones(1))])",
    "s = torch.optim.lr_scheduler.StepLR(opt, 1); amp.initialize(model, opt); opt.step(); s.step();"
    " out = opt.param_groups[0]['lr']",
    "amp.initialize(model, opt); s = torch.optim.lr_scheduler.StepLR(opt, 1, 0.5); opt.step(); s.step();"
    " out = opt.param_groups[0]['lr']",
    "l = apex.parallel.LARC.LARC(opt); amp.initialize(model, l)\n"
    "with amp.scale_loss((model.bn.weight * 0.5).sum(), l) as s: s.backward()\n"
    "l.step(); out = model.bn.weight.detach()",
)


def test_calls(tmp_path: Path) -> None:
    jobs: list[Job] = [{"code": code} for code in SNIPPETS]
    real, double = play("kernels", jobs, tmp_path), play("double", jobs, tmp_path)
    found = [
        f"{code}\n    Apex: {one}\n    double: {other}"
        for code, one, other in zip(SNIPPETS, real, double, strict=True)
        if one != other
    ]
    assert not found, "\n".join(found)


# ---------------------------------------------------------------- casts

CASTS = """
import functools, itertools, warnings
import torch, torch.nn.functional as F
from apex import amp
warnings.simplefilter("ignore")
model = torch.nn.Linear(2, 2)
amp.initialize(model, torch.optim.SGD(model.parameters(), lr=1.0))

def shown(value):
    if isinstance(value, (tuple, list)):
        return [shown(one) for one in value]
    return str(value.dtype) if isinstance(value, torch.Tensor) else type(value).__name__

def tried(function, *args):
    try:
        return shown(function(*args))
    except NotImplementedError:
        return "refused"
    except Exception:
        return "no such call"

def half(*shape):
    return torch.full(shape, 0.5, dtype=torch.float16)

def full(*shape):
    return torch.full(shape, 0.5)

for owner, name in itertools.product((torch, F, torch.Tensor), NAMES):
    function = getattr(owner, name, None)
    if function is None:
        continue
    for first, second in itertools.product((half, full, torch.Tensor.double), repeat=2):
        make = [one if one is not torch.Tensor.double else lambda *s: full(*s).double() for one in (first, second)]
        x, y, z = make[0](2, 2), make[1](2, 2), make[1](2)
        args = [(x,), (x, y), (x, 1), (x, y, y), (x, z), (x, z, z), ([x, y],), (z, z), (z, make[0](2)), (x, 2, 0, 1)]
        print(owner.__name__, name, [tried(function, *one) for one in args])
with amp.disable_casts():
    print(torch.mm(full(2, 2), full(2, 2)).dtype, torch.exp(half(2)).dtype, tried(torch.exp_, half(2)))
print(amp.half_function(lambda x: x)(full(2)).dtype, amp.float_function(lambda x: x)(half(2)).dtype)
print(tried(amp.promote_function(lambda x, y: (x, y)), half(2), full(2)))
"""


def test_casts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The double's O1 casts as Apex does: every function of the lists, with every mixture of types."""
    lists = runpy.run_path(str(DOUBLE / "apex" / "amp" / "_casts.py"))
    groups = [value for name, value in lists.items() if name.isupper() and isinstance(value, list)]
    names = sorted({name for group in groups for name in group} | {"binary_cross_entropy", "mean", "sigmoid"})
    names += [name + "_" for name in names if not name.startswith("__")]
    seen = {}
    for side, source in (("Apex", SOURCE), ("double", "")):
        monkeypatch.setenv("APEX_SRC", source)
        server = ForkServer()
        trace = server.run_text("legacy", f"NAMES = {names!r}\n{CASTS}", casts=True)
        server.close()
        assert trace.error is None, trace.error
        seen[side] = trace.stdout
    differences = [f"{one} | {other}" for one, other in zip(seen["Apex"], seen["double"], strict=True) if one != other]
    assert not differences, "\n".join(differences[:10])
