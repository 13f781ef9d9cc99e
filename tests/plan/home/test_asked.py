"""A function that only looks for amp, a flag that keeps what it said, and who asks them, in files of one program."""

from __future__ import annotations

from migrate.engine import migrate_program
from migrate.model import Applicability, FileText, ModuleResult, Settings

COMPAT = """\
import torch

mask_dtype = torch.bool


def is_apex_available():
    try:
        from apex import amp
        found = True
    except ImportError:
        found = False
    return found
"""
UTILS = """\
import torch
from compat import mask_dtype, is_apex_available

has_apex = is_apex_available()
if has_apex:
    from apex import amp


def masked(x):
    return x.to(mask_dtype)
"""
TRAIN = """\
from utils import *


def train(args, model, optimizer, loader):
    if args.fp16:
        if not has_apex:
            raise ImportError("Please install apex")
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
"""


def _migrated(compat: str) -> list[ModuleResult]:
    files = [
        FileText(compat, name="compat.py"),
        FileText(UTILS, name="utils.py", links={"compat": 0}),
        FileText(TRAIN, name="train.py", links={"utils": 1}),
    ]
    return migrate_program(files, Settings())


def test_nothing_asks_for_apex_any_more() -> None:
    results = _migrated(COMPAT)
    assert [unit.applicability for unit in results[2].units] == [Applicability.SAFE]
    texts = [one.new_text or "" for one in results]
    assert texts[0] == "import torch\n\nmask_dtype = torch.bool\n"
    assert "is_apex_available" not in texts[1] and "has_apex" not in texts[1]
    assert "raise" not in texts[2] and "has_apex" not in texts[2]


def test_a_function_that_does_more_is_still_called() -> None:
    results = _migrated(COMPAT.replace("        found = True\n", "        found = True\n        print(amp)\n"))
    texts = [one.new_text or old for one, old in zip(results, (COMPAT, UTILS), strict=False)]
    assert all("is_apex_available()" in text for text in texts)
