"""A step of an optimizer that was never initialized stays as it is, where its function made the object that has it."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_program
from migrate.model import FileText, Settings

LEARNER = '''\
import torch
from torch import optim


class Learner:
    def set_optimizer(self, model):
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        self.optimizer = optimizer

    def set_schedule(self):
        self.schedule = optim.lr_scheduler.StepLR(self.optimizer, 1)

    def learn(self, model, loader):
        from apex import amp

        self.set_optimizer(model)
        self.set_schedule()
        model, self.optimizer = amp.initialize(model, self.optimizer, opt_level="O1")
        for x, y in loader:
            loss = torch.nn.functional.mse_loss(model(x), y)
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()
            self.schedule.step()
            self.optimizer.zero_grad()
'''
TEST = '''\
from torch import nn

from learner import Learner


def test_schedule():
    learner = Learner()
    learner.set_optimizer(nn.Linear(1, 1))
    learner.set_schedule()
    learner.optimizer.step()
    learner.schedule.step()
    learner.optimizer.step()
'''

MAIN = '''

def main():
    Learner().learn(nn.Linear(1, 1), [], True)
    test_schedule()


if __name__ == "__main__":
    main()
'''


def migrated(learner: str, test: str) -> tuple[str, str]:
    """What becomes of the two files."""
    files = [FileText(learner, name="learner.py"), FileText(test, name="test_learner.py", links={"learner": 0})]
    first, second = migrate_program(files, Settings())
    return first.new_text or learner, second.new_text or test


def test_it_is_one_of_an_object_that_the_function_made() -> None:
    learner, test = migrated(LEARNER, TEST)
    assert "apex" not in learner and "scaler.step(self.optimizer)" in learner
    assert test == TEST


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        ("    learner.set_schedule()\n", "    learner.set_schedule()\n    learner.learn(nn.Linear(1, 1), [])\n"),
        ("    learner.set_schedule()\n", "    learner.set_schedule()\n    fit(learner)\n"),
        ("    learner.set_schedule()\n", "    learner.set_schedule()\n    run(learner.learn)\n"),
        ("    learner = Learner()\n", "    learner = LEARNER\n"),
    ],
)
def test_it_is_the_units_where_it_may_have_been_trained(what: str, instead: str) -> None:
    test = TEST.replace(what, instead).replace("\n\ndef", "\nLEARNER = Learner()\n\n\ndef", 1)
    assert instead in test
    learner, changed = migrated(LEARNER, test)
    assert learner == LEARNER or changed != test


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        ("class Learner:\n", "@singleton\nclass Learner:\n"),
        ("class Learner:\n", "class Learner(metaclass=Singleton):\n"),
        ("class Learner:\n", "class Learner:\n    def __new__(cls):\n        return KEPT\n\n"),
        ("        self.optimizer = optimizer\n", "        global KEPT\n        KEPT = self.optimizer = optimizer\n"),
    ],
)
def test_objects_that_share_what_they_have_may_have_been_trained(what: str, instead: str) -> None:
    learner = LEARNER.replace(what, instead)
    if "global" in instead:
        learner = learner.replace("        optimizer = optim", "        global KEPT\n        KEPT = optim").replace(
            "        global KEPT\n        KEPT = self.optimizer = optimizer\n", "        self.optimizer = KEPT\n"
        )
    assert learner != LEARNER
    assert migrated(learner, TEST)[0] == learner


def test_one_that_runs_a_model_asks_a_scaler_that_is_there() -> None:
    made = "    model = nn.Linear(1, 1)\n    learner.set_optimizer(model)\n"
    made += "    model(torch.ones(1, 1)).sum().backward()\n"
    asked = LEARNER.replace("loader):", "loader, fp16):").replace('"O1")', '"O1", enabled=fp16)')
    test = TEST.replace("    learner.set_optimizer(nn.Linear(1, 1))\n", made)
    test = test.replace("from torch import nn", "import torch\nfrom torch import nn") + MAIN
    learner, changed = migrated(asked, test)
    assert "learner.scaler.is_enabled()" in changed
    assert 'scaler = torch.amp.GradScaler("cuda", enabled=False)' in learner
