"""A base class that also trains by itself, without amp: its objects get a scaler that is off."""

from __future__ import annotations

import pytest

from tests.plan.home.test_homes import planned, shown

TEXT = """\
class Learner:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def one_batch(self, x, y):
        loss = (self.model(x) - y).pow(2).mean()
        self.opt.zero_grad()
        self.backward(loss)
        self.opt.step()

    def backward(self, loss):
        BACKWARD


class ApexLearner(Learner):
    def __init__(self, model):
        super().__init__(model)
        self.model, self.opt = amp.initialize(self.model, self.opt, opt_level="O1")

    def backward(self, loss):
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()


def main(data):
    learner = ApexLearner(torch.nn.Linear(3, 1))
    for x, y in data:
        learner.one_batch(x, y)
"""
BY_ITSELF, ABSTRACT = "loss.backward()", "raise NotImplementedError"
SWITCHED = [
    "self.scaler before self.opt = torch.optim.SGD(model.parameters(), lr=0.1) if False",
    "self.scaler behind self.model, self.opt = amp.initialize(…)",
]
ONCE = ["self.scaler behind self.opt = torch.optim.SGD(model.parameters(), lr=0.1)"]


@pytest.mark.parametrize(
    ("backward", "exported", "found"),
    [
        pytest.param(BY_ITSELF, "", SWITCHED, id="trains by itself"),
        pytest.param(ABSTRACT, "Learner", SWITCHED, id="another file takes it"),
        pytest.param(ABSTRACT, "main", ONCE, id="only for those below it"),
    ],
)
def test_where_the_scaler_is_made(backward: str, exported: str, found: list[str]) -> None:
    assert shown(planned(TEXT.replace("BACKWARD", backward), exported)) == found


OWN = """\
class Policy:
    def __init__(self):
        self.net = None
        self.opt = None

    def act(self, x):
        return self.net(x)


class Agent(Policy):
    def __init__(self, conf):
        FIRST
        self.net = torch.nn.Linear(3, 1)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        if conf.fp16:
            self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")

    def train(self, x):
        loss = self.net(x).mean()
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()
        self.opt.step()


def main(conf, data):
    agent = Agent(conf)
    for x in data:
        agent.act(x)
        agent.train(x)
"""


@pytest.mark.parametrize(("first", "within"), [("self.name = 'agent'", False), ("super().__init__()", True)])
def test_a_constructor_that_does_not_run_its_bases_makes_it_in_any_case(first: str, within: bool) -> None:
    found = shown(planned(OWN.replace("FIRST", first)))
    assert any("behind if conf.fp16" in one for one in found) is not within
