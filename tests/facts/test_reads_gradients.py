"""Which functions of other files look at gradients, by their text."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import elsewhere, outline
from migrate.facts.reads_gradients import reads_gradients


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        ("print(p.grad)", True),
        ("print(getattr(p, 'grad'))", True),
        ("nn.utils.clip_grad_norm_(model.parameters(), 1)", True),
        ("with torch.no_grad(): pass", False),
        ("g, = torch.autograd.grad(loss, x)", False),
        ("p.requires_grad = False", False),
    ],
)
def test_what_looks_at_gradients(body: str, reads: bool) -> None:
    assert reads_gradients(body) is reads


TEXT = """\
def norm(model):
    return sum(p.grad.norm() for p in model.parameters())


def report(model):
    print(norm(model))


def show(model):
    print(model)


class Logger:
    def log(self, model):
        self.write(model)

    def write(self, model):
        print(norm(model))

    def close(self):
        pass


class Adam:
    def step(self):
        print(self.p.grad)

    def zero_grad(self):
        self.p.grad = None
"""


def test_who_calls_one_that_does_counts_and_steps_do_not() -> None:
    found = elsewhere([outline(TEXT)]).gradients
    assert found == {"norm", "report", "Logger.log", "Logger.write"}
