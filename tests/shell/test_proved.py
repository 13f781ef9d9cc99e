"""What rough searches of the judge could not prove is said only where the last one, which remembers all, finds it."""

from __future__ import annotations

from pathlib import Path

from migrate.model import Applicability, Settings
from migrate.pipeline import analyse
from migrate.sources import collect
from migrate.spool import Spool
from tests.shell.support import tree

TRAINING = """\
from dataclasses import dataclass

import torch
import torch.nn as nn

try:
    from apex import amp
    has_apex = True
except ImportError:
    has_apex = False


@dataclass
class Config:
    use_amp: bool = True


class Distiller:
    def __init__(self, config, teacher, student):
        self.teacher, self.student = teacher, student
        self.criterion = nn.MSELoss()
        self.optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
        self.use_amp = has_apex and config.use_amp
        if self.use_amp:
            [self.student, self.teacher], self.optimizer = amp.initialize(
                [self.student, self.teacher], self.optimizer, opt_level="O1"
            )

    def before(self):
        with torch.no_grad():
            return self.teacher(torch.ones(2, 4)).float().mean().item()

    def loss(self, x):
        with torch.no_grad():
            aim = self.teacher(x)
        return self.criterion(self.student(x), aim)

    def fit(self):
        for _ in range(3):
            loss = self.loss(torch.ones(2, 4))
            self.optimizer.zero_grad()
            if self.use_amp:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
"""
MAIN = """\
import torch
from training import Config, Distiller

distiller = Distiller(Config(), torch.nn.Linear(4, 3), torch.nn.Linear(4, 3))
print(distiller.before())
distiller.fit()
"""


def test_a_doubt_that_the_last_search_does_not_share_is_not_said(tmp_path: Path) -> None:
    with Spool() as spool:
        files = {"training.py": TRAINING, "main.py": MAIN}
        outcome = analyse(collect([str(tree(tmp_path, files))]), Settings(), spool, jobs=1)
    assert [unit.applicability for file in outcome.results for unit in file.units] == [Applicability.SAFE]
    assert not [finding for file in outcome.results for finding in file.findings]
