"""Apex's arm of a file with two backends computes what the file's native arm does."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
from tests.rules.cases import HERE

torch = pytest.importorskip("torch", reason="the file is run")


class NativeScaler:
    """As timm has it, on a CPU."""

    def __init__(self) -> None:
        self.scaler = torch.amp.GradScaler("cpu")

    def __call__(self, loss: Any, optimizer: Any, parameters: Any = None) -> None:
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(parameters, 0.1)
        self.scaler.step(optimizer)
        self.scaler.update()


def _trained(text: str, use: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    timm = types.ModuleType("timm.utils")
    timm.NativeScaler = timm.ApexScaler = NativeScaler  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "timm", types.ModuleType("timm"))
    monkeypatch.setitem(sys.modules, "timm.utils", timm)
    names: dict[str, Any] = {}
    exec(compile(text, "x.py", "exec"), names)
    torch.manual_seed(0)
    model = torch.nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = [(torch.randn(4, 5), torch.randint(0, 3, (4,))) for _ in range(4)]
    args = types.SimpleNamespace(apex_amp=use == "apex", native_amp=use == "native", local_rank=0)
    monkeypatch.setattr(torch.cuda.amp, "autocast", lambda: torch.autocast("cpu", torch.bfloat16))
    names["main"](args, model, optimizer, data)
    return [p.tolist() for p in model.parameters()]


def test_the_native_arm_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    old = Path(HERE, "apx043", "training.in.py").read_text(encoding="utf-8")
    new = migrate_module(old, Settings()).new_text
    assert new is not None
    native = _trained(old, "native", monkeypatch)
    assert _trained(new, "native", monkeypatch) == native
    assert _trained(new, "apex", monkeypatch) == native
    assert _trained(new, "none", monkeypatch) != native


def test_what_only_an_older_torch_runs() -> None:
    """The arms that go never ran: what is left trains as all did."""
    trained = []
    for name in ("torch_decides.in.py", "torch_decides.out.py"):
        names: dict[str, Any] = {}
        exec(compile(Path(HERE, "apx046", name).read_text(encoding="utf-8"), name, "exec"), names)
        torch.manual_seed(0)
        model = torch.nn.Linear(5, 3)
        model.train_step = lambda x, net=model: net(x).square().mean()
        names["Trainer"](types.SimpleNamespace(fp16=False), model).train([torch.randn(4, 5) for _ in range(4)])
        trained.append([p.tolist() for p in model.parameters()])
    assert trained[0] == trained[1]


@pytest.mark.parametrize(
    "lacking",
    [
        '    state_dict_key = "amp_scaler"\n',
        "    def state_dict(self):\n        return self._scaler.state_dict()\n",
    ],
)
def test_a_native_class_that_lacks_what_the_other_gives_does_not_serve(lacking: str) -> None:
    """Whoever saves a checkpoint asks the object for it."""
    old = Path(HERE, "apx043", "class_with_a_state.in.py").read_text(encoding="utf-8")
    assert "APX043" in {one.rule for one in migrate_module(old, Settings()).findings} and old.count(lacking) == 1
    new = migrate_module(old.replace(lacking, ""), Settings())
    assert "APX043" not in {one.rule for one in new.findings} and "loss_scaler = ApexScaler()" in (new.new_text or "")
