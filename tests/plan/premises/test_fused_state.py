"""What is asked of the state of a fused optimizer is named: it is there behind a step that was left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrate.model import Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

TRAIN = """\
import torch
from apex import amp
from tools import Meter, report, groups

net = torch.nn.Linear(4, 2)
opt = torch.optim.AdamW(net.parameters(), lr=0.1, FUSED)
net, opt = amp.initialize(net, opt, opt_level="O1")
LINE
for x in batches:
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    with amp.scale_loss(loss, opt) as scaled:
        scaled.backward()
    opt.step()
    BEHIND
"""
TOOLS = """\
class Meter:
    def __init__(self, optimizer):
        self.optimizer = optimizer

    def size(self):
        return len(self.optimizer.state)


def report(optimizer):
    print("entries", len(optimizer.state))


def groups(optimizer):
    print("groups", len(optimizer.param_groups))
"""
MOVED = "for s in opt.state.values():\n        s['exp_avg'] = s['exp_avg'].cuda()"


@pytest.mark.parametrize(
    ("line", "behind", "fused", "named"),
    [
        ("", "print(len(opt.state))", "fused=True", True),
        ("", "print(net.weight in opt.state)", "fused=True", True),
        ("", "print('yes' if opt.state else 'no')", "fused=True", True),
        ("", "print(len(opt.state_dict()['state']))", "fused=True", True),
        ("", "s = opt.state[net.weight]\n    print(len(s))", "fused=True", True),
        ("", "print(opt.state[net.weight].get('step'))", "fused=True", True),
        ("", "print([p.shape for p in opt.state])", "fused=True", True),
        ("", "report(opt)", "fused=True", True),
        ("meter = Meter(opt)", "print(meter.size())", "fused=True", True),
        ("", "print(len(opt.state))", "foreach=True", False),
        ("", "print(len(opt.param_groups))", "fused=True", False),
        ("", "groups(opt)", "fused=True", False),
        ("", "torch.save(opt.state_dict(), 'opt.pth')", "fused=True", False),
        ("", "opt.state[net.weight]['exp_avg'].mul_(0.5)", "fused=True", False),
        ("", MOVED, "fused=True", False),
    ],
)
def test_what_asks_for_the_state_is_named(tmp_path: Path, line: str, behind: str, fused: str, named: bool) -> None:
    text = TRAIN.replace("LINE", line).replace("BEHIND", behind).replace("FUSED", fused)
    with Spool() as spool:
        files = {"train.py": text, "tools.py": TOOLS}
        outcome = analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=1)
    said = [f.message for file in outcome.results for f in file.findings if "made none by then" in f.message]
    assert bool(said) == named
