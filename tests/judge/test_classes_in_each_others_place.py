"""Of which class an object is that a table hands out is one question, whichever of its methods is called."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Full:
    MAKES

    def prepare(self, model, optimizer):
        return model, optimizer

    def backward(self, loss, optimizer, update):
        loss.backward()
        if update:
            torch.nn.utils.clip_grad_norm_(PARAMETERS, 1.0)
            optimizer.step()


class Half(Full):
    def __init__(self):
        self.on = True

    def prepare(self, model, optimizer):
        return amp.initialize(model, optimizer, opt_level="O1")

    def backward(self, loss, optimizer, update):
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        if update:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
            optimizer.step()


def train(model, optimizer, precision, batches):
    for number, x in enumerate(batches):
        loss = model(x).pow(2).mean()
        precision.backward(loss, optimizer, number % 2 == 1)
        if number % 2 == 1:
            optimizer.zero_grad()


def main(name, batches):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    precision = MADE
    model, optimizer = precision.prepare(model, optimizer)
    train(model, optimizer, precision, batches)
"""
PARAMETERS = "(p for group in optimizer.param_groups for p in group['params'])"
MAKES = {
    "without a constructor": "name = 'fp32'",
    "with one in which nothing happens": "def __init__(self):\n        self.steps = 0",
}


@pytest.mark.parametrize("case", MAKES)
def test_one_object_is_of_one_class(case: str) -> None:
    text = TEXT.replace("MAKES", MAKES[case]).replace("PARAMETERS", PARAMETERS)
    result = migrate_module(text.replace("MADE", '{"fp32": Full, "apex": Half}[name]()'), Settings())
    assert [unit.applicability.value for unit in result.units] == ["review"]
    said = [finding.message for finding in result.findings]
    assert any("the model is called without casts, now under autocast" in one for one in said), said


def test_two_objects_may_be_of_two() -> None:
    text = TEXT.replace("MAKES", MAKES["without a constructor"]).replace("PARAMETERS", PARAMETERS)
    text = text.replace("precision.backward", "next(precisions).backward")
    text = text.replace("precision, batches):", "precisions, batches):")
    text = text.replace("precision, batches)", "cycle([precision, Full()]), batches)")
    result = migrate_module(text.replace("MADE", "Half()"), Settings())
    assert {unit.applicability.value for unit in result.units} == {"manual"}


AGENTS = """\
import torch
from apex import amp


class Small:
    def __init__(self, conf):
        self.net = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        if conf.fp16:
            self.net, self.optimizer = amp.initialize(self.net, self.optimizer, opt_level="O1")

    def train(self, x):
        loss = self.net(x).pow(2).mean()
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()


OTHER
AGENTS = {"small": (1, Small), "large": (2, Large)}


def main(name, conf, batches):
    size, agent = AGENTS[name]
    agent = agent(conf)
    for x in batches:
        agent.train(x)
"""


def test_an_object_that_takes_the_name_of_its_class() -> None:
    other = AGENTS.partition("class ")[2].partition("\n\n\nOTHER")[0].replace("Small", "Large").replace("SGD", "Adam")
    result = migrate_module(AGENTS.replace("OTHER", f"class {other}\n\n"), Settings())
    assert "manual" not in {unit.applicability.value for unit in result.units}
    assert len(result.units) == 2
