"""Networks of other files that run a part of theirs without gradients, and with them as well."""

from __future__ import annotations

import pytest

from migrate.facts.gradless import runs_both_ways

NET = "class Net(nn.Module):\n    def forward(self, x):\n{}        return self.{}(x[keep])\n\n{}"
OFF = "        with torch.no_grad():\n            keep = self.{}(x).topk(2)[1]\n"
OWN = "    def score(self, x):\n        return self.fc(x)\n"
MINE = "    @torch.no_grad()\n    def mine(self, x):\n        return self.fc(x)\n"


@pytest.mark.parametrize(
    ("off", "called", "more", "both"),
    [
        (OFF.format("fc"), "fc", "", True),
        (OFF.format("score"), "fc", OWN, True),
        (OFF.format("fc"), "score", OWN, True),
        ("        keep = self.mine(x)\n", "fc", MINE, True),
        (OFF.format("layers[0]"), "layers[1]", "", True),
        (OFF.format("teacher"), "fc", "", False),
        (OFF.format("train"), "train", "", False),
        ("        keep = self.fc(x)\n", "fc", "", False),
        ("        with torch.set_grad_enabled(False):\n            keep = self.fc(x)\n", "fc", "", True),
        ("        with torch.set_grad_enabled(self.on):\n            keep = self.fc(x)\n", "fc", "", False),
    ],
)
def test_a_part_that_runs_without_gradients_and_with_them(off: str, called: str, more: str, both: bool) -> None:
    assert runs_both_ways(NET.format(off, called, more)) is both


def test_so_does_the_forward_of_a_base() -> None:
    text = "class Hard(Base):\n    def forward(self, x):\n        with torch.no_grad():\n            {}\n"
    text += "        return {}\n"
    assert runs_both_ways(text.format("keep = super().forward(x)", "super().forward(x[keep])"))
    assert not runs_both_ways(text.format("keep = x.topk(2)", "super().forward(x)"))


@pytest.mark.parametrize("text", ["print 'python 2'", "x = " + "(" * 300, "class A(B):\n    def other(self): pass\n"])
def test_other_texts_have_none(text: str) -> None:
    assert not runs_both_ways(text)
