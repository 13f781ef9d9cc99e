"""What is said beside the changes: texts that are stale now, and what becomes of the growth of the loss scale."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings, Severity

SPEAKS = """\
'''Fine-tuning, with NVIDIA Apex where it is there.'''
import argparse

import torch
from apex import amp

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true", help="mixed precision through NVIDIA apex")
args = parser.parse_args()
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1", enabled=args.fp16)
# after amp.initialize
model = torch.nn.DataParallel(model)
for x, y in loader:
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:  # apex again
        scaled_loss.backward()
    optimizer.step()
"""
ACCUMULATES = """\
import torch
from apex import amp
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    if i % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
"""


def _said(text: str) -> list[tuple[str, Severity, tuple[int, ...]]]:
    found = migrate_module(text, Settings()).findings
    return [(one.rule, one.severity, (one.line, *one.lines)) for one in found]


def test_the_lines_that_still_speak_of_apex_are_told_and_no_others() -> None:
    assert _said(SPEAKS) == [("APX093", Severity.INFO, (1, 8, 13))]
    assert _said(SPEAKS.replace("\n", "\r\n")) == [("APX093", Severity.INFO, (1, 8, 13))]


MISSING = """\
import torch
if args.distributed:
    try:
        import horovod
    except ImportError:
        raise ImportError("Please install apex")
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    try:
        from apex import amp
    except ImportError:
        raise ImportError("Please install apex")
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    if args.fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
"""


def test_of_two_lines_with_the_same_words_the_one_that_stays_is_told() -> None:
    assert [one for one in _said(MISSING) if one[0] == "APX093"] == [("APX093", Severity.INFO, (6,))]


def test_a_unit_that_stays_is_not_told_of_its_texts() -> None:
    assert "APX093" not in [rule for rule, _, _ in _said(SPEAKS.replace("model(x)", "other(x)"))]


def test_the_growth_of_the_scale_is_told_where_a_step_takes_several_backwards() -> None:
    assert _said(ACCUMULATES) == [("APX060", Severity.INFO, (11,))]
    assert _said(ACCUMULATES.replace("    if i % 4 == 3:\n", "").replace("        opt", "    opt")) == []
    static = ACCUMULATES.replace('opt_level="O1"', 'opt_level="O1", loss_scale=128.0')
    assert "APX060" not in [rule for rule, severity, _ in _said(static) if severity is Severity.INFO]


@pytest.mark.parametrize(
    ("comment", "left"),
    [
        ("# Distributed training (should be after apex fp16 initialization)", "# Distributed training"),
        ("# wrapped (after apex), and only then", "# wrapped, and only then"),
        ("# (after apex)", "# (after apex)"),
        ("# model = DDP (apex.wrapped)", "# model = DDP (apex.wrapped)"),
        ("# model = apex(model) (as before)", "# model = apex(model) (as before)"),
        ('print("several devices (with apex)")', 'print("several devices (with apex)")'),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_words_in_brackets_go_and_no_others(comment: str, left: str, newline: str) -> None:
    text = SPEAKS.replace("# after amp.initialize", comment).replace("\n", newline)
    lines = (migrate_module(text, Settings()).new_text or "").split(newline)
    assert left in lines


def test_a_message_whose_condition_changed() -> None:
    tried = "try:\n    from apex import amp\n    has = True\nexcept ImportError:\n    has = False\n"
    guarded = SPEAKS.replace("from apex import amp\n", tried)
    text = guarded.replace("model = build()", "assert has and args.fp16, 'Apex and CUDA are needed'\nmodel = build()")
    at = text.split("\n").index("assert has and args.fp16, 'Apex and CUDA are needed'") + 1
    assert any(rule == "APX093" and at in lines for rule, _, lines in _said(text))
