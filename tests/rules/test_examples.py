"""The example of each rule's page is executed: BEFORE, put into a script that trains, becomes AFTER."""

from __future__ import annotations

import textwrap
from types import ModuleType

import pytest

from migrate.engine import migrate_module
from migrate.model import Leads, ModuleResult, Settings, Standing
from migrate.rules.common import Stage
from migrate.rules.discovery import modules, rules

SCRIPT = """\
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
IMPORTS
ARGUMENTS

TOP

model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
INITIALIZE
LOOP
END
"""
LOOP = """\
for images, target in loader:
    FORWARD
    optimizer.zero_grad()
    BACKWARD
    STEP
"""
TRAIN = """\
FUNCTION
    for images, target in loader:
        loss = F.cross_entropy(model(images), target)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
HOOK = """\
class Hook:
    def after_train_iter(self, runner):
        with amp.scale_loss(runner.outputs["loss"], runner.optimizer) as scaled_loss:
            scaled_loss.backward()
        runner.optimizer.step()
        runner.optimizer.zero_grad()
"""
SIDES = """
class Trained(Task):
    def wrap(self, model, optimizer):
        if self.use_apex:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        return model, optimizer

    def step(self, model, optimizer, images):
        with torch.autocast("cuda", dtype=torch.float16, enabled=self.use_amp):
            loss = model(images).mean()
        optimizer.zero_grad()
        self.backward(loss, optimizer)
        if self.use_amp:
            self.scaler.step(optimizer)
            self.scaler.update()
        else:
            optimizer.step()
"""
PARTS = {
    "IMPORTS": "from apex import amp",
    "ARGUMENTS": 'parser = argparse.ArgumentParser()\nparser.add_argument("--fp16", action="store_true")\n'
    "args = parser.parse_args()",
    "TOP": "criterion = nn.CrossEntropyLoss()",
    "INITIALIZE": 'model, optimizer = amp.initialize(model, optimizer, opt_level="O1")',
    "LOOP": LOOP,
    "FORWARD": "output = model(images)\nloss = criterion(output, target)",
    "BACKWARD": "with amp.scale_loss(loss, optimizer) as scaled_loss:\n    scaled_loss.backward()",
    "STEP": "optimizer.step()",
    "END": "",
}
_GUARDED = {
    "INITIALIZE": 'if args.fp16:\n    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")',
    "BACKWARD": "if args.fp16:\n    with amp.scale_loss(loss, optimizer) as scaled_loss:\n"
    "        scaled_loss.backward()\nelse:\n    loss.backward()",
}
#: By rule: where its example stands, and what has to stand elsewhere so that it means what the page says.
PLACES: dict[str, tuple[str, dict[str, str]]] = {
    "APX010": ("IMPORTS", {**_GUARDED, "ARGUMENTS": "", "IMPORTS": "parser = argparse.ArgumentParser()\nEXAMPLE"}),
    "APX020": ("INITIALIZE", _GUARDED),
    "APX022": ("LOOP", {}),
    "APX030": ("FORWARD", _GUARDED),
    "APX032": ("END", {"END": "with torch.no_grad():\n    logits = model(images)\n    EXAMPLE"}),
    "APX033": ("FORWARD", _GUARDED),
    "APX040": ("BACKWARD", _GUARDED),
    "APX043": (
        "INITIALIZE",
        {
            "IMPORTS": "from apex import amp\nfrom timm.utils import ApexScaler, NativeScaler",
            "ARGUMENTS": "use_amp = 'apex'",
            "TOP": "amp_autocast, loss_scaler = suppress, None",
            "FORWARD": "with amp_autocast():\n    loss = F.cross_entropy(model(images), target)",
            "BACKWARD": "loss_scaler(loss, optimizer)",
            "STEP": "scheduler.step()",
        },
    ),
    "APX044": (
        "INITIALIZE",
        {"TOP": HOOK, "INITIALIZE": "cfg = Config()\ndef train(model, optimizer):\n    EXAMPLE", "LOOP": ""},
    ),
    "APX046": (
        "TOP",
        {"IMPORTS": "from packaging import version", "INITIALIZE": "", "BACKWARD": "backward(loss, optimizer, scaler)"},
    ),
    "APX047": (
        "TOP",
        {"IMPORTS": "from apex import amp\nfrom transformers import Trainer", "INITIALIZE": "", "BACKWARD": ""},
    ),
    "APX048": (
        "TOP",
        {"TOP": f"EXAMPLE\n{SIDES}", "INITIALIZE": "", "LOOP": ""},
    ),
    "APX049": (
        "TOP",
        {"IMPORTS": "from apex import amp\nfrom transformers import Trainer", "INITIALIZE": "", "BACKWARD": ""},
    ),
    "APX050": ("STEP", {}),
    "APX051": ("STEP", {"STEP": "EXAMPLE\noptimizer.step()"}),
    "APX060": ("STEP", {}),
    "APX070": ("END", {}),
    "APX080": ("TOP", {"TOP": "class Pooler(nn.Module):\n    EXAMPLE\ncriterion = nn.CrossEntropyLoss()"}),
    "APX081": (
        "TOP",
        {"TOP": "class Product(torch.autograd.Function):\n    EXAMPLE\ncriterion = nn.CrossEntropyLoss()"},
    ),
    "APX090": (
        "IMPORTS",
        {"IMPORTS": "from apex import amp\nEXAMPLE", "END": "lamb = FusedMixedPrecisionLamb(model.parameters())"},
    ),
    "APX093": ("ARGUMENTS", {"ARGUMENTS": "parser = argparse.ArgumentParser()\nEXAMPLE\nargs = parser.parse_args()"}),
    "APX094": ("END", {"END": "EXAMPLE"}),
    "APX095": ("END", {}),
    "APX096": (
        "ARGUMENTS",
        {
            "ARGUMENTS": "parser = argparse.ArgumentParser()\nEXAMPLE\nargs = parser.parse_args()",
            "INITIALIZE": "model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)",
        },
    ),
}
RULES = [one for one in modules() if one.STAGE is not Stage.TOOL]
# their examples need nothing around them
ALONE = [one.ID for one in RULES if one.STAGE is Stage.PARTS or one.ID == "APX072"]


def _script(rule: ModuleType) -> str:
    if rule.ID in ALONE:
        return str(rule.BEFORE)
    place, elsewhere = PLACES[rule.ID]
    parts = {**PARTS, **elsewhere}
    example = rule.BEFORE
    if example.startswith("def "):  # what the page leaves out of a function is the loop
        header, _, rest = example.partition("    ...\n")
        example = TRAIN.replace("FUNCTION\n", header) + rest
    parts[place] = _filled(elsewhere.get(place, "EXAMPLE"), {"EXAMPLE": example})
    return _filled(SCRIPT, parts)


def _filled(text: str, parts: dict[str, str]) -> str:
    """Put each part in place of the line that names it, as deep as that line."""
    lines: list[str] = []
    for line in text.splitlines():
        name = line.strip()
        if name in parts:
            lines += textwrap.indent(_filled(parts[name], parts), line[: -len(name)]).splitlines()
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _comes_out(example: str, text: str) -> bool:
    """Whether a text holds an example, at any depth; ``...`` stands for any lines."""
    lines = text.splitlines()
    for first, line in enumerate(lines):
        depth = line[: len(line) - len(line.lstrip())]
        at, pieces = first, textwrap.indent(example, depth).split(f"{depth}    ...\n")
        for number, piece in enumerate(pieces):
            wanted = piece.splitlines()
            found = [
                i for i in range(at, len(lines)) if lines[i : i + len(wanted)] == wanted and (number or i == first)
            ]
            if not found:
                break
            at = found[0] + len(wanted)
        else:
            return True
    return False


def _migrated(rule: ModuleType) -> ModuleResult:
    unled = rule.ID == "APX072"
    standing = Standing(Leads.NOBODY if unled else Leads.UNKNOWN, scattered=rule.ID == "APX044")
    return migrate_module(_script(rule), Settings(), standing=standing)


def test_every_rule_is_applied_and_has_an_example() -> None:
    assert [one.ID for one in RULES] == [one.id for one in rules()] == sorted([*PLACES, *ALONE])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.ID)
def test_before_becomes_after(rule: ModuleType) -> None:
    script = _script(rule)
    assert _comes_out(rule.BEFORE, script)
    result = _migrated(rule)
    assert result.new_text is not None, [f.message for f in result.findings]
    assert _comes_out(rule.AFTER, result.new_text), result.new_text
    if rule.STAGE is Stage.REPORT:
        assert rule.BEFORE == rule.AFTER, "a rule that only reports changes nothing"
        assert rule.ID in {finding.rule for finding in result.findings}
    else:
        assert _comes_out(rule.BEFORE, rule.AFTER) or not _comes_out(rule.BEFORE, result.new_text), result.new_text
        assert rule.ID in {change.rule for change in result.changes}


@pytest.mark.parametrize("rule", [one for one in modules() if one.STAGE is Stage.TOOL], ids=lambda rule: rule.ID)
def test_what_the_tool_says_of_itself_is_not_applied(rule: ModuleType) -> None:
    assert not hasattr(rule, "apply") and not rule.BEFORE and not rule.AFTER
