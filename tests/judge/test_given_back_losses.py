"""Losses that a function gives back go back to the networks that it ran, in the words of the call."""

from __future__ import annotations

import pytest

from migrate.model import Applicability
from tests.judge.support import judged_case

TEXT = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Losses:
    def __init__(self, net):
        self.net = net

    def of(self, x):
        return self.net(x).mean()


HELPER


def main(batches):
    G, D = nn.Linear(2, 2), nn.Linear(2, 1)
    opt_g = torch.optim.SGD(G.parameters(), lr=0.1)
    opt_d = torch.optim.SGD(D.parameters(), lr=0.1)
    [G, D], [opt_g, opt_d] = amp.initialize([G, D], [opt_g, opt_d], opt_level="O1")
    for z, x in batches:
        opt_g.zero_grad()
        opt_d.zero_grad()
        CALL
        with amp.scale_loss(loss_d, opt_d) as scaled:
            scaled.backward()
        opt_d.step()
        with amp.scale_loss(loss_g, opt_g) as scaled:
            scaled.backward()
        opt_g.step()
"""
OF_D = "def of_d(g, d, z, x):\n    fake = g(z)CUT\n    return F.softplus(d(fake)).mean() + F.softplus(-d(x)).mean()"
BOTH = "def both(g, d, z, x):\n    own = d(x).mean() + d(g(z)CUT).mean()\n    return own, -g(z).mean()"
AGAIN = "def again(n, x):\n    return again(n, x) if x is None else n(x)"
ROW = "def row(g, d, z, x):\n    parts = [d(x).mean() + d(g(z)CUT).mean(), -g(z).mean()]\n    return parts"


@pytest.mark.parametrize(
    ("helper", "call", "reaches"),
    [
        (OF_D.replace("CUT", ""), "loss_d, loss_g = of_d(G, D, z, x), -G(z).mean()", True),
        (OF_D.replace("CUT", ".detach()"), "loss_d, loss_g = of_d(G, D, z, x), -G(z).mean()", False),
        (OF_D.replace("CUT", ""), "loss_d, loss_g = of_d(d=D, g=G, x=x, z=z), -G(z).mean()", True),
        (BOTH.replace("CUT", ".detach()"), "loss_d, loss_g = both(G, D, z, x)", False),
        (BOTH.replace("CUT", ""), "loss_d, loss_g = both(G, D, z, x)", True),
        (ROW.replace("CUT", ""), "loss_d, loss_g = row(G, D, z, x)", True),
        (AGAIN, "loss_d, loss_g = again(D, x), again(G, z)", False),
        ("", "loss_d, loss_g = Losses(D).of(x), Losses(G).of(z)", False),
        ("", "of_d, of_g = Losses(D), Losses(net=G); loss_d, loss_g = of_d.of(x), of_g.of(z)", False),
        ("", "loss_d, loss_g = Losses(D).of(G(z)), Losses(G).of(z)", True),
        ("", "of_d, of_g = Losses(D), Losses(G); loss_d, loss_g = of_d.of(x) + of_g.of(z), of_g.of(z)", True),
        ("", "of_d, of_g = Losses(D), Losses(G); of_d.net = G; loss_d, loss_g = of_d.of(z), of_g.of(z)", True),
        ("", "either = Losses(D if len(x) else G); loss_d, loss_g = either.of(x), Losses(G).of(z)", True),
    ],
)
def test_what_a_loss_of_a_function_reaches(helper: str, call: str, reaches: bool) -> None:
    """Gradients of the discriminator's loss in the generator stay scaled with Apex, which unscales those of the
    optimizer that it is handed; a GradScaler unscales all that the step's optimizer has."""
    case = judged_case(TEXT.replace("HELPER", helper).replace("CALL", call))
    assert case is not None
    assert bool(case.verdict.differences) is reaches
    assert (case.grade is Applicability.SAFE) is not reaches
