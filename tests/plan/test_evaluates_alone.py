"""A script that initializes a model and an optimizer and never trains evaluates under autocast."""

from __future__ import annotations

import pytest

from migrate.linked import migrate_linked
from migrate.model import FileText, Settings

SOLVER = """\
import torch


def make_optimizer(cfg, model):
    return torch.optim.SGD(model.parameters(), lr=cfg.LR)
"""
MAIN = """\
import torch
from apex import amp
from solver import make_optimizer


def run_test(cfg, model, loader):
    out = []
    model.eval()
    for x in loader:
        with torch.no_grad():
            out.append(model(x).cpu())
    return out


def train(cfg, model, loader):
    optimizer = make_optimizer(cfg, model)
    level = "O1" if cfg.DTYPE == "float16" else "O0"
    model, optimizer = amp.initialize(model, optimizer, opt_level=level)
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
        run_test(cfg, model, loader)
    return model



def main():
    cfg = load()
    train(cfg, build(), loader)


if __name__ == "__main__":
    main()
"""
TEST = """\
import torch
from main import run_test
from apex import amp
from solver import make_optimizer


def execute_test(cfg, loader):
    model = build(cfg)
    optimizer = make_optimizer(cfg, model)
    use = cfg.DTYPE == "float16"
    level = "O1" if use else "O0"
    model, optimizer = amp.initialize(model, optimizer, opt_level=level)
    result = run_test(cfg, model, loader)
    data = []
    for one in result:
        data.append(one[0])
    stacked = torch.cat(data, dim=0).squeeze(2)
    return model, stacked


def main():
    cfg = load()
    _, result = execute_test(cfg, loader)
    evaluate_all(result)


if __name__ == "__main__":
    main()
"""
WRAPPED = """\
    with torch.autocast("cuda", dtype=torch.float16, enabled=use):
        result = run_test(cfg, model, loader)
"""


@pytest.mark.parametrize("made", ["make_optimizer(cfg, model)", "torch.optim.SGD(model.parameters(), lr=0.1)"])
def test_a_script_that_initializes_and_evaluates(made: str) -> None:
    """With the optimizer of a function that the training script calls too, both are one unit."""
    files = [
        FileText(SOLVER, name="solver.py"),
        FileText(MAIN, name="main.py", links={"solver": 0}),
        FileText(TEST.replace("make_optimizer(cfg, model)", made), name="test.py", links={"main": 1, "solver": 0}),
    ]
    results = migrate_linked(files, Settings())
    assert WRAPPED in (results[2].new_text or "")
    assert not any(one.rule == "APX031" for result in results for one in result.findings)
