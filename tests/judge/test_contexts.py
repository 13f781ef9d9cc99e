"""A context manager of the file's own is run where the ``with`` stands."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings
from tests.judge.support import judged_case

TEXT = """\
from contextlib import contextmanager
import torch
import torch.nn.functional as F
from apex import amp


@contextmanager
def cleared(optimizer):
    optimizer.zero_grad()
    yield
    BEHIND


def train(net, data):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x, y in data:
        with cleared(optimizer):
            loss = F.mse_loss(net(x), y)
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
            optimizer.step()
"""


@pytest.mark.parametrize(("behind", "comes"), [("print('done')", True), ("yield", False), ("raise E", False)])
def test_what_stands_behind_the_yield(behind: str, comes: bool) -> None:
    """One that yields once more raises, as one that says so: nobody comes to a second round."""
    case = judged_case(TEXT.replace("BEHIND", behind))
    assert case is not None and not case.verdict.differences
    assert case.text.count("            scaler.update()\n") == 1
    found = case.judged(case.text.replace("            scaler.update()\n", ""))
    assert (found is not None and "called twice before update()" in found.said) is comes


def test_what_it_yields_once_more_is_bound_to_nothing() -> None:
    text = TEXT.replace("    yield\n    BEHIND", "    yield True\n    yield False")
    text = text.replace("            loss = F.mse", "        loss = F.mse").replace(
        "            with amp", "        with amp"
    )
    text = text.replace("                scaled.back", "            scaled.back")
    text = text.replace(
        "        with cleared(optimizer):\n",
        "        try:\n            with cleared(optimizer) as on:\n                pass\n"
        "        except RuntimeError:\n            pass\n",
    ).replace("            optimizer.step()", "        if on:\n            optimizer.step()")
    case = judged_case(text)
    assert case is not None and not case.verdict.differences
    assert case.text.count("            scaler.update()\n") == 1
    found = case.judged(case.text.replace("            scaler.update()\n", ""))
    assert found is not None and "called twice before update()" in found.said  # so `on` was True


SWITCHED = """\
import contextlib
import torch
import torch.nn.functional as F
from apex import amp

USE_AMP = False


MANAGER


def backward(loss, optimizer):
    if USE_AMP:
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
    else:
        loss.backward()


def train(net, data, flag):
    global USE_AMP
    USE_AMP = flag
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    if USE_AMP:
        net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
    for x, y in data:
        optimizer.zero_grad()
        loss = F.mse_loss(net(x), y)
        with full_precision():
            backward(loss, optimizer)
        optimizer.step()
"""
OF_CLASS = """\
class full_precision:
    def __enter__(self):
        global USE_AMP
        self.before = USE_AMP
        USE_AMP = SET

    def __exit__(self, *error):
        global USE_AMP
        USE_AMP = self.before
"""
OF_GENERATOR = """\
@contextlib.contextmanager
def full_precision():
    global USE_AMP
    before = USE_AMP
    USE_AMP = SET
    try:
        yield
    finally:
        USE_AMP = before
"""


@pytest.mark.parametrize("manager", [OF_CLASS, OF_GENERATOR])
def test_what_a_block_sets_that_is_no_part_of_training_is_not_known(manager: str) -> None:
    result = migrate_module(SWITCHED.replace("MANAGER", manager).replace("SET", "False"), Settings())
    assert any(one.rule == "APX042" or one.severity.value == "manual" for one in result.findings)
    plain = manager.replace("USE_AMP = SET", "print()").replace("USE_AMP = ", "print, ")
    result = migrate_module(SWITCHED.replace("MANAGER", plain), Settings())
    assert result.new_text is not None and not any(one.rule == "APX042" for one in result.findings)
