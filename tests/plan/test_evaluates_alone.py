"""A script that initializes a model and an optimizer and never trains evaluates under autocast."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_program
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


RELABEL = """\
import torch
from apex import amp
from solver import Saver, make_optimizer


class Scheduler(torch.optim.lr_scheduler.StepLR):
    def __init__(self, optimizer, size):
        super().__init__(optimizer, size)


def relabel(cfg, loader):
    model = build(cfg)
    optimizer = make_optimizer(cfg, model)
    scheduler = Scheduler(optimizer, 2)
    use = cfg.DTYPE == "float16"
    level = "O1" if use else "O0"
    model, optimizer = amp.initialize(model, optimizer, opt_level=level)
    Saver(model, optimizer).load()
    for x in loader:
        model.eval()
        with torch.no_grad():
            print(model(x).tolist())


def main():
    relabel(load(), loader)


if __name__ == "__main__":
    main()
"""
SAVER = """

class Saver:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer

    def load(self):
        if self.optimizer is not None:
            self.optimizer.load_state_dict(torch.load("x.pt"))
"""
OWN = """\
        with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16, enabled=use):
            print(model(x).tolist())
"""


def test_an_optimizer_that_the_program_keeps_trains_nothing() -> None:
    files = [
        FileText(SOLVER + SAVER, name="solver.py"),
        FileText(RELABEL, name="relabel.py", links={"solver": 0}),
    ]
    assert OWN in (migrate_linked(files, Settings())[1].new_text or "")
    text = RELABEL.replace("Saver(model, optimizer).load()", "train(model, optimizer)")
    elsewhere = FileText(text, name="relabel.py", links={"solver": 0})
    assert migrate_linked([files[0], elsewhere], Settings())[1].new_text is None


def test_a_script_says_its_own_condition_beside_another_script() -> None:
    """No run has both, so what the other one's condition is does not matter."""
    files = [
        FileText(SOLVER + SAVER, name="solver.py"),
        FileText(MAIN, name="main.py", links={"solver": 0}),
        FileText(RELABEL, name="relabel.py", links={"solver": 0}),
    ]
    assert OWN in (migrate_program(files, Settings())[2].new_text or "")


UNCALLED = """\
import torch
from apex import amp


class Tools:
    def encode(self, args, model, batches):
        return [model(x.to(args.device)) for x in batches]

    def question(self, args, model, batches):
        return self.encode(args, model, batches)

    def golden(self, args, model, batches):
        return self.encode(args, model, batches)


def main(args, batches):
    model = build(args)
    if args.fp16:
        model = amp.initialize(model, opt_level="O1")
    Tools().question(args, model, batches)
"""


def test_what_nobody_calls_keeps_no_evaluation_by_hand() -> None:
    (result,) = migrate_program([FileText(UNCALLED, "tools.py")], Settings())
    assert result.new_text is not None and "enabled=bool(args.fp16)):\n        Tools().question" in result.new_text
    assert [f.line for f in result.findings if "now runs in float32" in f.message] == [13]
