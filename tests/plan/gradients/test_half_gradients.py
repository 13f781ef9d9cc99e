"""Gradients of the model's own parameters at O2, where the step used float32 copies of them."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Finding, Settings

PROGRAM = """\
import torch
from apex import amp
from torch import nn

model = nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, OPTIONS)
params = [p for p in model.parameters() if p.requires_grad]


def clip(net, c):
    nn.utils.clip_grad_norm_(net.parameters(), c)


for x in loader:
    optimizer.zero_grad()
    loss = model(x).mean()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    READER
    optimizer.step()
"""
CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
LEVELS = {
    'opt_level="O2"': "under O2",
    'opt_level=args.level': "at O2",
    'opt_level="O2" if half else "O1"': "at O2",
    'opt_level="O3", loss_scale="dynamic", master_weights=True': "under O3",
    'opt_level="O1"': "",
    'opt_level="O0"': "",
    'opt_level="O3"': "",  # steps what is clipped
    'opt_level="O3", loss_scale="dynamic"': "",
    'opt_level="O2", master_weights=False': "",
}
READERS = {
    CLIP: "this clip",
    "nn.utils.clip_grad_value_(model.parameters(), 1.0)": "this clip",
    "nn.utils.clip_grad_norm_(params, 1.0)": "this clip",
    "clip(model, 1.0)": "this clip",
    "for p in model.parameters():\n        p.grad.mul_(0.5)": "what was read here",
    "print(sum(p.grad.norm() for p in model.parameters()))": "what was read here",
    "nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)": "",
    "nn.utils.clip_grad_norm_([p for g in optimizer.param_groups for p in g['params']], 1.0)": "",
    "nn.utils.clip_grad_norm_(other.parameters(), 1.0)": "",
    "for p in model.parameters():\n        if p.grad is not None:\n            print(p.shape)": "",
    "print(loss)": "",
}


def _said(options: str, reader: str) -> list[Finding]:
    text = PROGRAM.replace("OPTIONS", options).replace("READER", reader)
    if "clip(model" not in reader:
        text = text.replace("    nn.utils.clip_grad_norm_(net.parameters(), c)\n", "    pass\n")
    return [one for one in migrate_module(text, Settings()).findings if one.rule == "APX057"]


@pytest.mark.parametrize("options", LEVELS)
def test_level(options: str) -> None:
    found = _said(options, CLIP)
    assert bool(found) == bool(LEVELS[options])
    assert all(one.severity.value == "review" and one.message.startswith(LEVELS[options]) for one in found)


@pytest.mark.parametrize("reader", READERS)
def test_reader(reader: str) -> None:
    found = _said('opt_level="O2"', reader)
    assert len(found) == bool(READERS[reader])
    assert all(READERS[reader] in one.message for one in found)


@pytest.mark.parametrize("kept", [True, False])
def test_batch_norm_that_stayed_float32(kept: bool) -> None:
    (found,) = _said(f'opt_level="O2", keep_batchnorm_fp32={kept}', CLIP)
    assert ("batch norm" in found.message) is kept


def test_where_amp_is_off() -> None:
    arms = f"if fp16:\n        nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)\n    else:\n        {CLIP}"
    assert not _said('opt_level="O2"', arms)


def test_within_the_block_it_was_clipped_ahead_of_the_copies() -> None:
    inner = PROGRAM.replace("OPTIONS", 'opt_level="O2"').replace("    READER\n", f"        {CLIP}\n")
    inner = inner.replace("    nn.utils.clip_grad_norm_(net.parameters(), c)\n", "    pass\n")
    assert not [one for one in migrate_module(inner, Settings()).findings if one.rule == "APX057"]
