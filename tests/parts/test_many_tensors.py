"""Functions of many tensors, and what else of Apex's kernels is written out, beside plain numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from .formulas import Adam, trained
from .support import Batches, Weights, assert_same, executed, migrated, moved, regression, twins, weights

CALLS = """
import torch
import amp_C
from apex.multi_tensor_apply import multi_tensor_applier

flag = torch.zeros(1, dtype=torch.int)
"""


def lists(kind: torch.dtype = torch.float32) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(4)
    return [torch.randn(shape, generator=generator).to(kind) for shape in ((3, 4), (5,), (1,))]


def ran(line: str, **names: Any) -> dict[str, Any]:
    return executed(migrated(CALLS + line), names)


def after(model: nn.Module, rule: Adam, batches: Batches) -> Weights:
    """The weights that a rule trains."""
    trained(model, batches, rule)
    return weights(model)


def norm(*tensors: torch.Tensor) -> float:
    return math.sqrt(sum(float(x) ** 2 for one in tensors for x in one.flatten()))


def test_a_norm_of_all_and_of_each() -> None:
    found = ran("norm, each = multi_tensor_applier(amp_C.multi_tensor_l2norm, flag, [xs], True)", xs=lists())
    assert found["norm"].shape == (1,)
    assert found["norm"].item() == pytest.approx(norm(*lists()), rel=1e-6)
    assert found["each"].tolist() == pytest.approx([norm(one) for one in lists()], rel=1e-6)
    assert found["flag"].item() == 0


def test_a_norm_of_half_gradients_is_float32() -> None:
    big = [torch.full((4,), 6e4, dtype=torch.float16)]
    found = ran("norm, each = multi_tensor_applier(amp_C.multi_tensor_l2norm, flag, [xs], False)", xs=big)
    assert found["norm"].dtype == torch.float32 and found["norm"].item() == pytest.approx(120000, rel=1e-3)
    assert found["each"].numel() == 0 and found["flag"].item() == 0


def test_a_scale_of_its_own_list_and_of_another_type() -> None:
    xs, halves = lists(), lists(torch.float16)
    wide = [torch.empty_like(one, dtype=torch.float32) for one in halves]
    ran("multi_tensor_applier(amp_C.multi_tensor_scale, flag, [xs, xs], 0.25)", xs=xs)
    assert_same(xs, [one * 0.25 for one in lists()], 1e-7)
    ran("multi_tensor_applier(amp_C.multi_tensor_scale, flag, [hs, ws], 1.0 / 3.0)", hs=halves, ws=wide)
    assert_same(wide, [one.double().div(3.0).float() for one in halves], 1e-6)


def test_a_scale_to_half_multiplies_before_it_rounds() -> None:
    large, small = [torch.tensor([1e6, -3e5])], [torch.zeros(2, dtype=torch.float16)]
    ran("multi_tensor_applier(amp_C.multi_tensor_scale, flag, [xs, ys], 1e-3)", xs=large, ys=small)
    assert small[0].tolist() == [1000.0, -300.0]


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_sets_the_flag(bad: float) -> None:
    xs = lists()
    xs[1][2] = bad
    out = [torch.empty_like(one) for one in xs]
    for line in (
        "multi_tensor_applier(amp_C.multi_tensor_l2norm, flag, [xs], False)",
        "multi_tensor_applier(amp_C.multi_tensor_scale, flag, [xs, out], 2.0)",
        "multi_tensor_applier(amp_C.multi_tensor_axpby, flag, [xs, ys, out], 1.0, 2.0, 0)",
        "multi_tensor_applier(amp_C.multi_tensor_axpby, flag, [ys, xs, out], 1.0, 2.0, -1)",
    ):
        assert ran(line, xs=xs, ys=lists(), out=out)["flag"].item() == 1, line
    line = "multi_tensor_applier(amp_C.multi_tensor_axpby, flag, [ys, xs, out], 1.0, 2.0, 0)"
    assert ran(line, xs=xs, ys=lists(), out=out)["flag"].item() == 0


def test_an_average_of_weights() -> None:
    xs, ys = lists(), [one + 1.0 for one in lists()]
    ran("amp_C.multi_tensor_axpby(65536, flag, [ys, xs, ys], 0.9, 0.1, -1)", xs=xs, ys=ys)
    assert_same(ys, [0.9 * (one + 1.0) + 0.1 * one for one in lists()], 1e-6)


@pytest.mark.parametrize("decoupled", [True, False])
def test_a_class_that_is_handed_on_computes_adam(decoupled: bool) -> None:
    text = (
        "import torch\nfrom apex.optimizers import FusedAdam\n\n"
        "KINDS = {'fused': FusedAdam, 'plain': torch.optim.SGD}\n"
        f"optimizer = KINDS[kind](model.parameters(), lr=0.01, weight_decay=0.3, adam_w_mode={decoupled})\n"
        "for inputs, targets in batches:\n    optimizer.zero_grad()\n"
        "    (model(inputs) - targets).pow(2).mean().backward()\n    optimizer.step()\n"
    )
    model, twin = twins()
    before, batches = weights(model), regression()
    executed(migrated(text), {"model": model, "batches": batches, "kind": "fused"})
    wanted = after(twin, Adam(0.01, decay=0.3, decoupled=decoupled), batches)
    assert moved(weights(model), before)
    assert_same(weights(model), wanted)


def test_what_derives_and_calls_the_kernel_computes_adam() -> None:
    text = (
        "import torch\nfrom apex.multi_tensor_apply import multi_tensor_applier\n"
        "from apex.optimizers import FusedAdam\n\n\nclass Own(FusedAdam):\n    def step(self):\n"
        "        for group in self.param_groups:\n"
        "            group['step'] = group.get('step', 0) + 1\n            lists = [[], [], [], []]\n"
        "            for p in group['params']:\n                state = self.state[p]\n"
        "                state.setdefault('m', torch.zeros_like(p.data))\n"
        "                state.setdefault('v', torch.zeros_like(p.data))\n"
        "                for some, one in zip(lists, (p.grad, p.data, state['m'], state['v'])):\n"
        "                    some.append(one)\n"
        "            multi_tensor_applier(self.multi_tensor_adam, self._dummy_overflow_buf, lists, group['lr'],\n"
        "                *group['betas'], group['eps'], group['step'], self.adam_w_mode,\n"
        "                group['bias_correction'], group['weight_decay'])\n\n\n"
        "optimizer = Own(model.parameters(), lr=0.01, weight_decay=0.3)\n"
        "for inputs, targets in batches:\n    optimizer.zero_grad()\n"
        "    (model(inputs) - targets).pow(2).mean().backward()\n    optimizer.step()\n"
    )
    model, twin = twins()
    before, batches = weights(model), regression()
    executed(migrated(text), {"model": model, "batches": batches})
    assert moved(weights(model), before)
    assert_same(weights(model), after(twin, Adam(0.01, decay=0.3), batches))


def test_half_weights_keep_float32_averages() -> None:
    text = "import torch\nfrom apex.optimizers import FusedAdam\n\noptimizer = make(FusedAdam)\n"
    weight = nn.Parameter(torch.ones(3, dtype=torch.float16))
    optimizer = executed(migrated(text), {"make": lambda kind: kind([weight], lr=0.1)})["optimizer"]
    weight.grad = torch.tensor([6e-8, 1.0, -1.0], dtype=torch.float16)  # the first squared is 0 in half precision
    optimizer.step()
    state = optimizer.state[weight]
    assert {one.dtype for one in state.values()} == {torch.float32} and bool((state["exp_avg_sq"] > 0).all())
    assert weight.tolist() == pytest.approx([0.9, 0.9, 1.1], abs=2e-2)


@pytest.mark.parametrize("activation", ["none", "relu", "sigmoid"])
@pytest.mark.parametrize("bias", [True, False])
def test_layers_in_a_row(activation: str, bias: bool) -> None:
    text = f"from apex.mlp import MLP\n\nmlp = MLP([4, 5, 2], bias={bias}, activation='{activation}')\n"
    torch.manual_seed(0)
    mlp = executed(migrated(text), {})["mlp"]
    names = ["weight_0", "bias_0", "weight_1", "bias_1"] if bias else ["weight_0", "weight_1"]
    assert list(mlp.state_dict()) == names
    inputs = torch.randn(3, 4)
    wanted = inputs
    for i in range(2):
        wanted = wanted @ getattr(mlp, f"weight_{i}").T + (getattr(mlp, f"bias_{i}") if bias else 0.0)
        wanted = {"none": wanted, "relu": wanted * (wanted > 0), "sigmoid": 1 / (1 + (-wanted).exp())}[activation]
    torch.testing.assert_close(mlp(inputs), wanted)


def test_weights_of_a_row_spread_by_both_widths() -> None:
    torch.manual_seed(0)
    mlp = executed(migrated("from apex.mlp import MLP\n\nmlp = MLP([300, 500])\n"), {})["mlp"]
    assert mlp.weight_0.std().item() == pytest.approx(math.sqrt(2 / 800), rel=0.02)
    assert mlp.bias_0.std().item() == pytest.approx(math.sqrt(1 / 500), rel=0.2)
