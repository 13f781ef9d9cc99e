"""Options of ``initialize`` that a table of the file gives."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import argparse
import torch
from apex import amp

TABLE


def train(batches, args):
    net = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net, optimizer = amp.initialize(net, optimizer, OPTIONS)
    for x in batches:
        loss = net(x).abs().mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
"""
TWO = 'PRESETS = {"full": dict(opt_level="O0"), "mixed": {"opt_level": "O1", "loss_scale": "dynamic", "verbosity": 0}}'


@pytest.mark.parametrize(
    ("table", "options", "grade", "enabled"),
    [
        (TWO, "**PRESETS[args.kind]", "safe", 'enabled=PRESETS[args.kind].get("opt_level", "O1") != "O0"'),
        (TWO, '**PRESETS["mixed"]', "safe", 'enabled=PRESETS["mixed"].get("opt_level", "O1") != "O0"'),
        ('KIND = {"opt_level": "O1"}', "**KIND", "safe", 'scaler = torch.amp.GradScaler("cuda")'),
        ('KIND = {"verbosity": 0, "num_losses": 1}', "**KIND", "safe", 'scaler = torch.amp.GradScaler("cuda")'),
        # what matters, what is not known, and what may be another one by then
        ('PRESETS = {"a": dict(opt_level="O1"), "b": dict(opt_level="O2")}', "**PRESETS[args.kind]", "review", "get"),
        ('PRESETS = {"a": dict(opt_level="O1", loss_scale=128.0)}', "**PRESETS[args.kind]", "review", "get"),
        ('PRESETS = {"a": dict(opt_level="O1", num_losses=2)}', "**PRESETS[args.kind]", "review", "get"),
        ('PRESETS = {"a": dict(opt_level="O0", loss_scale="dynamic")}', "**PRESETS[args.kind]", "review", "get"),
        ('PRESETS = {"a": dict(opt_level="O1", enabled=False)}', "**PRESETS[args.kind]", "review", "get"),
        ('PRESETS = {"a": dict(opt_level=level)}', "**PRESETS[args.kind]", "review", "get"),
        ('PRESETS = {"a": read("a")}', "**PRESETS[args.kind]", "review", "get"),
        (TWO + '\nPRESETS["mixed"]["loss_scale"] = 128.0', "**PRESETS[args.kind]", "review", "get"),
        (TWO + "\nPRESETS.update(read())", "**PRESETS[args.kind]", "review", "get"),
        (TWO + "\nchange(PRESETS)", "**PRESETS[args.kind]", "review", "get"),
        (TWO + '\nmixed = PRESETS["mixed"]\nmixed["loss_scale"] = 2.0', "**PRESETS[args.kind]", "review", "get"),
        (TWO + "\nif len(TABLES):\n    PRESETS = TABLES", "**PRESETS[args.kind]", "review", "get"),
        (TWO + "\nfor row in PRESETS.values():\n    row['loss_scale'] = 2.0", "**PRESETS[args.kind]", "review", "get"),
    ],
)
def test_what_a_table_says(table: str, options: str, grade: str, enabled: str) -> None:
    result = migrate_module(TEXT.replace("TABLE", table, 1).replace("OPTIONS", options), Settings())
    assert {unit.applicability.value for unit in result.units} == {grade}
    assert enabled in (result.new_text or "")
