"""Methods that Python or a library calls by itself: no call of theirs in the program tells how they run."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp
from torch.utils.data import DataLoader


class Images:
    def __init__(self, paths, transform):
        self.paths, self.transform = paths, transform

    def METHOD(self, at):
        if at < 0:
            return RETRY
        return self.transform(self.paths[at])

    def first(self):
        return self.METHOD(0)


class Trainer:
    def __init__(self, args):
        self.transform = torch.nn.Sequential(torch.nn.Linear(4, 4))
        self.images = Images(args.paths, self.transform)
        self.model = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        if args.fp16:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def train(self, args):
        for x in LOADER:
            loss = self.model(x).sum()
            if args.fp16:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()


Trainer(args).train(args)
"""


@pytest.mark.parametrize(
    ("method", "retry", "loader"),
    [
        ("__getitem__", "self.__getitem__(-at)", "DataLoader(self.images)"),
        ("__call__", "self(-at)", "map(self.images, args.numbers)"),
        ("load", "self.load(-at)", "DataLoader(self.images)"),  # itself is nobody
    ],
)
def test_gets_no_scaler(method: str, retry: str, loader: str) -> None:
    text = TEXT.replace("METHOD", method).replace("RETRY", retry).replace("LOADER", loader)
    if method == "load":
        text = text.replace("return self.load(0)", "return 0")
    result = migrate_module(text, Settings())
    assert f"def {method}(self, at):" in (result.new_text or text)
    assert {one.rule for one in result.findings} >= {"APX031"}


def test_one_that_is_seen_alone() -> None:
    text = TEXT.replace("METHOD", "load").replace("RETRY", "None").replace("LOADER", "[self.images.first()]")
    result = migrate_module(text, Settings())
    assert "APX031" not in {one.rule for one in result.findings}


HANDED = """\
import torch
from apex import amp
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self):
        self.encoder, self.model = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD([*self.model.parameters(), *self.encoder.parameters()], lr=0.1)
        models = [self.model, self.encoder]
        [self.model, self.encoder], self.optimizer = amp.initialize(models, self.optimizer, opt_level="O1")

    def embed(self, batch):
        return self.encoder(torch.stack(batch))

    def train(self, data):
        for x in data:
            loss = self.model(self.embed([x, x])).pow(2).mean()
            self.optimizer.zero_grad()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()
        HANDED


Trainer().train(data)
"""


@pytest.mark.parametrize(
    ("handed", "inside"),
    [
        ("return [h.argmax(1) for h in DataLoader(data, collate_fn=self.embed)]", True),
        ("return self.embed(data).argmax(1)", False),
    ],
)
def test_who_is_handed_a_function_calls_it_under_no_region(handed: str, inside: bool) -> None:
    new = migrate_module(HANDED.replace("HANDED", handed), Settings()).new_text
    assert new is not None
    embed = new.partition("def embed")[2].partition("def train")[0]
    assert ("torch.autocast(" in embed) is inside
