"""Optimizers of parts of a network, of which `initialize` is handed the whole alone: a loss reaches every part that it
was computed with, also where it calls the whole."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Net(nn.Module):
    def __init__(self, wide=2):
        super().__init__()
        self.emb, self.head = nn.Linear(2, wide), nn.Linear(wide, 2)

    def forward(self, x):
        return self.head(self.emb(x).tanh())


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(2, 1)

    def forward(self, x):
        return self.one(x)


class Whole(nn.Module):
    def __init__(self, g=None, d=None):
        super().__init__()
        self.g, self.d = g or Net(), d or Critic()

    def forward(self, z):
        return self.d(self.g(z))

    def loss_d(self, z, x):
        return F.softplus(self.d(self.g(z)CUT)).mean() + F.softplus(-self.d(x)).mean()

    def loss_g(self, z):
        return F.softplus(-self.d(self.g(z))).mean()


def main(batches):
    MADE
    opt_g = torch.optim.SGD(OF_G.parameters(), lr=0.1)
    opt_d = torch.optim.SGD(OF_D.parameters(), lr=0.1)
    model, [opt_g, opt_d] = amp.initialize(model, [opt_g, opt_d], opt_level="O1")
    for z, x in batches:
        opt_g.zero_grad()
        opt_d.zero_grad()
        loss_d = LOSS_D
        with amp.scale_loss(loss_d, opt_d) as scaled:
            scaled.backward()
        opt_d.step()
        BETWEEN
        loss_g = F.softplus(-OF_D(OF_G(z))).mean()
        with amp.scale_loss(loss_g, opt_g) as scaled:
            scaled.backward()
        opt_g.step()
"""
WHOLE = "model = Whole()"
HANDED = "g, d = Net(), Critic(); model = Whole(g, d)"
LISTED = "g, d = Net(), Critic(); model = nn.ModuleList([g, d])"
TABLE = "model = nn.ModuleDict({'g': Net(), 'd': Critic()})"
SEQUENCE = "g, d = Net(), Critic(); model = nn.Sequential(g, d)"
ADDED = "g, d = Net(), Critic(); model = nn.Module(); model.add_module('g', g); model.add_module('d', d)"
GROWN = "g, d = Net(), Critic(); model = nn.ModuleList(); model.append(g); model.append(d)"
GIVEN = "model = Whole(); g, d = model.children()"
ASKED = ("getattr(model, 'g')", "getattr(model, 'd')")
ELSEWHERE = ("elsewhere.part(model, 'g')", "elsewhere.part(model, 'd')")
ATTRIBUTES, NAMES, ITEMS = ("model.g", "model.d"), ("g", "d"), ("model['g']", "model['d']")
OWN = "F.softplus(OF_D(OF_G(z)CUT)).mean() + F.softplus(-OF_D(x)).mean()"
METHOD = "model.loss_d(z, x)"


@pytest.mark.parametrize(
    ("made", "parts", "loss", "reaches"),
    [
        (WHOLE, ATTRIBUTES, METHOD, False),
        (WHOLE, ATTRIBUTES, OWN, False),
        (HANDED, NAMES, METHOD, False),
        (HANDED, NAMES, OWN, False),
        (LISTED, NAMES, OWN, False),
        (TABLE, ITEMS, OWN, False),
        (SEQUENCE, NAMES, OWN, False),
        (ADDED, NAMES, OWN, False),
        (GROWN, NAMES, OWN, False),
        (WHOLE, ASKED, OWN, False),
        (WHOLE, ATTRIBUTES, METHOD, True),
        (WHOLE, ATTRIBUTES, OWN, True),
        (WHOLE, ATTRIBUTES, "F.softplus(model(z)).mean()", True),
        (WHOLE, ATTRIBUTES, "OF_D(x).mean() + sum(p.norm() for p in OF_G.parameters())", True),
        (WHOLE, ("model.g.emb", "model.d"), OWN, True),
        (HANDED, NAMES, METHOD, True),
        (HANDED, NAMES, OWN, True),
        (HANDED, NAMES, "F.softplus(model(z)).mean()", True),
        (LISTED, NAMES, OWN, True),
        (TABLE, ITEMS, OWN, True),
        (SEQUENCE, NAMES, "F.softplus(model(z)).mean()", True),
        (ADDED, NAMES, OWN, True),
        (GROWN, NAMES, OWN, True),
        (GIVEN, NAMES, OWN, True),
        (WHOLE, ASKED, OWN, True),
        (WHOLE, ELSEWHERE, OWN, True),
        (HANDED, ("model", "d"), "d(x).mean()", True),  # one optimizer has all
    ],
)
def test_a_loss_reaches_the_parts_that_it_was_computed_with(
    made: str, parts: tuple[str, str], loss: str, reaches: bool
) -> None:
    """Apex leaves what the discriminator's loss puts into the generator scaled, a GradScaler's step unscales it."""
    assert _grade(made, parts, loss, reaches) == ("manual" if reaches else "safe")


@pytest.mark.parametrize("between", ["opt_g.zero_grad()", "model.zero_grad()"])
def test_what_is_cleared_ahead_of_its_step_is_as_good(between: str) -> None:
    assert _grade(WHOLE, ATTRIBUTES, METHOD, True, between) == "safe"


@pytest.mark.parametrize(
    ("ahead", "grade"),
    [
        ("OF_G.requires_grad_(False)", "safe"),
        ("OF_G.emb.requires_grad_(False)", "manual"),
        ("OF_G.requires_grad_(False)\n        model.requires_grad_(True)", "manual"),
        ("model.requires_grad_(False)\n        OF_G.requires_grad_(True)", "manual"),
        ("OF_G.requires_grad_(False)\n        OF_G.head.requires_grad_(True)", "manual"),
    ],
)
def test_a_part_that_is_frozen_is_not_reached(ahead: str, grade: str) -> None:
    again = "model.requires_grad_(True)"
    text = _text(WHOLE, ATTRIBUTES, "F.softplus(OF_D(OF_G(z))).mean()", True, again)
    ahead = ahead.replace("OF_G", "model.g")
    text = text.replace("        loss_d =", f"        {ahead}\n        loss_d =")
    assert _units(text) == {grade}


LIBRARY = "model = vision.resnet18()"
BY_NAME = [
    (LIBRARY, ("model.g", "model.d")),
    (LIBRARY + "; g, d = getattr(model, 'g'), getattr(model, 'd', None)", NAMES),
    (LIBRARY, ("model.get_submodule('body.g')", "model.get_submodule('d')")),
    (LIBRARY, ("model._modules['g']", "vars(model)['_modules']['d']")),
    (LIBRARY + "; parts = dict(model.named_children())", ("parts['g']", "parts['d']")),
    (LIBRARY + "; parts = dict(model.named_modules())", ("parts['body.g']", "parts['body.d']")),
    (LIBRARY + "; parts = nn.ModuleDict(model.named_children())", ("parts['g']", "parts['d']")),
    (WHOLE + "; parts = dict(model.named_children())", ("parts['g']", "parts['d']")),
    (WHOLE + "; i = 1; g, d = getattr(model, f'g{i}'), model.d", NAMES),
]
ANY = [
    (LIBRARY + "; name = text()", ("getattr(model, name)", "model.d")),
    (LIBRARY + "; name = text(); parts = dict(model.named_children())", ("parts[name]", "parts['d']")),
    (LIBRARY + "; name = text(); mods = model._modules", ("mods[name]", "model.d")),
    (LIBRARY + "; g, d = (getattr(model, n) for n in names)", NAMES),
    (LIBRARY + "; g, d = operator.attrgetter('g', 'd')(model)", NAMES),
    (LIBRARY + "; parts = list(model.children())", ("parts[0]", "parts[-1]")),
    (LIBRARY + "; parts = nn.ModuleList(model.children())", ("parts[0]", "parts[-1]")),
    (WHOLE + "; name = text(); parts = dict(model.named_children())", ("parts[name]", "model.d")),
    (WHOLE + "; name = text(); parts = {n: p for n, p in model.named_children()}", ("parts[name]", "model.d")),
]


@pytest.mark.parametrize(("made", "parts"), [*BY_NAME, *ANY])
def test_a_part_by_a_name_is_reached(made: str, parts: tuple[str, str]) -> None:
    assert _grade(made, parts, OWN, True) == "manual"


@pytest.mark.parametrize(("made", "parts"), BY_NAME)
def test_parts_by_names_that_are_written_are_told_apart(made: str, parts: tuple[str, str]) -> None:
    assert _grade(made, parts, OWN, False) == "safe"


def test_what_lies_in_a_part_is_reached() -> None:
    """``model.blocks[0]`` is of the optimizer that has ``model.blocks``."""
    text = _text(LIBRARY, ("model.g", "model.d"), "F.softplus(model.d(model.g[0].inner(z)CUT)).mean()", True, "pass")
    assert _units(text) == {"manual"}
    text = _text(LIBRARY, ("model.g", "model.d"), "F.softplus(model.d(model.g[0].inner(z)CUT)).mean()", False, "pass")
    assert _units(text) == {"safe"}


def _grade(made: str, parts: tuple[str, str], loss: str, reaches: bool, between: str = "pass") -> str:
    (grade,) = _units(_text(made, parts, loss, reaches, between))
    return grade


def _text(made: str, parts: tuple[str, str], loss: str, reaches: bool, between: str) -> str:
    of_g, of_d = parts
    text = TEXT.replace("MADE", made).replace("LOSS_D", loss).replace("BETWEEN", between)
    return text.replace("CUT", "" if reaches else ".detach()").replace("OF_G", of_g).replace("OF_D", of_d)


def _units(text: str) -> set[str]:
    return {unit.applicability.value for unit in engine.migrate_module(text, Settings()).units}


@pytest.mark.parametrize("reaches", [True, False])
@pytest.mark.parametrize(
    ("made", "parts"),
    [
        ("self.a, self.b = Block(), Block()", ("model.a", "model.b")),
        ("self.a = Block()\n        self.b = Block()", ("model.a", "model.b")),
        ("self.a, self.b = nn.Sequential(Block()), nn.Sequential(Block())", ("model.a", "model.b")),
        ("self.parts = nn.ModuleDict({'a': Block(), 'b': Block()})", ("model.parts['a']", "model.parts['b']")),
        ("self.parts = nn.ModuleList([Block() for _ in range(2)])", ("model.parts[0]", "model.parts[1]")),
    ],
)
def test_two_parts_of_one_class_are_two(made: str, parts: tuple[str, str], reaches: bool) -> None:
    text = _text("model = Two()", parts, OWN, reaches, "pass")
    two = f"class Two(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {made}\n\n\n"
    block = "class Block(Net):\n    pass\n\n\n"
    assert _units(text.replace("def main", block + two + "def main")) == {"manual" if reaches else "safe"}


@pytest.mark.parametrize(
    "made",
    [
        "self.a = Block(); self.b = nn.Sequential(self.a, nn.ReLU())",
        "self.a, self.b = Block(), Block(); self.b.head.weight = self.a.emb.weight",
        "self.a, self.b = Block(), Block(); self.b.head = self.a.head",
        "self.a, self.b = Block(), Block(); setattr(self.b, 'head', self.a.head)",
    ],
)
def test_two_parts_that_share_are_not(made: str) -> None:
    text = _text("model = Two()", ("model.a", "model.b"), OWN, False, "pass")
    two = f"class Two(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {made}\n\n\n"
    block = "class Block(Net):\n    pass\n\n\n"
    assert _units(text.replace("def main", block + two + "def main")) == {"manual"}
