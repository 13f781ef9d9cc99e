"""The harness sees what it has to see: a right twin passes, and every way to get one wrong is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from migrate.model import Applicability, Change, ModuleResult, Settings

from .checks import apex_imports, lost_comments, lost_lines, own_line_comments
from .harness import SCRIPTS, TOLERANCE, Trace, categories, compare, legacy_run, read_header, read_script, server

LEGACY = """
import torch
import torch.nn.functional as F
from apex import amp

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
model, optimizer = amp.initialize(model, optimizer)
for step in range(6):
    x, y = torch.randn(3, 4, device="cuda"), torch.tensor([0, 1, 0]).cuda(non_blocking=True)
    loss = F.cross_entropy(model(x), y) * (float("nan") if step == 2 else 3.0)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 0.25)
    optimizer.step()
    print(step, loss.item())
with torch.no_grad():
    print(model(torch.ones(1, 4).to("cuda:0")).sum().item())
"""

NATIVE = """
import torch
import torch.nn.functional as F

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
scaler = torch.amp.GradScaler("cuda")
for step in range(6):
    x, y = torch.randn(3, 4, device="cuda"), torch.tensor([0, 1, 0]).cuda(non_blocking=True)
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(model(x), y) * (float("nan") if step == 2 else 3.0)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    scaler.step(optimizer)
    scaler.update()
    print(step, loss.item())
with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
    print(model(torch.ones(1, 4).to("cuda:0")).sum().item())
"""


@pytest.fixture(scope="module")
def legacy() -> Trace:
    return server().run_text("legacy", LEGACY)


def test_the_right_twin(legacy: Trace) -> None:
    native = server().run_text("native", NATIVE)
    assert compare(legacy, native) == []
    assert [step.what for step in native.steps] == ["step", "step", "skip", "step", "step", "step"]
    assert [one.scale for one in native.backwards] == [2.0**16] * 3 + [2.0**15] * 3
    assert native.regions == {"enabled": 7, "disabled": 0}
    assert len(native.stdout) == 7
    assert legacy.messages[-1].startswith("Gradient overflow.")


WRONG = {
    "no unscale before the clip": ("    scaler.unscale_(optimizer)\n", "", {"weights", "stdout"}),
    "the scaler is off": ('GradScaler("cuda")', 'GradScaler("cuda", enabled=False)', {"scaling"}),
    "the loss is not scaled": (
        "scaler.scale(loss).backward()\n    scaler.unscale_(optimizer)",
        "loss.backward()",
        {"error"},
    ),
    "nothing is scaled": (
        "scaler.scale(loss).backward()\n    scaler.unscale_(optimizer)",
        "loss.backward(); scaler.step = lambda o: o.step(); scaler.update = lambda: None",
        {"scaling", "weights", "steps"},
    ),
    "no step is skipped": ("scaler.step(optimizer)", "optimizer.step()", {"weights", "stdout", "steps"}),
    "another scale": ('GradScaler("cuda")', 'GradScaler("cuda", init_scale=8.0)', {"scaling"}),
    "backward under autocast": (
        "    scaler.scale(loss).backward()",
        '    with torch.autocast("cuda"): scaler.scale(loss).backward()',
        {"backward"},
    ),
    "a forward outside": ("with torch.no_grad(), torch.autocast(", "with torch.no_grad() or (", {"error"}),
    "no autocast in the evaluation": (
        'with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):',
        "with torch.no_grad():",
        {"forwards"},
    ),
    "autocast is switched off": (
        "dtype=torch.float16):\n        loss",
        "enabled=False):\n        loss",
        {"forwards"},
    ),
    "the loss outside": (
        "        loss = F.cross_entropy(model(x), y)",
        "        out = model(x)\n    loss = F.cross_entropy(out, y)",
        {"losses"},
    ),
    "another number of batches": (
        "range(6)",
        "range(5)",
        {"weights", "stdout", "steps", "forwards", "backward"},
    ),
    "another printed number": ("print(step, loss.item())", "print(step, loss.item() * 2)", {"stdout"}),
    "another weight": ("lr=0.5", "lr=0.25", {"weights", "stdout"}),
    "apex is still there": ("import torch\n", "import torch\nimport apex\n", {"error"}),
    "another exit status": ("print(model(", "raise SystemExit(2)\n    print(model(", {"error", "stdout"}),
    "an exception": ("scaler.update()", "scaler.updated()", {"error"}),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_twin(what: str, legacy: Trace) -> None:
    old, new, expected = WRONG[what]
    assert old in NATIVE
    found = compare(legacy, server().run_text("native", NATIVE.replace(old, new, 1)))
    assert expected <= categories(found), found


def test_bce_raises_under_autocast_only() -> None:
    text = """
import torch
p = torch.full((3,), 0.5)
outside = torch.nn.BCELoss()(p, p)
with torch.autocast("cuda"):
    with torch.autocast("cuda", enabled=False):
        inside = torch.nn.functional.binary_cross_entropy(p, p)
    assert torch.is_autocast_enabled()
    torch.nn.BCELoss()(p, p)
"""
    trace = server().run_text("native", text)
    assert trace.error is not None and "unsafe to autocast" in trace.error
    assert [one.autocast for one in trace.losses] == [False, False]


def test_cuda_is_the_cpu() -> None:
    text = """
import torch
from torch.cuda.amp import GradScaler, autocast
assert torch.cuda.is_available() and torch.cuda.device_count() == 1
torch.cuda.set_device(0); torch.cuda.synchronize(); torch.cuda.manual_seed_all(1); torch.cuda.empty_cache()
device = torch.device("cuda", torch.cuda.current_device())
model = torch.nn.DataParallel(torch.nn.Linear(2, 2).to(device)).cuda()
other = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2, device="cuda"), device_ids=[0])
loader = torch.utils.data.DataLoader(list(range(4)), batch_size=2, pin_memory=True, num_workers=2)
for batch in loader:
    x = torch.stack([batch.cuda(0, non_blocking=True), batch.to(0)]).float()
    (model(x.to(device=device)) + other(x.pin_memory().to("cuda", non_blocking=True))).sum().backward()
torch.save(model.state_dict(), "model.pt")
model.load_state_dict(torch.load("model.pt", map_location="cuda:0"))
weight = torch.cuda.FloatTensor(2).zero_().type("torch.cuda.FloatTensor") + torch.zeros(2, device=0)
scaler = GradScaler(init_scale=4.0)
assert scaler.get_scale() == 4.0
@autocast(enabled=True)
def inside():
    assert torch.is_autocast_enabled()
inside()
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record(); print(torch.cuda.max_memory_allocated(), torch.cuda.get_device_name(0))
print(start.elapsed_time(end))
"""
    trace = server().run_text("native", text)
    assert trace.error is None, trace.error
    assert [one.module for one in trace.forwards] == ["DataParallel", "DistributedDataParallel"] * 2
    assert trace.regions["enabled"] == 1


def test_legacy_at_other_levels() -> None:
    """O2 casts the models it was given, not losses; O0 and ``enabled=False`` cast nothing."""
    for options, casts, loss in (("opt_level='O2'", True, None), ("opt_level='O0'", False, False),
                                 ("enabled=False", False, False)):  # fmt: skip
        text = LEGACY.replace("initialize(model, optimizer)", f"initialize(model, optimizer, {options})")
        trace = server().run_text("legacy", text)
        assert trace.error is None, trace.error
        assert {one.autocast for one in trace.forwards} == {casts}
        assert {one.autocast for one in trace.losses} == {loss}


def test_parts_that_stay() -> None:
    text = "import apex\nfrom apex.parallel import DistributedDataParallel\nprint('here')\n"
    assert server().run_text("native", text, leaves=("apex.parallel",)).stdout == ("here",)
    refused = server().run_text("native", text + "apex.amp\n", leaves=("apex.parallel",))
    assert refused.error is not None and "ModuleNotFoundError" in refused.error


def test_runs_are_apart_and_do_not_hang() -> None:
    assert server().run_text("native", "import torch; torch.leftover = 1; open('left', 'w')").error is None
    text = "import torch, os; print(hasattr(torch, 'leftover'), os.path.exists('left'))"
    assert server().run_text("native", text).stdout == ("False False",)
    stuck = server().run_text("native", "import time; time.sleep(60)", timeout=1)
    assert stuck.error is not None and "died" in stuck.error
    assert server().run_text("native", "print(1)").stdout == ("1",)


def test_bfloat16_needs_no_scaling(legacy: Trace) -> None:
    native = server().run_text("native", NATIVE.replace('GradScaler("cuda")', 'GradScaler("cuda", enabled=False)'))
    found = compare(legacy, native, Settings(dtype="bfloat16"))
    assert categories(found) == {"weights", "stdout", "steps"}  # The overflow is not skipped.


def test_evaluation_in_float32(legacy: Trace) -> None:
    old, new, _ = WRONG["no autocast in the evaluation"]
    native = server().run_text("native", NATIVE.replace(old, new))
    assert compare(legacy, native, Settings(eval="fp32")) == []
    assert categories(compare(legacy, native)) == {"forwards"}


TYPES = """
import torch
import torch.nn.functional as F
from apex import amp
torch.manual_seed(0)
model = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
model, optimizer = amp.initialize(model, optimizer)
out = model(torch.randn(5, 4).cuda())
print(out.dtype, F.softmax(out, dim=1).dtype, out.pow(2).dtype)
loss = F.cross_entropy(out, torch.tensor([0, 1, 2, 0, 1]).cuda())
with amp.scale_loss(loss, optimizer) as scaled_loss:
    scaled_loss.backward()
optimizer.step()
print("loss %.4f" % loss.item())
"""
TYPES_NATIVE = """
import torch
import torch.nn.functional as F
torch.manual_seed(0)
model = torch.nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
scaler = torch.amp.GradScaler("cuda")
with torch.autocast("cuda", dtype=torch.float16):
    out = model(torch.randn(5, 4).cuda())
    print(out.dtype, F.softmax(out, dim=1).dtype, out.pow(2).dtype)
    loss = F.cross_entropy(out, torch.tensor([0, 1, 2, 0, 1]).cuda())
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
print("loss %.4f" % loss.item())
"""


def test_real_casts() -> None:
    """Types show, and what is computed outside of the region has another one."""
    legacy = server().run_text("legacy", TYPES, casts=True)
    assert legacy.stdout[0] == "torch.float16 torch.float32 torch.float32", legacy.error
    assert compare(legacy, server().run_text("native", TYPES_NATIVE, casts=True), tolerance=TOLERANCE) == []
    outside = TYPES_NATIVE.replace("    print(out.dtype", "print(out.dtype").replace("    loss = F", "    loss = F")
    outside = outside.replace("\n    loss = F", '\nwith torch.autocast("cuda", dtype=torch.float16):\n    loss = F')
    found = compare(legacy, server().run_text("native", outside, casts=True), tolerance=TOLERANCE)
    assert categories(found) == {"stdout"}, found
    assert server().run_text("legacy", TYPES).stdout[0] == "torch.float32 torch.float32 torch.float32"


def test_numbers_with_a_tolerance() -> None:
    one = Trace(stdout=("loss 1.000 nan", "step 3"), values=(((1.0, float("inf")),),))
    near = replace(one, stdout=("loss 1.003 nan", "step 3"), values=(((1.003, float("inf")),),))
    assert compare(one, near, tolerance=TOLERANCE) == []
    for stdout in (("loss 1.1 nan", "step 3"), ("loss 1.0 nan", "step 4"), ("loss 1.0 inf", "step 3")):
        assert categories(compare(one, replace(one, stdout=stdout), tolerance=TOLERANCE)) == {"stdout"}
    assert categories(compare(one, replace(one, values=(((1.1, 0.0),),)), tolerance=TOLERANCE)) == {"weights"}


def test_an_overflow_that_is_asked_for() -> None:
    legacy = server().run_text("legacy", LEGACY, overflow=(1, 4))
    native = server().run_text("native", NATIVE, overflow=(1, 4))
    assert compare(legacy, native) == []
    assert [step.what for step in native.steps] == ["step", "skip", "skip", "step", "skip", "step"]


def test_a_migration_that_left_something_of_apex() -> None:
    """What is left finds the double, and both worlds are listened to."""
    trace = server().run_text("partly", NATIVE + LEGACY)
    assert trace.error is None, trace.error
    assert [step.what for step in trace.steps] == ["step", "step", "skip", "step", "step", "step"] * 2
    assert {one.autocast for one in trace.forwards} == {True}


def test_first_difference_is_named() -> None:
    one = Trace(stdout=("a", "b"))
    assert compare(one, replace(one, stdout=("a", "c"))) == ["stdout: #1 of 2 (now 2): b became c"]
    assert compare(one, replace(one, stdout=("a",))) == ["stdout: 2 became 1; only one run has #1: b"]


# ---------------------------------------------------------------- headers and texts


def test_header() -> None:
    header = read_header(
        "# expect: review: steps are skipped apart\n# argv: --fp16 --name 'a b'\n# argv: --x\n"
        "# casts: real\n# differs: weights|stdout\n# leaves: apex.parallel\n# settings: eval=fp32 target_torch=2.1\n"
        "import x\n# argv: no\n"
    )
    assert header.expect is Applicability.REVIEW and header.note == "steps are skipped apart"
    assert header.runs == ((), ("--fp16", "--name", "a b"), ("--x",))
    assert header.differs == {"weights", "stdout"} and header.leaves == ("apex.parallel",)
    assert header.settings == Settings(eval="fp32", target_torch=(2, 1)) and header.casts


def test_header_is_required() -> None:
    with pytest.raises(ValueError, match="expect"):
        read_header("import torch\n")


def test_comments() -> None:
    old = "# one\nx = '# no'  # tail\n  # two\n# import apex\n# one\n"
    assert own_line_comments(old) == {"# one": 2, "# two": 1, "# import apex": 1}
    assert lost_comments(old, ModuleResult("# one\n# two\n")) == ["comments: lost '# one'"]
    assert lost_comments(old, ModuleResult("# one\nx = 1\nif x:\n    # two\n    # one\n    pass\n")) == []


def test_lines_outside_of_changes() -> None:
    change = Change("APX001", 1, 2, 2, Applicability.SAFE, "")
    assert lost_lines("a\r\nb\nc\n", ModuleResult("a\r\nB\nc\n", (change,))) == []
    assert lost_lines("a\r\nb\nc\n", ModuleResult("a\nB\nc\n", (change,))) != []
    assert lost_lines("a\nb\nc\n", ModuleResult("a\nc\n", ())) != []


def test_imports_left() -> None:
    text = "from apex import amp, parallel\nimport apex.optimizers\nfrom apex.parallel import LARC\n"
    text += "import apexpy\n"
    assert len(apex_imports(text, ())) == 4
    assert len(apex_imports(text, ("apex.parallel",))) == 2


# ---------------------------------------------------------------- the legacy scripts themselves


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda script: script.stem)
def test_legacy_script_runs(script: Path) -> None:
    """Every script runs as it is, with every set of arguments of its header, and most compute something."""
    text = read_script(script)
    header = read_header(text)
    for argv in header.runs[1:] or header.runs:
        trace = legacy_run(text, argv)
        assert trace.error is None, f"{argv}: {trace.error}"
        assert trace.forwards or header.expect is Applicability.MANUAL, f"{argv}: nothing was computed"
