"""A program with classes that are written out for it computes what it did with the whole classes."""

from __future__ import annotations

import ast
from importlib import resources
from typing import Any

import pytest
import torch
from torch import nn

from migrate import components
from migrate.engine import migrate_module
from migrate.model import Outside, Settings
from migrate.parts import replace as room
from migrate.parts.narrowed import _OPTIMIZERS, _TUNED

from .support import executed

OLDER = """
import torch
from apex.optimizers import FP16_Optimizer, FusedAdam
groups = [{"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.1},
          {"params": [p for p in model.parameters() if p.dim() == 1]}]
optimizer = FusedAdam(groups, lr=0.01, bias_correction=False, max_grad_norm=1.0)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9 ** epoch)
if dynamic:
    optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
else:
    optimizer = FP16_Optimizer(optimizer, static_loss_scale=64.0)
for batch in batches:
    loss = model(batch.half()).float().pow(2).mean() * (1e8 if batch[0, 0] > 1.5 else 1.0)
    optimizer.backward(loss)
    optimizer.step()
    schedule.step()
    optimizer.zero_grad()
LATE
"""
NEWER = """
import torch
from apex.fp16_utils import FP16_Optimizer
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
optimizer = FP16_Optimizer(optimizer, OPTIONS)
for batch in batches:
    optimizer.zero_grad()
    loss = model(batch.half()).float().pow(2).mean() * (1e8 if batch[0, 0] > 1.5 else 1.0)
    optimizer.backward(loss, update_master_grads=False)
    optimizer.update_master_grads()
    optimizer.clip_master_grads(0.5)
    optimizer.step()
    if not optimizer.overflow:
        optimizer.param_groups[0]["lr"] *= 0.9
LATE
"""
ADAM = """
import torch
from apex.optimizers import FusedAdam
optimizer = FusedAdam(GROUPS, 0.01, False, OPTIONS)
for batch in batches:
    optimizer.zero_grad()
    loss = model(batch.half()).float().pow(2).mean()
    loss.backward()
    optimizer.step(LATE)
"""


def run(text: str, monkeypatch: pytest.MonkeyPatch, *, whole: bool, **names: Any) -> tuple[str, list[torch.Tensor]]:
    with monkeypatch.context() as patched:
        if whole:
            patched.setattr(room, "narrowed", lambda ctx, work, decided: {})
        new = migrate_module(text, Settings()).new_text
    assert new is not None and "from apex" not in new
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)).half()
    batches = [torch.randn(5, 4) for _ in range(12)]
    batches[5][0, 0] = 2.0
    space = executed(new, {"model": model, "batches": batches, "math": None, **names})
    inner = getattr(space["optimizer"], "optimizer", space["optimizer"])
    states = [one for s in inner.state.values() for one in s.values() if torch.is_tensor(one)]
    return new, [*model.parameters(), *states]


def equal(text: str, monkeypatch: pytest.MonkeyPatch, **names: Any) -> str:
    """The text with narrowed classes, which computed what it did with whole ones."""
    new, found = run(text, monkeypatch, whole=False, **names)
    full, wanted = run(text, monkeypatch, whole=True, **names)
    assert len(found) == len(wanted) and all(map(torch.equal, found, wanted))
    assert len(new.splitlines()) < len(full.splitlines())
    return new


def methods(text: str) -> set[str]:
    return {line.split("(")[0].split()[-1] for line in text.splitlines() if line.startswith("    def ")}


@pytest.mark.parametrize("dynamic", [True, False])
@pytest.mark.parametrize("late", ["", "saved = optimizer.state_dict()\noptimizer.load_state_dict(saved)"])
def test_the_older_wrapper_around_its_adam(dynamic: bool, late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    new = equal(OLDER.replace("LATE", late), monkeypatch, dynamic=dynamic)
    kept = {"state_dict", "load_state_dict"} if late else set()
    assert methods(new) == {"__init__", "step", "backward", "zero_grad", "param_groups", *kept}
    assert "bias_correction" not in new.replace("with bias_correction=False.", "")


@pytest.mark.parametrize(
    "options",
    [
        "dynamic_loss_scale=True",
        "static_loss_scale=64.0, verbose=False",
        "dynamic_loss_scale=True, dynamic_loss_args={'init_scale': 2 ** 10}",
        "dynamic_loss_scale=dynamic, dynamic_loss_args=dict(scale_window=2)",
        "dynamic_loss_scale=dynamic, dynamic_loss_args={'scale_window': 2, 'min_loss_scale': 2.0 ** 15}, verbose=0",
    ],
)
def test_the_newer_wrapper(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = NEWER.replace("OPTIONS", options).replace("LATE", "")
    new = equal(text.replace("1e8", "1e8" if "dynamic" in options else "1.0"), monkeypatch, dynamic=True)
    assert {"update_master_grads", "clip_master_grads"} < methods(new)
    assert "retain_graph" not in new and "state_dict" not in new.split("optimizer = ")[0].replace("load_", "")


@pytest.mark.parametrize("late", ["", "lambda: loss"])
@pytest.mark.parametrize(
    ("groups", "branch"),
    [
        ("model.parameters()", False),
        ('[{"params": model[0].parameters(), "bias_correction": True}, {"params": model[2].parameters()}]', True),
        ("[dict(params=model.parameters(), bias_correction=True)]", True),
        ('[{"params": model.parameters(), "weight_decay": 0.1, "betas": (0.5, 0.9)}]', False),
    ],
)
def test_what_groups_say_counts(groups: str, branch: bool, late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ADAM.replace("GROUPS", groups).replace("OPTIONS", "adam_w_mode=False").replace("LATE", late)
    new = equal(text, monkeypatch)
    assert ('if group["bias_correction"]:' in new) is branch
    assert ("closure" in new) is bool(late)
    assert "adam_w_mode" not in new.replace("adam_w_mode=False.", "")


def narrowed(text: str, outside: Outside | None = None) -> str:
    new = migrate_module(text, Settings(), outside or Outside()).new_text
    assert new is not None
    return new


STEPS = "optimizer.backward(loss)\noptimizer.step()\n"
WRAPPED = """import torch
from apex.fp16_utils import FP16_Optimizer
optimizer = FP16_Optimizer(inner, dynamic_loss_scale=True)
"""


@pytest.mark.parametrize(
    "use",
    [
        "import library\nlibrary.watch(optimizer)\n",
        "library.watch(x=[optimizer])\n",
        "getattr(optimizer, name)()\n",
        "keep.append(vars(optimizer))\n",
        "optimizer.__dict__.update(more)\n",
        "trainer.hooks[0] = optimizer\n",
        "trainer.optimizer = optimizer\n",
        "pairs = [(model, optimizer)]\nlibrary.run(pairs)\n",
    ],
)
def test_who_may_ask_for_anything_gets_all(use: str) -> None:
    new = narrowed(WRAPPED + use + STEPS)
    assert {"state", "param_groups", "zero_grad", "load_state_dict", "clip_master_grads"} < methods(new)
    assert "retain_graph" in new


@pytest.mark.parametrize(
    ("use", "kept"),
    [
        ("if not optimizer.overflow: schedule.step()\n", {"step"}),
        ("optimizer.clip_master_grads(1.0, 3)\n", {"clip_master_grads"}),
        ("hasattr(optimizer, 'clip_master_grads')\n", {"clip_master_grads"}),
        ("save(optimizer.state_dict)\n", {"state_dict"}),
        ("optimizer.param_groups = []\n", {"param_groups"}),
        ("schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)\n", {"param_groups"}),
        ("model.zero_grad()\ntorch.save(model.state_dict(), path)\n", set()),
    ],
)
def test_what_is_asked_for_stays(use: str, kept: set[str]) -> None:
    every = {"__init__", "backward", "update_master_grads", "step"}
    kept = {*kept, "param_groups"} if "clip_master_grads" in kept else kept
    assert methods(narrowed(WRAPPED + use + STEPS)) == every | kept


@pytest.mark.parametrize(
    ("base", "use", "kept"),
    [
        ("", "", False),
        ("(torch.nn.Module)", "super(Engine, self).__init__()", False),
        ("(library.Trainer)", "", True),
        ("", "library.report(self)", True),
    ],
)
def test_a_class_that_a_library_runs_may_be_asked_for_all(base: str, use: str, kept: bool) -> None:
    text = f"""
import torch
from apex.fp16_utils import FP16_Optimizer
import library
class Engine{base}:
    def prepare(self):
        self.optimizer = FP16_Optimizer(self.inner, dynamic_loss_scale=True)
        return self.optimizer
    def train(self):
        self.optimizer.backward(self.loss())
        self.optimizer.step()
        {use}
"""
    assert ("clip_master_grads" in methods(narrowed(text))) is kept


def test_other_files_ask_too() -> None:
    use = WRAPPED + "from engine import train\ntrain(optimizer)\n" + STEPS
    near = Outside(own=frozenset({"engine", "engine.train"}), spoken=frozenset({"clip_master_grads"}))
    assert "clip_master_grads" in methods(narrowed(use, near)) and "state" not in methods(narrowed(use, near))
    on = Outside(own=near.own, spoken=frozenset({"*"}))
    assert {"state", "param_groups", "load_state_dict"} < methods(narrowed(use, on))
    assert "clip_master_grads" in methods(narrowed(use))  # a library's


@pytest.mark.parametrize(
    ("call", "header"),
    [
        ("FusedLAMB(groups, lr=1e-3)", "(self, params, lr=1e-3):"),
        ("FusedLAMB(groups, 1e-3, weight_decay=0.1)", "(self, params, lr=1e-3, weight_decay=0.01):"),
        ("FusedLAMB(groups, lr=1e-3, max_grad_norm=norm)", "(self, params, lr=1e-3, max_grad_norm=1.0):"),
        ("FusedLAMB(groups, lr=1e-3, use_nvlamb=fast)", "(self, params, lr=1e-3, use_nvlamb=False):"),
        ("library.keep(FusedLAMB(groups))", "super().__init__(params, defaults)\n\n    @torch.no_grad()"),
        ("FusedLAMB(groups, **options)", "        bias_correction=True,"),
        ("FusedLAMB(groups, *options)", "        bias_correction=True,"),
        ("partial(FusedLAMB, lr=1e-3)(groups)", "        bias_correction=True,"),
    ],
)
def test_parameters_that_calls_give(call: str, header: str) -> None:
    new = narrowed(f"from functools import partial\nfrom apex.optimizers import FusedLAMB\noptimizer = {call}\n")
    assert header in new
    assert call.replace("FusedLAMB", "LAMB") in new


def test_keys_that_other_files_speak_of_stay() -> None:
    text = "from apex.optimizers import FusedLAMB\noptimizer = FusedLAMB(groups, lr=1e-3)\noptimizer.step()\n"
    assert "bias_correction" not in narrowed(text)
    assert 'if group["bias_correction"]:' in narrowed(text, Outside(spoken=frozenset({'"bias_correction"'})))


@pytest.mark.parametrize("module", sorted(_OPTIMIZERS))
def test_other_files_are_asked_for_all_that_a_class_has(module: str) -> None:
    """What they spell is looked for by its name (`components._spoken`): each name of a class is among those."""
    tree = ast.parse((resources.files("migrate.parts.written") / f"{module}.py").read_text())
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    methods = {one.name for cls in classes for one in cls.body if isinstance(one, ast.FunctionDef)}
    own = {node.attr for cls in classes for node in ast.walk(cls) if isinstance(node, ast.Attribute) and _is_own(node)}
    for name in {*methods, *own} - {"__init__", "defaults"}:  # of torch's Optimizer, and kept with it
        assert components._ASKED.search(f"made.{name}".encode()) is not None, name
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "dict"]
    for key in {str(keyword.arg) for call in calls for keyword in call.keywords} - _TUNED:
        assert components._KEYS.search(f'group["{key}"]'.encode()) is not None, key


def _is_own(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"
