"""An object that only evaluates, of a class whose training initializes."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Importable, Outside, Settings

TEXT = """\
import torch
from apex import amp


class Classifier:
    def __init__(self, args):
        self.args = args
        self.net = torch.nn.Linear(4, 2).cuda()

    def fit(self, loader):
        optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        if self.args.fp16:
            self.net, optimizer = amp.initialize(self.net, optimizer, opt_level="O1")
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(self.net(x), y)
            optimizer.zero_grad()
            if self.args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
            else:
                loss.backward()
            optimizer.step()

    def predict(self, xs):
        out = []
        for x in xs:
            with torch.no_grad():
                out.append(self.net(x).argmax(1))
        return out


def train(args, loader):
    model = Classifier(args)
    model.fit(loader)
    return model.predict(loader)


def run(args, xs):
    model = Classifier(args)
    BODY
"""


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("return model.predict(xs)", True),
        ("print(model.args.fp16)\n    print(model.predict(xs))", True),
        ("model.fit(xs)\n    return model.predict(xs)", False),
        ("return model", False),  # whoever gets it may train it
        ("prepare(model)\n    return model.predict(xs)", False),
        ("return model.args", False),
        ("return model.predict(xs)\n\n\ntrain(args, loader)\nrun(args, loader)", False),  # behind a training
    ],
)
def test_an_object_that_never_trains(body: str, named: bool) -> None:
    result = migrate_module(TEXT.replace("BODY", body), Settings())
    assert result.new_text is not None, result.findings
    assert any("never trains here" in one.message for one in result.findings) is named


LAZY = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, net, fp16):
        self.net, self.fp16, self._optimizer = net.cuda(), fp16, None

    @property
    def optimizer(self):
        if self._optimizer is None:
            self._optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
            if self.fp16:
                self.net, self._optimizer = amp.initialize(self.net, self._optimizer, opt_level="O1")
        return self._optimizer

    def fit(self, x, y):
        self.optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        if self.fp16:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            loss.backward()
        self.optimizer.step()

    def predict(self, x):
        with torch.no_grad():
            return self.net(x)


def main(args, loader):
    trainer = Trainer(torch.nn.Linear(4, 2), args.fp16)
    for x, y in loader:
        trainer.fit(x, y)
    return trainer.predict(x)
"""


def test_one_that_initializes_when_it_is_first_asked_for_its_optimizer() -> None:
    result = migrate_module(LAZY, Settings())
    assert result.new_text is not None, result.findings
    assert not any("never trains here" in one.message for one in result.findings)


PUBLIC = """\
import torch
from apex import amp


class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args

    def train(self, batches):
        model = self.model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if self.args.fp16:
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        for x, y in batches:
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), y)
            if self.args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
            else:
                loss.backward()
            optimizer.step()
        return self.evaluate(batches)

    def evaluate(self, batches):
        return self._loop(batches)

    def _loop(self, batches):
        with torch.no_grad():
            return [self.model(x).argmax(1) for x, _ in batches]
"""
USED = """

def main(args, batches):
    trainer = Trainer(torch.nn.Linear(4, 2), args)
    trainer.train(batches)
    return trainer.evaluate(batches)
"""


@pytest.mark.parametrize(
    ("text", "whose", "named"),
    [
        (PUBLIC, Importable.ALL, True),
        (PUBLIC, Importable.NOWHERE, False),  # whoever runs it stands in the file
        (PUBLIC + USED, Importable.ALL, False),  # nothing says that others make such an object as well
        (PUBLIC.replace("evaluate", "_evaluate"), Importable.ALL, False),
        (
            PUBLIC.replace("self.model, self.args = model, args", "self.args = args\n        self.train(())"),
            Importable.ALL,
            False,  # it initialized as it was made
        ),
    ],
)
def test_a_method_of_a_package_that_evaluates_and_never_trains(text: str, whose: Importable, named: bool) -> None:
    result = migrate_module(text, Settings(), Outside(importable=whose))
    assert result.new_text is not None, result.findings
    assert any("whoever calls evaluate()" in one.message for one in result.findings) is named
    notes = [one.message for one in result.changes if one.rule == "APX030"]
    assert any("where something had initialized Apex" in note for note in notes) is named
