"""What asks for Apex's level, and what is traced behind ``initialize``, is named."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

TEXT = """\
import torch
from torch.jit import trace
import torch.nn.functional as F
from apex import amp


def main(args, model, optimizer, loader):
    BEFORE
    model, optimizer = amp.initialize(model, optimizer, opt_level=args.opt_level)
    for x, y in loader:
        LINE
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
    AFTER


model = torch.nn.Linear(4, 2)
main(args, model, torch.optim.SGD(model.parameters(), lr=0.1), loader)
"""
NAMED = {
    "an input made half": "if args.opt_level == 'O2':\n            x = x.half()",
    "an expression": "x = x.half() if args.opt_level == 'O3' else x",
    "the other way round": "if 'O1' != args.opt_level:\n            x = x.half()",
}
LEFT = {
    "O0 is off in both": "if args.opt_level != 'O0':\n            x = x + 1",
    "only said": "if args.opt_level == 'O2':\n            print('half weights')",
    "refused": "if args.opt_level == 'O3':\n            raise ValueError('no O3')",
    "another string": "if args.name == 'O2 sensor':\n            x = x + 1",
}


def _migrated(before: str = "pass", line: str = "pass", after: str = "pass") -> list[str]:
    text = TEXT.replace("BEFORE", before).replace("LINE", line).replace("AFTER", after)
    result = migrate_module(text, Settings())
    assert result.new_text is not None and result.units[0].applicability is Applicability.REVIEW
    return [f.message for f in result.findings]


@pytest.mark.parametrize("name", NAMED)
def test_a_condition_on_the_level_is_named(name: str) -> None:
    assert any("asks for Apex's level" in said for said in _migrated(line=NAMED[name]))


@pytest.mark.parametrize("name", LEFT)
def test_conditions_that_keep_their_sense(name: str) -> None:
    assert not any("asks for Apex's level" in said for said in _migrated(line=LEFT[name]))


TRACED = {
    "behind it": ("pass", "traced = torch.jit.trace(model, torch.rand(1, 4))", True),
    "by its name": ("pass", "traced = trace(model, torch.rand(1, 4))", True),
    "as a file": ("pass", "torch.onnx.export(model, torch.rand(1, 4), 'model.onnx')", True),
    "before": ("traced = torch.jit.trace(model, torch.rand(1, 4))", "pass", False),
    "of a matrix": ("pass", "total = torch.trace(torch.rand(4, 4))", False),
}


@pytest.mark.parametrize("name", TRACED)
def test_a_graph_that_is_written_down(name: str) -> None:
    before, after, named = TRACED[name]
    assert any("so its graph" in said for said in _migrated(before=before, after=after)) is named


HANDED = """\
import torch
from functools import partial
from apex import amp


def build(opt_level='O1'):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level=opt_level)
    return model, optimizer


def train(model, optimizer, loader):
    for x in loader:
        with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        optimizer.zero_grad()


CALLS
train(model, optimizer, [])
"""


@pytest.mark.parametrize(
    ("calls", "known"),
    [
        ("model, optimizer = build()", True),
        ("model, optimizer = build('O1')", True),
        ("model, optimizer = build(opt_level='O0')", False),
        ("model, optimizer = build(level)", False),
        ("model, optimizer = build(*levels)", False),
        ("model, optimizer = build(**levels)", False),
        ("make = partial(build, level)\nmodel, optimizer = make()", False),
    ],
)
def test_levels_that_callers_hand_on(calls: str, known: bool) -> None:
    result = migrate_module(HANDED.replace("CALLS", calls), Settings())
    assert ('scaler = torch.amp.GradScaler("cuda")\n' in (result.new_text or "")) is known


@pytest.mark.parametrize(
    "calls",
    [
        "model, optimizer = {'fp32': partial(build, opt_level='O0'), 'amp': build}[name]()",
        "make = partial(build, opt_level='O0') if name else build\nmodel, optimizer = make()",
    ],
)
def test_levels_of_functions_that_are_handed_on_are_not_known(calls: str) -> None:
    text = migrate_module(HANDED.replace("CALLS", calls), Settings()).new_text or ""
    assert "GradScaler" not in text or "opt_level !=" in text


OFF = """\
import torch
from apex import amp

a, b = torch.nn.Linear(3, 3).cuda(), torch.nn.Linear(3, 3).cuda()
one, two = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
[a, b], [one, two] = amp.initialize([a, b], [one, two], opt_level="LEVEL")
amp.load_state_dict(torch.load("last.pth")["amp"])
for x in data:
    one.zero_grad()
    two.zero_grad()
    loss = b(a(x)).sum()
    with amp.scale_loss(loss, [one, two]) as scaled:
        scaled.backward()
    one.step()
    two.step()
"""


@pytest.mark.parametrize(("level", "said"), [("O0", set()), ("O1", {"APX041", "APX070"})])
def test_a_scaler_that_is_never_on_skips_no_step_and_reads_no_state(level: str, said: set[str]) -> None:
    result = migrate_module(OFF.replace("LEVEL", level), Settings())
    assert {finding.rule for finding in result.findings} == said
