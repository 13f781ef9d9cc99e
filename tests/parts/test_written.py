"""Classes that are written out in users' files, beside the formulas of Apex's kernels."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from migrate.engine import migrate_module
from migrate.model import Settings

from .support import executed

LAMB = "from apex.optimizers import FusedLAMB\noptimizer = FusedLAMB(parameters, lr=0.02, WORDS)\n"
NOVOGRAD = "from apex.optimizers import FusedNovoGrad\noptimizer = FusedNovoGrad(parameters, lr=0.02, WORDS)\n"
ADAM = (
    "from apex.optimizers import FusedAdam\n"
    "optimizer = FusedAdam(parameters, lr=0.02, bias_correction=False, WORDS)\n"
)
STEPS = 24


def made(text: str, words: str, parameters: Any) -> Any:
    """The optimizer that the migrated text makes of some parameters."""
    result = migrate_module(text.replace("WORDS", words), Settings())
    assert result.new_text is not None and "import apex" not in result.new_text and "from apex" not in result.new_text
    return executed(result.new_text, {"parameters": parameters})["optimizer"]


def tensors(seed: int = 0) -> tuple[list[nn.Parameter], list[list[torch.Tensor]]]:
    """Three weights (one of zeros) and the gradients of all steps, the first large enough to be clipped."""
    torch.manual_seed(seed)
    weights = [nn.Parameter(torch.randn(4, 3)), nn.Parameter(torch.zeros(3)), nn.Parameter(torch.randn(2))]
    grads = [[torch.randn_like(w) * (3 if step % 5 == 0 else 0.1) for w in weights] for step in range(STEPS)]
    return weights, grads


def trained(optimizer: Any, weights: list[nn.Parameter], grads: list[list[torch.Tensor]]) -> list[list[float]]:
    for step in grads:
        for weight, grad in zip(weights, step, strict=True):
            weight.grad = grad.clone()
        optimizer.step()
    return [weight.detach().flatten().tolist() for weight in weights]


def norm(values: list[float]) -> float:
    return math.sqrt(sum(value * value for value in values))


def lamb(weights: list[list[float]], grads: list[list[list[float]]], **options: Any) -> list[list[float]]:
    """You and others, arXiv 1904.00962, with the clip and the modes of csrc/multi_tensor_lamb.cu; plain numbers."""
    o = {"decay": 0.01, "adam_w": True, "averaging": True, "corrected": True, "most": 1.0, "nv": False, **options}
    b1, b2, eps, lr = 0.9, 0.999, 1e-6, 0.02
    m = [[0.0] * len(w) for w in weights]
    v = [[0.0] * len(w) for w in weights]
    for t, step in enumerate(grads, 1):
        clip = max(norm([x for g in step for x in g]) / o["most"], 1.0)
        c1, c2 = (1 - b1**t, 1 - b2**t) if o["corrected"] else (1.0, 1.0)
        for n, w in enumerate(weights):
            update = []
            for i, x in enumerate(step[n]):
                slope = x / clip + (0.0 if o["adam_w"] else o["decay"] * w[i])
                m[n][i] = b1 * m[n][i] + (1 - b1 if o["averaging"] else 1.0) * slope
                v[n][i] = b2 * v[n][i] + (1 - b2) * slope * slope
                one = (m[n][i] / c1) / (math.sqrt(v[n][i] / c2) + eps)
                update.append(one + (o["decay"] * w[i] if o["adam_w"] else 0.0))
            rate = lr
            if (o["nv"] or o["decay"]) and norm(w) and norm(update):
                rate = lr * norm(w) / norm(update)
            weights[n] = [a - rate * b for a, b in zip(w, update, strict=True)]
    return weights


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("", {}),
        ("weight_decay=0.0", {"decay": 0.0}),
        ("weight_decay=0.0, use_nvlamb=True", {"decay": 0.0, "nv": True}),
        ("adam_w_mode=False", {"adam_w": False}),
        ("grad_averaging=False, max_grad_norm=2.0", {"averaging": False, "most": 2.0}),
        ("bias_correction=False", {"corrected": False}),
    ],
)
def test_lamb(words: str, options: dict[str, Any]) -> None:
    weights, grads = tensors()
    plain = lamb([w.flatten().tolist() for w in weights], [[g.flatten().tolist() for g in s] for s in grads], **options)
    for found, wanted in zip(trained(made(LAMB, words, weights), weights, grads), plain, strict=True):
        assert found == pytest.approx(wanted, rel=1e-4, abs=1e-5)


def novograd(weights: list[list[float]], grads: list[list[list[float]]], **options: Any) -> list[list[float]]:
    """Ginsburg and others, arXiv 1905.11286, with the modes of csrc/multi_tensor_novograd.cu; plain numbers."""
    o = {"decay": 0.0, "inside": False, "averaging": True, "corrected": True, "kind": 2, "zero": False, **options}
    b1, b2, eps, lr = 0.9, 0.999, 1e-8, 0.02
    m = [[0.0] * len(w) for w in weights]
    size: list[float | None] = [0.0 if o["zero"] else None for _ in weights]
    for t, step in enumerate(grads, 1):
        c1, c2 = (1 - b1**t, math.sqrt(1 - b2**t)) if o["corrected"] else (1.0, 1.0)
        for n, w in enumerate(weights):
            now = norm(step[n]) if o["kind"] == 2 else max(map(abs, step[n]))
            was = size[n]
            if was is not None:
                now = math.sqrt(b2 * was**2 + (1 - b2) * now**2) if o["kind"] == 2 else b2 * was + (1 - b2) * now
            size[n] = now
            for i, x in enumerate(step[n]):
                below = now / c2 + eps
                slope = x / below + o["decay"] * w[i] if o["inside"] else x
                m[n][i] = b1 * m[n][i] + (1 - b1 if o["averaging"] else 1.0) * slope
                update = m[n][i] / c1
                if not o["inside"]:
                    update = update / below + o["decay"] * w[i]
                w[i] -= lr * update
    return weights


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("", {}),
        ("weight_decay=0.1", {"decay": 0.1}),
        ("weight_decay=0.1, reg_inside_moment=True", {"decay": 0.1, "inside": True}),
        ("norm_type=0, grad_averaging=False", {"kind": 0, "averaging": False}),
        ("init_zero=True, bias_correction=False", {"zero": True, "corrected": False}),
    ],
)
def test_novograd(words: str, options: dict[str, Any]) -> None:
    weights, grads = tensors()
    lists = [[g.flatten().tolist() for g in s] for s in grads]
    plain = novograd([w.flatten().tolist() for w in weights], lists, **options)
    for found, wanted in zip(trained(made(NOVOGRAD, words, weights), weights, grads), plain, strict=True):
        assert found == pytest.approx(wanted, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("clip", [0.0, 1.0])
@pytest.mark.parametrize("decoupled", [True, False])
def test_adam_without_bias_correction(clip: float, decoupled: bool) -> None:
    weights, grads = tensors()
    plain = [w.flatten().tolist() for w in weights]
    m, v = [[0.0] * len(w) for w in plain], [[0.0] * len(w) for w in plain]
    for step in grads:
        size = norm([x for g in step for x in g.flatten().tolist()])
        less = max((size + 1e-6) / clip, 1.0) if clip else 1.0
        for n, w in enumerate(plain):
            for i, x in enumerate(step[n].flatten().tolist()):
                slope = x / less + (0.0 if decoupled else 0.1 * w[i])
                m[n][i] = 0.9 * m[n][i] + 0.1 * slope
                v[n][i] = 0.999 * v[n][i] + 0.001 * slope * slope
                w[i] -= 0.02 * (m[n][i] / (math.sqrt(v[n][i]) + 1e-8) + (0.1 * w[i] if decoupled else 0.0))
    words = f"weight_decay=0.1, adam_w_mode={decoupled}" + (f", max_grad_norm={clip}" if clip else "")
    for found, wanted in zip(trained(made(ADAM, words, weights), weights, grads), plain, strict=True):
        assert found == pytest.approx(wanted, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("corrected", [False, True])
def test_adam_that_clips_as_the_one_of_contrib(corrected: bool, inside: bool) -> None:
    weights, grads = tensors()
    plain = [w.flatten().tolist() for w in weights]
    m, v = [[0.0] * len(w) for w in plain], [[0.0] * len(w) for w in plain]
    for t, step in enumerate(grads, 1):
        size = norm([x for g in step for x in g.flatten().tolist()])
        less = max((size + 1e-6) / 0.5, 1.0)
        rate = 0.02 * math.sqrt(1 - 0.999**t) / (1 - 0.9**t) if corrected else 0.02
        for n, w in enumerate(plain):
            for i, x in enumerate(step[n].flatten().tolist()):
                m[n][i] = 0.9 * m[n][i] + 0.1 * x / less
                v[n][i] = 0.999 * v[n][i] + 0.001 * (x / less) ** 2
                root = math.sqrt(v[n][i] + 1e-4) if inside else math.sqrt(v[n][i]) + 1e-4
                w[i] -= rate * (m[n][i] / root + 0.1 * w[i])
    words = f"eps=1e-4, weight_decay=0.1, max_grad_norm=0.5, bias_correction={corrected}, eps_inside_sqrt={inside}"
    text = f"from apex.contrib.optimizers import FusedAdam\noptimizer = FusedAdam(parameters, lr=0.02, {words})\n"
    for found, wanted in zip(trained(made(text, "", weights), weights, grads), plain, strict=True):
        assert found == pytest.approx(wanted, rel=1e-4, abs=1e-5)


def test_a_step_without_gradients_does_nothing() -> None:
    for text in (LAMB, NOVOGRAD, ADAM):
        weight = nn.Parameter(torch.ones(3))
        optimizer = made(text, "weight_decay=0.1", [weight])
        optimizer.step()
        assert weight.tolist() == [1.0, 1.0, 1.0]


HALF = """
from apex.MODULE import FP16_Optimizer
optimizer = FP16_Optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), WORDS)
"""


@pytest.mark.parametrize("module", ["fp16_utils", "optimizers", "contrib.optimizers"])
@pytest.mark.parametrize("words", ["dynamic_loss_scale=True", "static_loss_scale=128.0"])
def test_master_weights(module: str, words: str) -> None:
    """Half weights follow float32 copies, trained as if there were no scale; an overflow is skipped and halves it."""
    torch.manual_seed(0)
    model = nn.Linear(4, 2).half()
    master = nn.Linear(4, 2)
    master.load_state_dict({key: value.float() for key, value in model.state_dict().items()})
    plain = torch.optim.SGD(master.parameters(), lr=0.1, momentum=0.9)
    text = migrate_module(HALF.replace("MODULE", module).replace("WORDS", words), Settings()).new_text
    assert text is not None
    optimizer = executed(text, {"torch": torch, "model": model})["optimizer"]
    for step in range(12):
        x = torch.randn(5, 4).half()
        overflow = step == 6 and "dynamic" in words
        optimizer.zero_grad()
        loss = model(x).float().pow(2).mean()
        optimizer.backward(loss * (1e8 if overflow else 1.0))
        grads = [p.grad.float() for p in model.parameters() if p.grad is not None]
        scale = 2.0**16 if "dynamic" in words else 128.0
        scale = scale / 2 if step > 6 and "dynamic" in words else scale
        optimizer.step()
        if not overflow:
            for p, grad in zip(master.parameters(), grads, strict=True):
                p.grad = grad / scale
            plain.step()
        for p, q in zip(model.parameters(), master.parameters(), strict=True):
            torch.testing.assert_close(p, q.half())
    held = optimizer.loss_scale if module == "fp16_utils" else optimizer.cur_scale
    assert held == (2.0**15 if "dynamic" in words else 128.0)
    again = executed(text, {"torch": torch, "model": nn.Linear(4, 2).half()})["optimizer"]
    again.load_state_dict(optimizer.state_dict())
    assert again.state_dict().keys() == optimizer.state_dict().keys()
