"""A program of few files is looked at whole: of none of them anything is guessed from outside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from migrate.components import components
from migrate.facts.module import Module
from migrate.flow import solver
from migrate.flow.values import Values
from migrate.imports.tree import Imports
from migrate.model import Applicability, Settings, Severity
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

MAIN = """\
import torch
from apex import amp
from config import cfg
from engine import Trainer
from hooks import Norms

model = torch.nn.Linear(2, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level=cfg["opt_level"])
trainer = Trainer(model, optimizer, [Norms()])
for x in loader:
    trainer.step(x)
"""
ENGINE = """\
from apex import amp
from telling import told


class Trainer:
    def __init__(self, model, optimizer, hooks):
        self.model, self.optimizer, self.hooks = model, optimizer, hooks

    def step(self, x):
        loss = self.model(x).sum()
        self.optimizer.zero_grad()
        self.backward(loss)
        self.optimizer.step()

    @told
    def backward(self, loss):
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
"""
TELLING = """\
def told(method):
    def run(self, *args):
        result = method(self, *args)
        for hook in self.hooks:
            hook.after(self)
        return result

    return run
"""
HOOKS = """\
from norms import total


class Norms:
    def after(self, trainer):
        print(total(trainer.model))
"""
NORMS = "def total(model):\n    return sum(p.grad.norm() for p in model.parameters())\n"
FILES = {
    "main.py": MAIN,
    "engine.py": ENGINE,
    "telling.py": TELLING,
    "hooks.py": HOOKS,
    "norms.py": NORMS,
    "config.py": 'cfg = {"opt_level": "O1"}\n',
}


def _programs(tmp_path: Path, files: Mapping[str, str]) -> list[set[str]]:
    selection = collect([str(tree(tmp_path, files))])
    imports = Imports(selection.python, selection.notebooks)
    return [{source.shown for source in one.sources} for one in components(selection, imports)]


def test_all_files_that_imports_lead_to_belong_to_it(tmp_path: Path) -> None:
    beside = {"tests.py": "import norms\n", "other.py": "import os\n"}
    assert _programs(tmp_path, FILES | beside) == [{*FILES, "tests.py"}]


def test_of_many_files_those_that_tell_something_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("migrate.components.MOST_WHOLE", len(FILES) - 1)
    (program,) = _programs(tmp_path, FILES)
    assert "config.py" not in program


def _units(tmp_path: Path, files: Mapping[str, str]) -> list[Applicability]:
    with Spool() as spool:
        outcome = analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=1)
    return [unit.applicability for file in outcome.results for unit in file.units]


def test_who_looks_at_gradients_any_number_of_files_away_is_found(tmp_path: Path) -> None:
    engine = ENGINE.replace("self.backward(loss)\n", "self.backward(loss)\n        step0(self.model)\n")
    engine = engine.replace("    @told\n", "")
    files = {"engine.py": engine.replace("from telling import told", "from away0 import step0")}
    for at in range(6):
        files[f"away{at}.py"] = (
            f"from away{at + 1} import step{at + 1}\n\n\ndef step{at}(model):\n    step{at + 1}(model)\n"
        )
    files["away6.py"] = "from norms import total\n\n\ndef step6(model):\n    print(total(model))\n"
    assert _units(tmp_path, FILES | files) == [Applicability.MANUAL]


def test_a_level_that_another_file_writes_out_is_known(tmp_path: Path) -> None:
    silent = {"norms.py": "def total(model):\n    return 0\n"}
    assert _units(tmp_path, FILES | silent) == [Applicability.SAFE]


def test_an_optimizer_of_the_registry_that_made_the_network_is_no_network(tmp_path: Path) -> None:
    files = {
        "registry.py": (
            "KINDS = {}\n\n\ndef register(cls):\n    KINDS[cls.__name__] = cls\n    return cls\n"
            "\n\ndef build(cfg, *args):\n    return KINDS[cfg.pop('type')](*args)\n"
        ),
        "lars.py": (
            "import torch\nfrom registry import register\n\n\n@register\nclass LARS(torch.optim.Optimizer):\n"
            "    def step(self):\n        for g in self.param_groups:\n            for p in g['params']:\n"
            "                dp = p.grad.add(p, alpha=0.1)\n"
            "                p.add_(dp.mul(p.norm() / dp.norm()), alpha=-g['lr'])\n"
        ),
        "net.py": (
            "import torch.nn as nn\nfrom registry import register\n\n\n@register\nclass Net(nn.Module):\n"
            "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(2, 2)\n\n"
            "    def forward(self, x):\n        return self.fc(x)\n"
        ),
        "main.py": (
            "import lars, net\nfrom apex import amp\nfrom registry import build\n\n"
            "model = build(cfg.model).cuda()\noptimizer = build(cfg.optimizer, model.parameters())\n"
            "model, optimizer = amp.initialize(model, optimizer, opt_level='O1')\n"
            "for x in loader:\n    model.train()\n    loss = model(x).sum()\n    optimizer.zero_grad()\n"
            "    with amp.scale_loss(loss, optimizer) as scaled:\n        scaled.backward()\n    optimizer.step()\n"
        ),
    }
    with Spool() as spool:
        outcome = analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=1)
        (new,) = [spool.get(one.texts.new).decode() for one in outcome.changed if one.texts]
    assert "    scaler.step(optimizer)\n" in new and new.count("torch.autocast") == 1


def test_what_is_migrated_by_itself_as_all_is_too_tangled_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the others do was not compared."""
    whole = MAIN.replace("from engine import Trainer\nfrom hooks import Norms\n", "").partition("trainer =")[0]
    whole = whole.replace('cfg["opt_level"]', '"O1"') + (
        "for x in loader:\n    loss = model(x).sum()\n    optimizer.zero_grad()\n"
        "    with amp.scale_loss(loss, optimizer) as scaled_loss:\n        scaled_loss.backward()\n"
        "    optimizer.step()\n"
    )
    files = {"main.py": whole, "config.py": FILES["config.py"]}
    assert _units(tmp_path, files) == [Applicability.SAFE]
    monkeypatch.setattr(solver, "MAX_FACTS", Values(Module(whole))._facts)
    with Spool() as spool:
        (found,) = analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=1).results
    (said,) = [one for one in found.findings if one.rule == "APX092"]
    assert found.status == "changed" and said.severity is Severity.REVIEW and said.unit == found.units[0].number
    assert "the 2 files of its program are too tangled to follow together" in said.message
    assert [unit.applicability for unit in found.units] == [Applicability.REVIEW]
