"""What the double has beside amp: each part beside its formula, in this process, and in two of them.

test_double_against_apex.py holds beside Apex's own Python code what of it runs without a GPU.
"""

from __future__ import annotations

import copy
import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from migrate.verify.running import DOUBLE
from tests.equivalence.test_double import _forget
from tests.parts import formulas
from tests.parts.formulas import SGD, Adagrad, Adam, Rule
from tests.parts.test_ddp import PROGRAMS, play
from tests.parts.test_written import lamb, norm, novograd, tensors
from tests.parts.worker import PROCESSES

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def apex(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The double, fresh, and gone afterwards."""
    before = _forget()
    monkeypatch.syspath_prepend(str(DOUBLE))
    yield importlib.import_module("apex")
    _forget()
    for name in ("amp_C", "apex_C"):
        sys.modules.pop(name, None)
    sys.modules.update(before)


def trained(optimizer: Any, weights: list[nn.Parameter], grads: list[list[torch.Tensor]]) -> list[list[float]]:
    for step in grads:
        for weight, grad in zip(weights, step, strict=True):
            weight.grad = grad.clone()
        optimizer.step()
    return [weight.detach().flatten().tolist() for weight in weights]


def same(found: list[list[float]], wanted: list[list[float]]) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)


# ---------------------------------------------------------------- optimizers

RULES: list[tuple[str, dict[str, Any], Rule]] = [
    ("FusedAdam", {}, Adam()),
    ("FusedAdam", {"lr": 0.02, "weight_decay": 0.3, "betas": (0.8, 0.99), "eps": 1e-4},
     Adam(0.02, (0.8, 0.99), 1e-4, 0.3)),
    ("FusedAdam", {"lr": 0.02, "weight_decay": 0.3, "adam_w_mode": False}, Adam(0.02, decay=0.3, decoupled=False)),
    ("FusedAdam", {"lr": 0.02, "weight_decay": 0.3, "bias_correction": False}, Adam(0.02, decay=0.3, corrected=False)),
    ("FusedAdam", {"lr": 0.02, "weight_decay": 0.3, "bias_correction": False, "adam_w_mode": False},
     Adam(0.02, decay=0.3, decoupled=False, corrected=False)),
    ("FusedSGD", {"lr": 0.02}, SGD(0.02)),
    ("FusedSGD", {"lr": 0.02, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}, SGD(0.02, 0.9, 0.3, 0.1)),
    ("FusedSGD", {"lr": 0.02, "momentum": 0.9, "weight_decay": 0.1, "nesterov": True}, SGD(0.02, 0.9, 0.0, 0.1, True)),
    ("FusedAdagrad", {}, Adagrad()),
    ("FusedAdagrad", {"lr": 0.05, "eps": 1e-4, "weight_decay": 0.1}, Adagrad(0.05, 1e-4, 0.1)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "rule"), RULES, ids=[f"{one[0]}-{at}" for at, one in enumerate(RULES)])
def test_optimizers_are_their_formulas(apex: Any, name: str, options: dict[str, Any], rule: Rule) -> None:
    weights, grads = tensors()
    twins = [one.detach().double() for one in weights]
    optimizer = getattr(apex.optimizers, name)(weights, **options)
    found = trained(optimizer, weights, grads)
    for step in grads:
        rule.step(twins, [one.double() for one in step])
    same(found, [one.flatten().tolist() for one in twins])


def test_sgd_with_decay_behind_the_momentum(apex: Any) -> None:
    weights, grads = tensors()
    twins = [one.detach().double() for one in weights]
    found = trained(
        apex.optimizers.FusedSGD(weights, 0.02, 0.9, weight_decay=0.3, wd_after_momentum=True), weights, grads
    )
    velocity = [torch.zeros_like(one) for one in twins]
    for step in grads:
        for n, grad in enumerate(step):
            velocity[n] = 0.9 * velocity[n] + grad
            twins[n] = twins[n] - 0.02 * (velocity[n] + 0.3 * twins[n])
    same(found, [one.flatten().tolist() for one in twins])


def test_adagrad_with_decay_beside_the_step(apex: Any) -> None:
    weights, grads = tensors()
    twins = [one.detach().double() for one in weights]
    found = trained(apex.optimizers.FusedAdagrad(weights, 0.02, weight_decay=0.3, adagrad_w_mode=True), weights, grads)
    squares = [torch.zeros_like(one) for one in twins]
    for step in grads:
        for n, grad in enumerate(step):
            squares[n] = squares[n] + grad * grad
            twins[n] = twins[n] - 0.02 * (grad / (squares[n].sqrt() + 1e-10) + 0.3 * twins[n])
    same(found, [one.flatten().tolist() for one in twins])


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ({}, {}),
        ({"weight_decay": 0.0}, {"decay": 0.0}),
        ({"weight_decay": 0.0, "use_nvlamb": True}, {"decay": 0.0, "nv": True}),
        ({"adam_w_mode": False}, {"adam_w": False}),
        ({"grad_averaging": False, "max_grad_norm": 2.0}, {"averaging": False, "most": 2.0}),
        ({"bias_correction": False}, {"corrected": False}),
    ],
)
def test_lamb(apex: Any, words: dict[str, Any], options: dict[str, Any]) -> None:
    weights, grads = tensors()
    plain = [w.flatten().tolist() for w in weights]
    wanted = lamb(plain, [[g.flatten().tolist() for g in step] for step in grads], **options)
    same(trained(apex.optimizers.FusedLAMB(weights, lr=0.02, **words), weights, grads), wanted)


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ({}, {}),
        ({"weight_decay": 0.1}, {"decay": 0.1}),
        ({"weight_decay": 0.1, "reg_inside_moment": True}, {"decay": 0.1, "inside": True}),
        ({"norm_type": 0, "grad_averaging": False}, {"kind": 0, "averaging": False}),
        ({"init_zero": True, "bias_correction": False}, {"zero": True, "corrected": False}),
    ],
)
def test_novograd(apex: Any, words: dict[str, Any], options: dict[str, Any]) -> None:
    weights, grads = tensors()
    plain = [w.flatten().tolist() for w in weights]
    wanted = novograd(plain, [[g.flatten().tolist() for g in step] for step in grads], **options)
    same(trained(apex.optimizers.FusedNovoGrad(weights, lr=0.02, **words), weights, grads), wanted)


NAMES = ("FusedAdam", "FusedSGD", "FusedLAMB", "FusedNovoGrad", "FusedAdagrad")


@pytest.mark.parametrize("name", NAMES)
def test_what_all_optimizers_do(apex: Any, name: str) -> None:
    """No gradient, no step; a closure is called under gradients; state goes into another one; no arguments to zero."""
    weights, grads = tensors()
    alone = nn.Parameter(torch.ones(2))
    make = getattr(apex.optimizers, name)
    optimizer = make([{"params": weights}, {"params": [alone], "lr": 0.5}], lr=0.02)
    for weight, grad in zip(weights, grads[0], strict=True):
        weight.grad = grad.clone()
    asked = []
    assert optimizer.step(lambda: asked.append(torch.is_grad_enabled()) or 7) == 7
    assert asked == [True] and alone.tolist() == [1.0, 1.0]
    twins = [nn.Parameter(one.detach().clone()) for one in weights]
    other = make([{"params": twins}, {"params": [nn.Parameter(torch.ones(2))]}], lr=0.3)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    same(trained(other, twins, grads[1:]), trained(optimizer, weights, grads[1:]))
    optimizer.zero_grad()
    assert all(one.grad is None for one in weights)
    with pytest.raises(TypeError):
        optimizer.zero_grad(set_to_none=True)


@pytest.mark.parametrize("name", ["FusedAdam", "FusedLAMB", "FusedNovoGrad", "FusedAdagrad"])
def test_types_that_apex_has_no_kernel_for(apex: Any, name: str) -> None:
    param = nn.Parameter(torch.ones(2, dtype=torch.float64))
    optimizer = getattr(apex.optimizers, name)([param])
    param.grad = torch.ones_like(param)
    with pytest.raises(RuntimeError, match="only support fp16 and fp32"):
        optimizer.step()


def test_sgd_leaves_other_types_alone_without_a_word(apex: Any) -> None:
    param = nn.Parameter(torch.ones(2, dtype=torch.float64))
    param.grad = torch.ones_like(param)
    apex.optimizers.FusedSGD([param], 0.1).step()
    assert param.tolist() == [1.0, 1.0]


def test_what_optimizers_refuse(apex: Any) -> None:
    weights, _ = tensors()
    for name in ("FusedAdam", "FusedLAMB", "FusedNovoGrad"):
        with pytest.raises(RuntimeError, match="AMSGrad"):
            getattr(apex.optimizers, name)(weights, amsgrad=True)
    with pytest.raises(RuntimeError, match="has been updated"):
        apex.optimizers.FusedAdam(weights).step(scale=2.0)
    with pytest.raises(ValueError, match="Nesterov"):
        apex.optimizers.FusedSGD(weights, 0.1, nesterov=True)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("clip", [0.0, 0.5])
def test_contrib_adam_behind_its_masters(apex: Any, inside: bool, clip: float) -> None:
    """csrc/optimizers/fused_adam_cuda_kernel.cu: the correction is part of the rate, also of the decay's."""
    parts: Any = importlib.import_module("apex.contrib.optimizers")
    weights, grads = tensors()
    halves = [nn.Parameter(one.detach().half()) for one in weights]
    w = [one.detach().double() for one in halves]
    m, v = [torch.zeros_like(one) for one in w], [torch.zeros_like(one) for one in w]
    inner = parts.FusedAdam(halves, 0.02, eps=1e-3, eps_inside_sqrt=inside, weight_decay=0.1, max_grad_norm=clip)
    optimizer = parts.FP16_Optimizer(inner, dynamic_loss_scale=True)
    taken = 0
    for number, step in enumerate(grads):
        optimizer.zero_grad()
        assert optimizer.cur_scale == (2.0**16 if number <= 6 else 2.0**15)
        factor = 1e9 if number == 6 else 2.0**-12  # so that scaled gradients fit into half precision
        optimizer.backward(sum((p.float() * g * factor).sum() for p, g in zip(halves, step, strict=True)))
        scaled = [p.grad.double() for p in halves if p.grad is not None]
        optimizer.step()
        if number == 6:
            continue
        taken += 1
        less = [one / 2.0 ** (16 if number < 6 else 15) for one in scaled]
        size = norm([x for one in less for x in one.flatten().tolist()])
        less = [one / max((size + 1e-6) / clip, 1.0) if clip else one for one in less]
        rate = 0.02 * (1 - 0.999**taken) ** 0.5 / (1 - 0.9**taken)
        for n, g in enumerate(less):
            m[n], v[n] = 0.9 * m[n] + 0.1 * g, 0.999 * v[n] + 0.001 * g * g
            below = (v[n] + 1e-3).sqrt() if inside else v[n].sqrt() + 1e-3
            w[n] = w[n] - rate * (m[n] / below + 0.1 * w[n])
    masters = [one for group in optimizer.fp32_groups for one in group]
    same([one.flatten().tolist() for one in masters], [one.flatten().tolist() for one in w])
    assert all(torch.equal(p, q.half()) for p, q in zip(halves, masters, strict=True))
    again = parts.FP16_Optimizer(parts.FusedAdam([nn.Parameter(torch.zeros_like(p)) for p in halves]), 4.0)
    again.load_state_dict(optimizer.state_dict())
    assert again.cur_scale == 2.0**15 and torch.equal(again.fp32_groups[0][0], masters[0])


# ---------------------------------------------------------------- layers and functions

LAYERS = [
    ("normalization", "FusedLayerNorm", (6,), 1e-5, 1),
    ("normalization", "FusedLayerNorm", ((2, 6), 1e-3), 1e-3, 2),
    ("normalization", "MixedFusedLayerNorm", (6, 1e-4), 1e-4, 1),
    ("contrib.layer_norm", "FastLayerNorm", (6, 1e-4), 1e-4, 1),
    ("normalization", "FusedRMSNorm", (6,), 1e-5, 1),
    ("normalization", "MixedFusedRMSNorm", (6, 1e-3), 1e-3, 1),
]


@pytest.mark.parametrize(("module", "name", "words", "eps", "dims"), LAYERS, ids=[one[1] for one in LAYERS])
def test_layers_are_their_formulas(apex: Any, module: str, name: str, words: Any, eps: float, dims: int) -> None:
    layer = getattr(importlib.import_module(f"apex.{module}"), name)(*words)
    assert not isinstance(layer, nn.LayerNorm), "with Apex it is not one of torch's"
    inputs = torch.randn(4, 2, 6, generator=torch.Generator().manual_seed(1)) * 3e-3
    weight = torch.arange(1.0, 1 + layer.weight.numel()).reshape(layer.weight.shape)
    assert torch.equal(layer.weight, torch.ones_like(weight))
    layer.weight.data.copy_(weight)
    if "RMS" in name:
        assert list(layer.state_dict()) == ["weight"]
        wanted = formulas.rms_norm(inputs, weight, eps)
    else:
        assert list(layer.state_dict()) == ["weight", "bias"]
        layer.bias.data.fill_(0.25)
        wanted = formulas.layer_norm(inputs, weight, torch.full_like(weight, 0.25), eps, dims)
    torch.testing.assert_close(layer(inputs), wanted, rtol=1e-5, atol=1e-5)


def test_normalization_without_weights_and_as_functions(apex: Any) -> None:
    inputs = torch.randn(4, 6, generator=torch.Generator().manual_seed(1)) * 3e-3
    module = importlib.import_module("apex.normalization.fused_layer_norm")
    weight, bias = torch.full((6,), 2.0), torch.full((6,), 0.5)
    plain, affine = (formulas.layer_norm(inputs, w, b, 1e-6) for w, b in ((None, None), (weight, bias)))
    root, rooted = formulas.rms_norm(inputs, None, 1e-6), formulas.rms_norm(inputs, weight, 1e-6)
    for found, wanted in (
        (module.FusedLayerNorm(6, 1e-6, False)(inputs), plain),
        (module.FusedRMSNorm(6, 1e-6, elementwise_affine=False)(inputs), root),
        (module.fused_layer_norm(inputs, (6,)), plain),
        (module.fused_layer_norm_affine(inputs, weight, bias, (6,)), affine),
        (module.fused_rms_norm(inputs, (6,)), root),
        (module.fused_rms_norm_affine(inputs, weight, (6,)), rooted),
        (module.FusedLayerNormAffineFunction.apply(inputs, weight, bias, (6,), 1e-6), affine),
    ):
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)
    with pytest.raises(RuntimeError, match="elementwise_affine = False"), pytest.warns(UserWarning):
        module.MixedFusedLayerNorm(6, elementwise_affine=False)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("padding", [0, 3, -1])
def test_cross_entropy(apex: Any, smoothing: float, padding: int) -> None:
    loss = importlib.import_module("apex.contrib.xentropy").SoftmaxCrossEntropyLoss
    torch.manual_seed(4)
    logits, labels = torch.randn(12, 5, dtype=torch.float64, requires_grad=True), torch.arange(12) % 5
    labels[5] = padding if padding < 0 else labels[5]
    logits = logits.detach().float().requires_grad_()
    found = loss.apply(logits, labels, smoothing, padding)
    wanted = formulas.cross_entropy(logits.detach().double(), labels, smoothing, padding)
    torch.testing.assert_close(found.detach().double(), wanted, rtol=1e-5, atol=1e-5)
    assert (found == 0).any()
    if not smoothing and padding >= 0:
        torch.testing.assert_close(loss.apply(logits, labels), loss.apply(logits, labels, 0.0, 0))


def test_dense_layers_and_mlp(apex: Any) -> None:
    dense = importlib.import_module("apex.fused_dense")
    x = torch.randn(3, 4, generator=torch.Generator().manual_seed(2))
    one, two = dense.FusedDense(4, 5), dense.FusedDenseGeluDense(4, 6, 2)
    for param in [*one.parameters(), *two.parameters()]:
        param.data = torch.linspace(-1, 1, param.numel()).reshape(param.shape)
    torch.testing.assert_close(one(x), x @ one.weight.T + one.bias)
    h = x @ two.weight1.T + two.bias1
    h = 0.5 * h * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (h + 0.044715 * h**3)))
    torch.testing.assert_close(two(x), h @ two.weight2.T + two.bias2)
    assert dense.FusedDense(4, 5, bias=False).bias is None

    mlp = importlib.import_module("apex.mlp").MLP([4, 8, 3])
    assert list(mlp.state_dict()) == ["weight_0", "bias_0", "weight_1", "bias_1"]
    inside = (x @ mlp.weight_0.T + mlp.bias_0).clamp(min=0)
    torch.testing.assert_close(mlp(x), (inside @ mlp.weight_1.T + mlp.bias_1).clamp(min=0))
    bare = importlib.import_module("apex.mlp").MLP([4, 3], bias=False, activation="none")
    torch.testing.assert_close(bare(x), x @ bare.weight_0.T)


def test_many_tensors_at_once(apex: Any) -> None:
    kernels: Any = importlib.import_module("amp_C")
    apply = apex.multi_tensor_apply.multi_tensor_applier
    assert apply.available
    flag = torch.zeros(1, dtype=torch.int32)
    lists = [torch.tensor([3.0]), torch.tensor([[4.0], [0.0]])]
    whole, each = apply(kernels.multi_tensor_l2norm, flag, [lists], True)
    assert whole.tolist() == [5.0] and each.tolist() == [3.0, 4.0]
    out = [torch.empty_like(one) for one in lists]
    apply(kernels.multi_tensor_scale, flag, [lists, out], 2.0)
    apply(kernels.multi_tensor_axpby, flag, [out, lists, out], 1.0, -1.0, 0)
    assert [one.flatten().tolist() for one in out] == [[3.0], [4.0, 0.0]] and flag.item() == 0
    apply(kernels.multi_tensor_scale, flag, [[torch.tensor([float("inf")])], [torch.empty(1)]], 2.0)
    assert flag.item() == 1
    flat: Any = importlib.import_module("apex_C")
    assert [one.tolist() for one in flat.unflatten(flat.flatten(lists), lists)] == [one.tolist() for one in lists]


def test_clip(apex: Any) -> None:
    weights, grads = tensors()
    for weight, grad in zip(weights, grads[0], strict=True):
        weight.grad = grad.clone()
    size = norm([x for g in grads[0] for x in g.flatten().tolist()])
    clip = importlib.import_module("apex.contrib.clip_grad").clip_grad_norm_
    assert float(clip(weights, 0.5)) == pytest.approx(size, rel=1e-5)
    left = norm([x for w in weights if w.grad is not None for x in w.grad.flatten().tolist()])
    assert left == pytest.approx(0.5, rel=1e-4)


# ---------------------------------------------------------------- processes


BATCH_NORM = """
import apex
import torch

whole = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
layer = apex.parallel.convert_syncbn_model(torch.nn.Sequential(torch.nn.BatchNorm1d(4, momentum=0.3))).double()
model = layer
x = whole[rank, : 6 if rank else 4].clone().requires_grad_()
y = layer(x)
(y * (y + rank)).sum().backward()
size = apex.parallel.create_syncbn_process_group
said = {
    "x": x.grad, "y": y.detach(), "weight": layer[0].weight.grad, "kind": type(layer[0]).__name__,
    "mean": layer[0].running_mean, "var": layer[0].running_var,
    "groups": [torch.distributed.get_process_group_ranks(size(1)), size(0)],
}
"""
REDUCER = """
import torch
from apex.parallel import Reducer

reducer = Reducer(model)
for inputs, targets in batches:
    optimizer.zero_grad()
    (model(inputs) - targets).pow(2).mean().backward()
    reducer.reduce()
    optimizer.step()
lists = [[torch.full((2,), float(rank))], torch.full((1,), 4.0 * rank)]
Reducer(lists).reduce()
said = [lists[0][0].tolist(), lists[1].tolist()]
"""
SUMMED = """
import torch
from apex.parallel import DistributedDataParallel

module = torch.nn.Linear(2, 1, bias=False)
model = DistributedDataParallel(module, gradient_average=False, gradient_predivide_factor=2.0)
model(torch.full((1, 2), 1.0 + rank)).sum().backward()
said = [module.weight.grad.tolist()]
model.disable_allreduce()
module.weight.grad = None
model(torch.full((1, 2), 1.0 + rank)).sum().backward()
said.append(module.weight.grad.tolist())
model.enable_allreduce()
y = model(torch.full((1, 2), 1.0 + rank)).sum()
y.backward(retain_graph=True)
try:
    y.backward()
except RuntimeError as error:
    said.append("already-filled" in str(error))
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What two processes came to, by program."""
    folder = tmp_path_factory.mktemp("processes")
    programs = {**PROGRAMS, "batch norm": BATCH_NORM, "reducer": REDUCER, "summed": SUMMED}
    for name, text in programs.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.parts.worker", str(rank), str(PROCESSES), str(folder)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(DOUBLE), "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(PROCESSES)
    ]
    try:
        printed = [one.communicate(timeout=120)[0] for one in workers]
    finally:
        for one in workers:
            one.kill()
    assert all(one.returncode == 0 for one in workers), printed
    return {name: [torch.load(folder / f"{name}.{rank}.pt") for rank in range(PROCESSES)] for name in programs}


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_processes_train_as_with_apex(two: dict[str, list[Any]], name: str) -> None:
    for model, found in zip(play(name), two[name], strict=True):
        for key, value in model.state_dict().items():
            torch.testing.assert_close(found["state"][key], value, rtol=1e-9, atol=1e-9, msg=key)


def test_a_reducer_averages_when_it_is_asked(two: dict[str, list[Any]]) -> None:
    for model, found in zip(play("plain"), two["reducer"], strict=True):
        for key, value in model.state_dict().items():
            torch.testing.assert_close(found["state"][key], value, rtol=1e-9, atol=1e-9, msg=key)
        assert found["said"] == [[0.5, 0.5], [2.0]]


def test_gradients_that_are_summed_and_kept_apart(two: dict[str, list[Any]]) -> None:
    for rank, found in enumerate(two["summed"]):
        assert found["said"] == [[[1.5, 1.5]], [[1.0 + rank] * 2], True]


def test_batch_norm_over_both_processes(two: dict[str, list[Any]]) -> None:
    """As one batch norm over both halves, though these are not of one size."""
    whole = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    plain = nn.BatchNorm1d(4, momentum=0.3).double()
    x = torch.cat([whole[0, :4], whole[1]]).requires_grad_()
    y = plain(x)
    (y * (y + torch.tensor([0.0] * 4 + [1.0] * 6).double()[:, None])).sum().backward()
    assert x.grad is not None and plain.weight.grad is not None
    first, second = (one["said"] for one in two["batch norm"])
    assert first["kind"] == "SyncBatchNorm"
    assert [first["groups"], second["groups"]] == [[[0], None], [[1], None]]
    near: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}
    torch.testing.assert_close(torch.cat([first["y"], second["y"]]), y.detach(), **near)
    torch.testing.assert_close(torch.cat([first["x"], second["x"]]), x.grad, **near)
    torch.testing.assert_close(first["weight"] + second["weight"], plain.weight.grad, **near)
    for one in (first, second):
        torch.testing.assert_close(one["mean"], plain.running_mean, **near)
        torch.testing.assert_close(one["var"], plain.running_var, **near)


def test_one_process_alone(apex: Any) -> None:
    """Nothing is exchanged, and batch norm is torch's to the last bit."""
    net: Any = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.InstanceNorm2d(4))
    net[1].weight.data.uniform_()
    twin = copy.deepcopy(net)
    net = apex.parallel.convert_syncbn_model(net)
    assert type(net[1]) is apex.parallel.SyncBatchNorm and not isinstance(net[1], nn.BatchNorm2d)
    assert net.state_dict().keys() == twin.state_dict().keys()
    wrapped = apex.parallel.DistributedDataParallel(net, delay_allreduce=True)
    x = torch.randn(2, 3, 4, 4)
    assert torch.equal(wrapped(x), twin(x))
    assert torch.equal(net[1].running_var, twin[1].running_var)
    assert torch.equal(wrapped.eval()(x), twin.eval()(x))
    last = apex.parallel.SyncBatchNorm(3, channel_last=True, fuse_relu=True)
    plain = nn.BatchNorm2d(3)
    torch.testing.assert_close(last(x.movedim(1, -1)), plain(x).clamp(min=0).movedim(1, -1))
    apex.parallel.Reducer(net).reduce()
    with pytest.raises(ValueError, match="shared_param"):
        apex.parallel.DistributedDataParallel(net, shared_param=True)
