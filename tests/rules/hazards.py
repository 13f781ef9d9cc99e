"""Short training scripts around the lines that a hazard's test is about."""

from __future__ import annotations

import textwrap

from migrate.engine import migrate_module
from migrate.model import ModuleResult, Settings, Severity

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
    return migrate_module(text, settings)


def new_text(text: str, settings: Settings = Settings()) -> str:
    result = migrated(text, settings)
    assert result.new_text is not None, [f.message for f in result.findings]
    return result.new_text


def messages(result: ModuleResult, rule: str, severity: Severity) -> list[str]:
    return [f.message for f in result.findings if f.rule == rule and f.severity is severity]
