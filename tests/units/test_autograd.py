"""Autograd functions with products in their backward, whichever way their methods are written."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Applicability, Settings

HEAD = """\
import torch
from apex import amp
from torch.autograd import Function
from torch.autograd.function import InplaceFunction, once_differentiable
"""
TRAINING = """

def main(loader, weight):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="LEVEL")
    for x in loader:
        loss = Product.apply(model(x), weight).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""
FORWARD = "def forward(ctx, x, w):\n        ctx.save_for_backward(x, w)\n        return x @ w\n"
BACKWARD = "def backward(ctx, g):\n        x, w = ctx.saved_tensors\n        return g @ w.t(), None\n"
BOTH = f"    @staticmethod\n    {FORWARD}\n    @staticmethod\n    {BACKWARD}"
MARKED = {
    "plainly": f"class Product(Function):\n{BOTH}",
    "of a base": f"class Base(Function):\n    @staticmethod\n    {BACKWARD}\n"
    f"class Product(Base):\n    @staticmethod\n    {FORWARD}",
    "once differentiable": "class Product(Function):\n"
    + BOTH.replace(f"    {BACKWARD}", f"    @once_differentiable\n    {BACKWARD}"),
    "made static behind": f"class Product(Function):\n    {FORWARD}    forward = staticmethod(forward)\n    {BACKWARD}",
    "by a decorator of its own": "def near(f):\n    return f\nclass Product(Function):\n"
    + BOTH.replace("@staticmethod\n", "@staticmethod\n    @near\n"),
    "in place": f"class Product(InplaceFunction):\n{BOTH}",
    "of classes": "class Product(Function):\n"
    + BOTH.replace("staticmethod", "classmethod").replace("(ctx", "(cls, ctx"),
    "that a network computes, which it kept": "class Product(Function):\n"
    + BOTH.replace("g @ w.t()", "ctx.module(g)"),
    "that a method of one computes": "class Product(Function):\n"
    + BOTH.replace("g @ w.t()", "ctx.blocks[0].backward_pass(g)"),
    "that each of several computes": "class Product(Function):\n"
    + BOTH.replace("return g", "for block in reversed(ctx.blocks): g = block.backward_pass(g)\n        return g", 1),
    "that another function computes": "class Product(Function):\n"
    + BOTH.replace("g @ w.t()", "Other.apply(g, w)")
    + f"class Other(Function):\n    @staticmethod\n    {FORWARD}\n    @staticmethod\n    "
    + BACKWARD.replace("g @ w.t()", "g"),
}


@pytest.mark.parametrize("level", ["O1", "O2"])
@pytest.mark.parametrize("form", MARKED)
def test_both_methods_are_decorated(form: str, level: str) -> None:
    result = migrate_module(f"{HEAD}{MARKED[form]}{TRAINING.replace('LEVEL', level)}", Settings())
    new = result.new_text or ""
    assert new.count("custom_fwd(") == new.count("custom_bwd(") == 1
    for name, method in (("fwd", "forward"), ("bwd", "backward")):
        assert f'custom_{name}(device_type="cuda")\n    def {method}(' in new
    if level == "O1":
        assert [unit.applicability for unit in result.units] == [Applicability.SAFE]


def test_what_is_kept_beside_a_network_is_none() -> None:
    form = BOTH.replace("g @ w.t()", "g.view(ctx.shape.numel()) * ctx.saved_tensors[0].sum()")
    result = migrate_module(f"{HEAD}class Product(Function):\n{form}{TRAINING.replace('LEVEL', 'O1')}", Settings())
    assert result.new_text is not None and "custom_fwd(" not in result.new_text


@pytest.mark.parametrize(
    "form",
    [
        "class Product(Function):\n    @classmethod\n    "
        + FORWARD.replace("(ctx", "(cls, ctx")
        + f"\n    @staticmethod\n    {BACKWARD}",
        "class Product(Function):\n    @staticmethod\n    def forward(x, w):\n        return x @ w\n\n"
        "    @staticmethod\n    def setup_context(ctx, inputs, output):\n        ctx.save_for_backward(*inputs)\n\n"
        f"    @staticmethod\n    {BACKWARD}",
    ],
    ids=["of a class and of none", "a context that is set up apart"],
)
def test_what_is_handed_no_one_thing_first_is_named(form: str) -> None:
    result = migrate_module(f"{HEAD}{form}{TRAINING.replace('LEVEL', 'O1')}", Settings())
    assert "custom_fwd(" not in (result.new_text or "")
    said = [one.rule for one in result.findings if "this backward computes products" in one.message]
    assert said == ["APX081"]
    assert [unit.applicability for unit in result.units] == [Applicability.REVIEW]
