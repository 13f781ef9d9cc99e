"""Normalization, losses, clips and dense layers: trained as migrated text, beside their formulas."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from . import formulas
from .support import STEPS, assert_same, executed, migrated, moved, network, weights

SMALL = 3e-3  # so that variances are of the size of an epsilon
BATCHES = [one * SMALL for one in torch.randn(STEPS, 8, 2, 6, generator=torch.Generator().manual_seed(3)).double()]

LOOP = """
model = model.double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for inputs in batches:
    optimizer.zero_grad()
    (model(inputs) - 1.0).pow(2).mean().backward()
    optimizer.step()
"""
#: Where a layer comes from, how it is made, its epsilon, and over how many dimensions it goes.
LAYERS = [
    ("apex.normalization", "FusedLayerNorm(6)", 1e-5, 1),
    ("apex.normalization", "FusedLayerNorm(6, 1e-3)", 1e-3, 1),
    ("apex.normalization", "FusedLayerNorm((2, 6))", 1e-5, 2),
    ("apex.normalization.fused_layer_norm", "MixedFusedLayerNorm(6, eps=1e-4, memory_efficient=True)", 1e-4, 1),
    ("apex.contrib.layer_norm", "FastLayerNorm(6, 1e-4)", 1e-4, 1),
    ("apex.normalization", "FusedRMSNorm(6)", 1e-5, 1),
    ("apex.normalization", "MixedFusedRMSNorm(6, eps=1e-3)", 1e-3, 1),
]


@pytest.mark.parametrize(("module", "layer", "eps", "dims"), LAYERS, ids=[one[1] for one in LAYERS])
def test_layers_are_their_formulas(module: str, layer: str, eps: float, dims: int) -> None:
    words = f"import torch\nfrom torch import nn\nfrom {module} import {layer.partition('(')[0]}\n\n"
    text = migrated(f"{words}model = nn.Sequential({layer}, nn.Linear(6, 3))\n{LOOP}")
    torch.manual_seed(2)
    model = executed(text, {"batches": BATCHES})["model"]
    torch.manual_seed(2)
    linear = nn.Linear(6, 3).double()
    weight, bias = torch.ones((2, 6)[-dims:]).double(), torch.zeros((2, 6)[-dims:]).double()
    parameters = [weight] if "RMS" in layer else [weight, bias]
    parameters += linear.parameters()
    before = [one.requires_grad_().detach().clone() for one in parameters]
    rule = formulas.SGD(0.05, 0.9)
    for inputs in BATCHES:
        if "RMS" in layer:
            normal = formulas.rms_norm(inputs, weight, eps)
        else:
            normal = formulas.layer_norm(inputs, weight, bias, eps, dims)
        loss = ((linear(normal) - 1.0) ** 2).mean()
        with torch.no_grad():
            rule.step(parameters, torch.autograd.grad(loss, parameters))
    assert moved([one.detach() for one in parameters], before)
    assert_same(weights(model), [one.detach() for one in parameters])


@pytest.mark.parametrize("layer", ["FusedLayerNorm(6, elementwise_affine=False)", "FusedRMSNorm(6, 1e-5, False)"])
def test_layers_without_weights(layer: str) -> None:
    name = layer.partition("(")[0]
    space = executed(migrated(f"from apex.normalization import {name}\n\nnorm = {layer}\n"), {})
    found = space["norm"](BATCHES[0])
    wanted = (
        formulas.rms_norm(BATCHES[0], None, 1e-5)
        if "RMS" in layer
        else formulas.layer_norm(BATCHES[0], None, None, 1e-5)
    )
    assert not list(space["norm"].parameters())
    assert_same([found], [wanted])


def test_functions_are_their_formulas() -> None:
    text = migrated(
        "from apex.normalization.fused_layer_norm import (\n    fused_layer_norm, fused_layer_norm_affine,\n"
        "    fused_rms_norm, fused_rms_norm_affine,\n)\n\n"
        "found = [\n    fused_layer_norm(x, (6,)),\n    fused_layer_norm(x, (6,), 1e-3),\n"
        "    fused_layer_norm_affine(x, w, b, (6,)),\n    fused_layer_norm_affine(x, w, b, (6,), 1e-4),\n"
        "    fused_rms_norm(x, (6,)),\n    fused_rms_norm_affine(x, w, (6,), eps=1e-4),\n"
        "    fused_rms_norm_affine(normalized_shape=(6,), weight=w, input=x),\n]\n"
    )
    x, w, b = BATCHES[0], torch.arange(1.0, 7.0).double(), torch.arange(6.0).double()
    found = executed(text, {"x": x, "w": w, "b": b})["found"]
    wanted = [
        formulas.layer_norm(x, None, None, 1e-6),
        formulas.layer_norm(x, None, None, 1e-3),
        formulas.layer_norm(x, w, b, 1e-6),
        formulas.layer_norm(x, w, b, 1e-4),
        formulas.rms_norm(x, None, 1e-6),
        formulas.rms_norm(x, w, 1e-4),
        formulas.rms_norm(x, w, 1e-6),
    ]
    assert_same(found, wanted)


@pytest.mark.parametrize(("smoothing", "padding"), [("0.0", "0"), ("0.1", "0"), ("0.3", "-100"), ("0.1", "2")])
def test_cross_entropy_is_its_formula(smoothing: str, padding: str) -> None:
    text = migrated(
        "import torch\nfrom apex.contrib.xentropy import SoftmaxCrossEntropyLoss\n\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.3)\n"
        "for inputs, labels in batches:\n    optimizer.zero_grad()\n"
        f"    losses = SoftmaxCrossEntropyLoss.apply(model(inputs), labels, {smoothing}, {padding}, True)\n"
        "    losses.sum().div(8).backward()\n    optimizer.step()\n"
    )
    generator = torch.Generator().manual_seed(7)
    batches = [
        (torch.randn(8, 6, generator=generator), torch.randint(0, 3, (8,), generator=generator)) for _ in range(STEPS)
    ]
    for _, labels in batches:
        labels[0] = int(padding)
    model, double = network().float(), network().float()
    before = weights(model)
    losses = executed(text, {"model": model, "batches": batches})["losses"]
    assert losses.shape == (8,) and losses[0] == 0

    def loss(net: nn.Module, inputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return formulas.cross_entropy(net(inputs), labels, float(smoothing), int(padding)).sum() / 8

    formulas.trained(double, batches, formulas.SGD(0.3), loss)
    assert moved(weights(model), before)
    assert_same(weights(model), weights(double), tolerance=1e-5)


def test_padding_is_zero_where_nobody_says_it() -> None:
    text = migrated(
        "from apex.contrib import xentropy\n\nlosses = xentropy.SoftmaxCrossEntropyLoss.apply(logits, labels)\n"
    )
    logits, labels = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
    found = executed(text, {"logits": logits, "labels": labels})["losses"]
    assert_same([found], [formulas.cross_entropy(logits, labels, 0.0, 0)], tolerance=1e-5)
    assert found[0] == found[3] == 0


@pytest.mark.parametrize("bound", [0.05, 100.0])
def test_the_clip_is_its_formula(bound: float) -> None:
    text = migrated(
        "import torch\nfrom apex.contrib.clip_grad import clip_grad_norm_\n\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nnorms = []\n"
        "for inputs in batches:\n    optimizer.zero_grad()\n    (model(inputs) - 1.0).pow(2).mean().backward()\n"
        f"    norms.append(clip_grad_norm_(model.parameters(), {bound}))\n    optimizer.step()\n"
    )
    batches = [one[:, 0] / SMALL for one in BATCHES]
    model, double = network(), network()
    norms = executed(text, {"model": model, "batches": batches})["norms"]
    parameters, wanted = list(double.parameters()), []
    for inputs in batches:
        grads = torch.autograd.grad(((double(inputs) - 1.0) ** 2).mean(), parameters)
        norm = torch.sqrt(sum((g * g).sum() for g in grads))  # type: ignore[arg-type]
        wanted.append(norm)
        with torch.no_grad():
            for p, g in zip(parameters, grads, strict=True):
                p.sub_(0.1 * g * min(1.0, bound / (float(norm) + 1e-6)))
    assert_same(norms, wanted)
    assert_same(weights(model), weights(double))


def test_a_dense_layer_is_a_product() -> None:
    text = migrated(
        "from apex.fused_dense import FusedDense\n\nlayer = FusedDense(6, 3)\nbare = FusedDense(6, 3, bias=False)\n"
    )
    space = executed(text, {})
    x = torch.randn(4, 6)
    assert_same([space["layer"](x)], [x @ space["layer"].weight.T + space["layer"].bias], tolerance=1e-5)
    assert space["bare"].bias is None


def test_batch_norm_of_one_process_is_its_formula() -> None:
    text = migrated(
        "import apex\n\nmodel = apex.parallel.convert_syncbn_model(model)\n"
        "for inputs in batches:\n    outputs = model(inputs)\n"
    )
    model = nn.Sequential(nn.BatchNorm2d(3, eps=1e-3, momentum=0.3))
    batches = list(torch.randn(5, 4, 3, 2, 2, generator=torch.Generator().manual_seed(1)))
    space = executed(text, {"model": model, "batches": batches})
    mean, variance = torch.zeros(3), torch.ones(3)
    for x in batches:
        over, count = (0, 2, 3), x.numel() / 3
        now, spread = x.mean(over), (x * x).mean(over) - x.mean(over) ** 2
        mean, variance = 0.7 * mean + 0.3 * now, 0.7 * variance + 0.3 * spread * count / (count - 1)
    wanted = (x - now[None, :, None, None]) / torch.sqrt(spread[None, :, None, None] + 1e-3)
    norm = space["model"][0]
    assert type(norm) is nn.SyncBatchNorm
    assert norm.running_mean is not None and norm.running_var is not None
    assert_same([norm.running_mean, norm.running_var, space["outputs"]], [mean, variance, wanted], tolerance=1e-4)


@pytest.mark.parametrize("other", ["elif wide:\n    pass", "else:\n    if wide:\n        n\n    else:\n        m"])
def test_an_arm_with_a_block_of_its_own_is_not_the_same(other: str) -> None:
    """``if …: last = BatchNorm2d(n)`` beside an ``elif``: the text of that is no statement."""
    named = "import apex\nBatchNorm2d = apex.parallel.SyncBatchNorm\n"
    text = f"{named}if deep > 1:\n    last = BatchNorm2d(8)\n{other}\n"
    new = migrated(text)
    assert other in new and "apex" not in new
