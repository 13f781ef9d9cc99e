"""Which functions of a file give a norm of gradients and do nothing else."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from migrate.units.degree import gives_norm, scale_free_reader
from tests.asking import context, marked

NORMS = {
    "the sum of powers": """
        def norm(parameters, norm_type=2):
            norm_type = float(norm_type)
            total = 0.
            for p in parameters:
                if p.grad is not None:
                    total += p.grad.data.norm(norm_type).item() ** norm_type
            total = total ** (1. / norm_type)
            return total
        """,
    "a square root": """
        def norm(model):
            total = 0
            for p in model.parameters():
                total += p.grad.detach().norm(2) ** 2
            return math.sqrt(total)
        """,
    "the norm of norms": """
        def norm(parameters, norm_type):
            parameters = [p for p in parameters if p.grad is not None]
            if len(parameters) == 0:
                return torch.tensor(0.)
            if norm_type == inf:
                total = max(p.grad.detach().abs().max() for p in parameters)
            else:
                total = torch.norm(torch.stack([torch.norm(p.grad.detach(), norm_type) for p in parameters]), norm_type)
            return total
        """,
    "what has no scale": """
        def norm(parameters):
            total = 0.
            for p in parameters:
                size = p.grad.shape
                if not p.grad.is_sparse and len(size) > 1:
                    total += p.grad.norm() ** 2 / size[0] ** 2
            return total ** 0.5
        """,
}
OTHERS = {
    "a square": "def norm(ps):\n    total = 0\n    for p in ps:\n        total += p.grad.norm() ** 2\n    return total",
    "another root": """
        def norm(ps, kind, other):
            total = 0
            for p in ps:
                total += p.grad.norm(kind) ** kind
            return total ** (1. / other)
        """,
    "an exponent that changes": """
        def norm(ps, kind):
            total = 0
            for p in ps:
                total += p.grad.norm(kind) ** kind
            kind = 3
            return total ** (1. / kind)
        """,
    "a clip": "def norm(ps):\n    for p in ps:\n        p.grad.mul_(0.5)\n    return ps[0].grad.norm()",
    "a change": "def norm(ps):\n    for p in ps:\n        p.grad = p.grad / 2\n    return ps[0].grad.norm()",
    "a threshold": "def norm(p):\n    if p.grad.norm() > 1:\n        return p.grad.norm()\n    return 0",
    "a sum with a number": "def norm(p):\n    return p.grad.norm() + 1",
    "a log": "def norm(p):\n    print(p.grad.norm())\n    return p.grad.norm()",
    "what it keeps": "def norm(self, p):\n    self.last = p.grad.norm()\n    return self.last",
    "no norm at all": "def norm(p):\n    return len(p)",
    "nothing": "def norm(p):\n    pass",
}


def ask(text: str) -> bool:
    ctx = context("import math\nimport torch\nfrom apex import amp\n" + dedent(text))
    function = next(n for n in ctx.m.nodes if isinstance(n, ast.FunctionDef))
    return gives_norm(ctx, function)


@pytest.mark.parametrize("name", NORMS)
def test_a_norm(name: str) -> None:
    assert ask(NORMS[name])


@pytest.mark.parametrize("name", OTHERS)
def test_no_norm(name: str) -> None:
    assert not ask(OTHERS[name])


ATTACK = """
    def size(model):
        return SIZE

    def attack(model):
        for p in model.parameters():
            p.data.add_(p.grad / p.grad.norm())
        print(size(model))

    def train(model):
        attack(model)  # ?
    """


@pytest.mark.parametrize(
    ("size", "free"),
    [
        ("0", True),
        ("model.weight.grad.norm()", False),
        ("model.weight.grad / model.weight.grad.norm()", True),
        ("torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)", False),
    ],
)
def test_what_a_reader_calls_reads_as_well(size: str, free: bool) -> None:
    ctx = context(ATTACK.replace("SIZE", size))
    (stmt,) = marked(ctx.m)
    assert bool(scale_free_reader(ctx, stmt)) is free


def test_a_norm_to_which_another_function_adds_is_none() -> None:
    text = """
        def more(p):
            return p.grad.abs().max()

        def norm(model):
            total = model.weight.grad.norm() + 0 * model.weight.grad.norm() * more(model.weight)
            return total
        """
    ctx = context(text)
    function = ctx.m.defined("norm")[0]
    assert not gives_norm(ctx, function)
