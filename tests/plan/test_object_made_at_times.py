"""A trainer that is made under a condition: its methods run only where it was made, and need not say the condition."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import argparse
import torch
from apex import amp


class Trainer:
    def __init__(self, config):
        self.fp16 = config["fp16"]
        self.teacher = torch.nn.Linear(4, 2)
        if self.fp16:
            self.teacher = amp.initialize(self.teacher, opt_level="O1")
        self.student = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.student.parameters(), lr=0.1)

    def update(self, x):
        with torch.no_grad():
            wanted = self.teacher(x).argmax(1)
        loss = torch.nn.functional.cross_entropy(self.student(x), wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main(batches):
    opts = argparse.ArgumentParser().parse_args()
    config = load(opts.config)
    if opts.trainer == "guided":
        trainer = Trainer(config)
        for x in batches:
            trainer.update(x)


main(batches)
"""


def test_a_method_does_not_say_under_which_condition_its_object_was_made() -> None:
    new = migrate_module(TEXT, Settings()).new_text
    assert new is not None and "apex" not in new
    assert 'torch.autocast("cuda", dtype=torch.float16, enabled=bool(self.fp16))' in new
