"""Networks by what made them, and by the headers of other files."""

from __future__ import annotations

import ast

import pytest

from migrate.facts.module import Module
from migrate.facts.networks import is_network, may_be_network, network_classes
from migrate.flow.values import Values

HEAD = """\
import timm
import torch
import torch.nn as nn
from torchvision.models import resnet50, vgg16
from transformers import BertModel, BertTokenizer
from nets import Judge
from tools import Judged, get_transform


class Net(nn.Module):
    pass


class Own(Net):
    pass


class Ranking(Judge):
    pass


class MarginLoss(nn.Module):
    pass


class Runner:
    pass


"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("Net()", True),
        ("Own()", True),
        ("Ranking()", True),
        ("Judge(3)", True),
        ("timm.create_model('x')", True),
        ("resnet50(pretrained=True).cuda()", True),
        ("vgg16().features", True),
        ("BertModel.from_pretrained('b')", True),
        ("BertTokenizer.from_pretrained('b')", False),
        ("MarginLoss()", False),
        ("Runner()", False),
        ("Judged()", False),
        ("get_transform()", False),
        ("vgg16().training", False),
        ("torch.zeros(3)", False),
        ("Judge(3)(1)", False),
        ("resnet50()(1).float()", False),
    ],
)
def test_what_made_it(made: str, found: bool) -> None:
    m = Module(HEAD + f"thing = {made}\n")
    v = Values(m)
    last = m.files[0].tree.body[-1]
    assert isinstance(last, ast.Assign)
    assert any(is_network(v, obj, {"Judge"}) for obj in v.of(last.value)) is found


@pytest.mark.parametrize(
    ("made", "run", "found"),
    [
        ("t = make()", "t(x)", True),
        ("_, t = lib.pair()", "t(x)", True),
        ("t = make()", "t.encode_image(x)", True),
        ("t = make()", "t.write(x)", False),
        ("t = make()", "t()", False),
        ("t = get_transform()", "t(x)", False),
        ("mixup = make()", "mixup(x, y)", False),
        ("t = here()", "t(x)", False),
        ("t = Writer()", "t.add_scalar('loss', x)", False),
    ],
)
def test_what_may_be_one(made: str, run: str, found: bool) -> None:
    head = "import lib\nfrom lib import make, get_transform\ndef here():\n    return print\n"
    m = Module(f"{head}{made}\n{run}\n")
    last = m.files[0].tree.body[-1]
    assert isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)
    assert bool(may_be_network(Values(m), last.value)) is found


@pytest.mark.parametrize("run", ["model(x)", "self.encoder(x)", "net(x).float()", "self.nets.generator(x)"])
def test_what_a_network_gives_is_none(run: str) -> None:
    m = Module(f"def step(self, model, net, x):\n    return {run}\n")
    v = Values(m)
    (stmt,) = (node for node in m.nodes if isinstance(node, ast.Return))
    assert stmt.value is not None and not any(is_network(v, obj, set()) for obj in v.of(stmt.value))


def test_the_classes_of_a_file_and_those_that_derive_from_them() -> None:
    headers = ["Base (nn.Module", "Deep(Base, Mixin", "Deeper(\n    Deep", "Trainer(object", "FocalLoss(nn.Module"]
    assert network_classes(headers) == {"Base", "Deep", "Deeper"}
    assert network_classes(reversed(headers)) == {"Base", "Deep", "Deeper"}
    assert network_classes([]) == frozenset()
