"""Short training scripts around the lines that a hazard's test is about."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from migrate import engine
from migrate.model import ModuleResult, Settings, Severity
from migrate.plan import hazards
from migrate.rules import apx032_float_output, apx033_binary_cross_entropy

HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp

"""
SETUP = """\
model = Model().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
"""
BACKWARD = """\
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
"""


def training(body: str, *, top: str = "from models import Model\n", after: str = "") -> str:
    """A script that trains; ``body`` makes ``loss`` of ``x`` and ``y``, ``after`` follows the step in the loop."""
    loop = "for x, y in loader:\n" + textwrap.indent(textwrap.dedent(body), "    ") + BACKWARD
    return HEAD + textwrap.dedent(top) + SETUP + loop + textwrap.indent(textwrap.dedent(after), "    ")


def migrated(text: str, settings: Settings = Settings()) -> ModuleResult:
    with _hooked():
        return engine.migrate_module(text, settings)


def new_text(text: str, settings: Settings = Settings()) -> str:
    result = migrated(text, settings)
    assert result.new_text is not None, [f.message for f in result.findings]
    return result.new_text


def messages(result: ModuleResult, rule: str, severity: Severity) -> list[str]:
    return [f.message for f in result.findings if f.rule == rule and f.severity is severity]


@contextmanager
def _hooked() -> Iterator[None]:
    """The engine with both rules, where it does not have them yet."""
    patched: Any = engine
    rules, decide = patched._UNIT_RULES, patched.decide
    if apx032_float_output in rules:
        yield
        return

    def decided(*args: Any) -> Any:
        plan = decide(*args)
        hazards.decide(plan)
        return plan

    at = [rule.ID for rule in rules].index("APX030") + 1
    patched._UNIT_RULES = (*rules[:at], apx032_float_output, apx033_binary_cross_entropy, *rules[at:])
    patched.decide = decided
    try:
        yield
    finally:
        patched._UNIT_RULES, patched.decide = rules, decide
