"""What runs a network and is handed to what calls it by a name that says nothing of that."""

from __future__ import annotations

import pytest

from migrate.facts.handed_runs import SET, calls_handed, hands_on, hands_runs, with_handed_on

USER = """\
import torch.nn as nn
from functools import partial
from apex import amp


def loss_of(net, batch):
    return net(batch)


def size(batch, power):
    return batch.abs().sum(1) * power


class Task:
    def __init__(self, net):
        self.net = net

    def score(self, batch):
        return self.net(batch)


def main():
    m = nn.Linear(3, 2)
    m, opt = amp.initialize(m, SGD(m.parameters()))
    {line}
"""


@pytest.mark.parametrize(
    ("line", "runs"),
    [
        ("Ranker(data, partial(loss_of, m))", {"": 1}),
        ("Ranker(data, score=partial(loss_of, m))", {"": "score"}),
        ("Ranker(data, lambda batch: loss_of(m, batch))", {"": 1}),
        ("fn = partial(loss_of, m)\n    Ranker(data, fn)", {"": 1}),
        ("Ranker(data, loss_of)", {"": 1}),
        ("Ranker(data, m)", {"": 1}),
        ("Ranker(data, m.forward)", {"": 1}),
        ("Ranker(data, {'loss': partial(loss_of, m)})", {"": 1}),
        ("Ranker(data, [partial(loss_of, m)])", {"": 1}),
        ("task = Task(m)\n    Ranker(data, task.score)", {"": 1}),
        ("Ranker(data, Task(m))", {"score": 1}),
        ("Ranker(data, lambda batch: batch * 2)", {}),
        ("Ranker(data, partial(size, power=2))", {}),
        ("Ranker(data, size)", {}),
        ("Ranker(data, m.parameters())", {}),
        ("Ranker(data, get_model)", {}),
        ("criterion = nn.CrossEntropyLoss()\n    Ranker(data, criterion)", {}),
    ],
)
def test_what_runs_a_network(line: str, runs: dict[str, int | str]) -> None:
    table = hands_runs(USER.format(line=line))
    assert {how: at for (name, at), every in table.items() if name == "Ranker" for how in every} == runs


def test_an_attribute_that_is_set_from_outside() -> None:
    assert ("score", SET) in hands_runs(USER.format(line="ranker.score = partial(loss_of, m)"))


def test_nothing_of_what_does_not_parse() -> None:
    assert not hands_runs("def f(:") and not hands_on("def f(:") and not calls_handed(["def f(:"])


RANKER = """\
class Ranker{bases}:
    def __init__(self, data, score):
        self.data, self.score = data, score

    def use(self, fn):
        self.hooks.append(fn)

    def pick(self):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "place", "how"),
    [
        ("return self.score(self.data)", ("Ranker", 1), {""}),
        ("return self.score(self.data)", ("Ranker", "score"), {""}),
        ("return self.score(self.data)", ("score", SET), {""}),
        ("return self.score.rank(self.data)", ("Ranker", 1), {"rank"}),
        ("return self.score['all'](self.data)", ("Ranker", 1), {""}),
        ("return [fn(self.data) for fn in self.hooks]", ("use", 0), {""}),
        ("return {k: fn(self.data) for k, fn in self.score.items()}", ("Ranker", 1), {""}),
        ("score = self.score\n        return score(self.data)", ("Ranker", 1), {""}),
        ("return self.pick(self.data)", ("Ranker", 1), set()),
        ("return self.data", ("Ranker", 1), set()),
    ],
)
def test_what_a_class_calls(body: str, place: tuple[str, int | str], how: set[str]) -> None:
    found = calls_handed([RANKER.format(bases="", body=body)]).get(place, frozenset())
    assert found >= how and bool(found) == bool(how)


def test_what_a_base_of_another_file_calls() -> None:
    base = RANKER.format(bases="", body="return self.score(self.data)").replace("Ranker", "Base")
    plain = "from base import Base\n\nclass Ranker(Base):\n    pass\n"
    own = plain.replace("pass", "def __init__(self, x, y):\n        super().__init__(x, y)")
    assert "" in calls_handed([plain, base])["Ranker", 1] and calls_handed([own, base])["Ranker", 1] >= {""}
    assert ("Base", 1) not in calls_handed([plain, base])


def test_functions_and_records() -> None:
    record = "@dataclass\nclass R:\n    n: int\n    f: object\n    def go(self):\n        self.f(1)\n"
    text = f"{record}def best(data, fn):\n    fn(data)\n"
    table = calls_handed([text])
    assert table["R", 1] == table["R", "f"] == table["best", 1] == {""} and ("R", 0) not in table
    assert not calls_handed(["def best(data, net):\n    net(data)\n"])


def test_what_is_handed_on() -> None:
    on = hands_on("def build(data, score):\n    return Ranker(data, fn=score)\n")
    assert with_handed_on({("build", 1): frozenset({""})}, on)["Ranker", "fn"] == {""}
