"""A record that is handed back with the optimizer in it, or a class that keeps it itself, leads to the scaler."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate import cli
from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

HEAD = """\
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


@dataclass
class State:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    epoch: int = 0


class Pair(NamedTuple):
    model: nn.Module
    optimizer: torch.optim.Optimizer


def build(fp16=True):
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", enabled=fp16)
    return MADE


"""
TRAIN = """\
def train(state, loader):
    for x, y in loader:
        loss = F.cross_entropy(state.model(x), y)
        state.optimizer.zero_grad()
        with amp.scale_loss(loss, state.optimizer) as scaled_loss:
            scaled_loss.backward()
        state.optimizer.step()


def main(loader):
    state = build()
    train(state, loader)
    return {"model": state.model.state_dict()}
"""


def _safe(text: str) -> str:
    result = migrate_module(text, Settings())
    assert result.new_text is not None, result.findings
    assert [unit.applicability for unit in result.units] == [Applicability.SAFE]
    return result.new_text


@pytest.mark.parametrize(
    "made",
    [
        "State(model, optimizer)",
        "State(model=model, optimizer=optimizer)",
        "Pair(model, optimizer)",
        "SimpleNamespace(model=model, optimizer=optimizer)",
    ],
)
def test_the_scaler_goes_beside_the_record(made: str) -> None:
    text = _safe(HEAD.replace("MADE", made) + TRAIN)
    assert '    state = build()\n    scaler = torch.amp.GradScaler("cuda")\n    train(state, scaler, loader)\n' in text
    assert "def train(state, scaler, loader):" in text


def test_the_fields_of_a_named_tuple_are_its_items() -> None:
    unpacked = TRAIN.replace("state = build()", "model, optimizer = build()\n    state = Pair(model, optimizer)")
    text = _safe(HEAD.replace("MADE", "Pair(model, optimizer)") + unpacked)
    assert 'model, optimizer = build()\n    scaler = torch.amp.GradScaler("cuda")\n' in text


def test_a_list_of_records() -> None:
    several = TRAIN.replace("for x, y in loader:", "for state, (x, y) in zip(states, loader):")
    several = several.replace("def train(state,", "def train(states,").replace("state = build()", "states = [build()]")
    several = several.replace("train(state, loader)", "train(states, loader)").replace("return {", "return states, {")
    several = several.replace('"model": state.model.state_dict()', "")
    text = _safe(HEAD.replace("MADE", "State(model, optimizer)") + several)
    assert "train(states, scaler, loader)" in text


def test_a_record_that_an_object_keeps() -> None:
    kept = """\
class Trainer:
    def __init__(self, state):
        self.state = state

    def fit(self, loader):
        state = self.state
        for x, y in loader:
            loss = F.cross_entropy(state.model(x), y)
            state.optimizer.zero_grad()
            with amp.scale_loss(loss, state.optimizer) as scaled_loss:
                scaled_loss.backward()
            state.optimizer.step()


def main(loader):
    Trainer(build()).fit(loader)
"""
    text = _safe(HEAD.replace("MADE", "State(model, optimizer)") + kept)
    assert '        self.state = state\n        self.scaler = torch.amp.GradScaler("cuda")\n' in text
    assert "self.scaler.step(state.optimizer)" in text


def test_what_calls_hand_over_decides() -> None:
    """Where each call says whether it is on, that is said beside the record; where they differ, it is not known."""
    text = HEAD.replace("MADE", "State(model, optimizer)") + TRAIN
    assert 'scaler = torch.amp.GradScaler("cuda")\n' in _safe(text.replace("= build()", "= build(fp16=True)"))
    off = migrate_module(text.replace("= build()", "= build(False)"), Settings()).new_text or ""
    assert 'scaler = torch.amp.GradScaler("cuda", enabled=False)' in off
    differ = text.replace("state = build()", "state = build(True) if loader else build(False)")
    assert migrate_module(differ, Settings()).new_text is None


ENGINE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Engine:
    model = None
    optimizer = None

    @classmethod
    def setup(cls, fp16):
        cls.model = nn.Linear(4, 2)
        cls.optimizer = torch.optim.SGD(cls.model.parameters(), lr=0.1)
        cls.model, cls.optimizer = amp.initialize(cls.model, cls.optimizer, opt_level="O1", enabled=fp16)

    @classmethod
    def step(cls, x, y):
        loss = F.cross_entropy(cls.model(x), y)
        cls.optimizer.zero_grad()
        with amp.scale_loss(loss, cls.optimizer) as scaled_loss:
            scaled_loss.backward()
        cls.optimizer.step()


def main(loader, fp16):
    Engine.setup(fp16)
    for x, y in loader:
        Engine.step(x, y)
"""


def test_a_class_that_keeps_the_optimizer_itself() -> None:
    text = _safe(ENGINE)
    assert 'cls.scaler = torch.amp.GradScaler("cuda", enabled=' in text
    assert "cls.scaler.step(cls.optimizer)\n        cls.scaler.update()" in text


def test_a_class_that_another_file_fills(tmp_path: Path) -> None:
    """The state of a program as attributes of a class, which a third file defines, without amp."""
    train = ENGINE[: ENGINE.index("class Engine")].replace("import amp\n", "import amp\nfrom state import Run\n")
    train += """\
def init(lr):
    Run.model = nn.Linear(4, 2)
    Run.optimizer = torch.optim.SGD(Run.model.parameters(), lr=lr)
    Run.model, Run.optimizer = amp.initialize(Run.model, Run.optimizer, opt_level="O1")


def train(loader):
    for x, y in loader:
        loss = F.cross_entropy(Run.model(x), y)
        Run.optimizer.zero_grad()
        with amp.scale_loss(loss, Run.optimizer) as scaled_loss:
            scaled_loss.backward()
        Run.optimizer.step()


def checkpoint():
    return {"model": Run.model.state_dict(), "amp": amp.state_dict()}
"""
    (tmp_path / "state.py").write_text("class Run:\n    model = None\n    optimizer = None\n")
    (tmp_path / "engine.py").write_text(train)
    main = "import engine\n\n\ndef main(loader):\n    engine.init(0.1)\n    engine.train(loader)\n"
    (tmp_path / "main.py").write_text(main + "    engine.checkpoint()\n")
    assert cli.main([str(tmp_path), "--write", "-j", "1"]) == 0
    text = (tmp_path / "engine.py").read_text()
    assert 'Run.scaler = torch.amp.GradScaler("cuda")' in text
    assert '"amp": Run.scaler.state_dict()' in text


STATE_FILE = "model = None\noptimizer = None\nfp16 = False\n"
BY_MODULE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
import state
from apex import amp


def init(fp16):
    state.fp16 = fp16
    state.model = nn.Linear(4, 2)
    state.optimizer = torch.optim.SGD(state.model.parameters(), lr=0.1)
    if fp16:
        state.model, state.optimizer = amp.initialize(state.model, state.optimizer, opt_level="O1")


def train(loader):
    for x, y in loader:
        loss = F.cross_entropy(state.model(x), y)
        state.optimizer.zero_grad()
        if state.fp16:
            with amp.scale_loss(loss, state.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        state.optimizer.step()


def evaluate(loader):
    return [state.model(x).float().sum().item() for x, _ in loader]
"""


@pytest.mark.parametrize(
    ("evaluates_alone", "declared"),
    [(False, "optimizer = None\nscaler = None\n"), (True, 'scaler = torch.amp.GradScaler("cuda", enabled=False)\n')],
)
def test_a_module_that_others_fill(tmp_path: Path, evaluates_alone: bool, declared: str) -> None:
    """The scaler is declared beside the optimizer; where it may be asked before Apex is on, as one that is off."""
    engine = BY_MODULE if evaluates_alone else BY_MODULE.replace("    if fp16:\n        state", "    state", 1)
    if evaluates_alone:
        main = "    if train:\n        engine.init(True)\n        engine.train(loader)\n"
        main += "    else:\n        state.model = torch.nn.Linear(4, 2)\n    return engine.evaluate(loader)\n"
    else:
        engine = engine[: engine.index("\n\ndef evaluate")].replace(
            "        if state.fp16:\n            with", "        with"
        )
        engine = engine.replace(
            "                scaled_loss.backward()\n        else:\n            loss.backward()\n", ""
        )
        engine = engine.replace("as scaled_loss:\n", "as scaled_loss:\n            scaled_loss.backward()\n")
        main = "    engine.init(True)\n    engine.train(loader)\n"
    (tmp_path / "state.py").write_text(STATE_FILE)
    (tmp_path / "engine.py").write_text(engine)
    head = "import torch\nimport engine\nimport state\n\n\ndef main(loader, train=True):\n"
    (tmp_path / "main.py").write_text(head + main)
    assert cli.main([str(tmp_path), "--write", "-j", "1"]) == 0
    assert declared in (tmp_path / "state.py").read_text()
    text = (tmp_path / "engine.py").read_text()
    assert "        state.scaler.step(state.optimizer)\n        state.scaler.update()\n" in text
    assert ("enabled=state.scaler.is_enabled()" in text) == evaluates_alone


RUN = ENGINE[: ENGINE.index("class Engine")] + """\
class Run:
    model = None
    optimizer = None


def init(lr):
    Run.model = nn.Linear(4, 2)
    Run.optimizer = torch.optim.SGD(Run.model.parameters(), lr=lr)
    Run.model, Run.optimizer = amp.initialize(Run.model, Run.optimizer, opt_level="O1")


def state():
    return amp.state_dict()


def train(loader):
    for x, y in loader:
        loss = F.cross_entropy(Run.model(x), y)
        Run.optimizer.zero_grad()
        with amp.scale_loss(loss, Run.optimizer) as scaled_loss:
            scaled_loss.backward()
        Run.optimizer.step()


def main(loader):
    init(0.1)
    train(loader)
    print(state())
"""


def test_a_function_that_names_no_part_of_what_a_class_keeps() -> None:
    assert "def state():\n    return Run.scaler.state_dict()\n" in _safe(RUN)
