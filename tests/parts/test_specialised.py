"""Classes that are written out for what a program uses, beside the whole ones: the same weights, states and scales."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from importlib import resources
from itertools import chain, combinations, product
from typing import Any

import pytest
import torch
from torch import nn

from migrate.parts.specialised import WIDTH, Known, specialised

STEPS = 5


def template(module: str) -> str:
    text = (resources.files("migrate.parts.written") / f"{module}.py").read_text(encoding="utf-8")
    return text[text.index("class ") :].rstrip("\n")


def made(text: str) -> Any:
    space: dict[str, Any] = {"torch": torch}
    exec(compile(text, "written.py", "exec"), space)
    return next(one for name, one in space.items() if isinstance(one, type))


def subsets(names: list[str]) -> Iterator[tuple[str, ...]]:
    """All of some names, or of many none, each, and all."""
    counts = range(len(names) + 1) if len(names) < 4 else (0, 1, len(names))
    return chain.from_iterable(combinations(names, count) for count in counts)


def parameters(kind: torch.dtype) -> list[nn.Parameter]:
    torch.manual_seed(0)
    made = [nn.Parameter(one.to(kind)) for one in (torch.randn(4, 3), torch.zeros(3), torch.randn(2), torch.ones(1))]
    made[3].requires_grad_(False)
    return made


def groups(weights: list[nn.Parameter]) -> list[dict[str, Any]]:
    return [{"params": weights[:1]}, {"params": weights[1:], "weight_decay": 0.1, "lr": 0.05}]


def trained(optimizer: Any, weights: list[nn.Parameter]) -> list[torch.Tensor]:
    """The weights and states behind some steps; one of them clips, in one a gradient is missing."""
    generator = torch.Generator().manual_seed(1)
    for step in range(STEPS):
        for number, weight in enumerate(weights[:3]):
            grad = torch.randn(weight.shape, generator=generator) * (5 if step == 1 else 0.1)
            weight.grad = None if (step, number) == (2, 1) else grad.to(weight.dtype)
        optimizer.step()
    states = [one for weight in weights[:3] for one in optimizer.state[weight].values() if torch.is_tensor(one)]
    return [one.detach().clone() for one in (*weights, *states)]


def assert_equal(found: list[torch.Tensor], wanted: list[torch.Tensor]) -> None:
    assert len(found) == len(wanted)
    assert all(torch.equal(one, other) and one.dtype == other.dtype for one, other in zip(found, wanted, strict=True))


OPTIONS: dict[str, dict[str, list[Any]]] = {
    "adam": {"bias_correction": [True, False], "adam_w_mode": [True, False], "max_grad_norm": [0.0, 1.0]},
    "adam_contrib": {"bias_correction": [True, False], "eps_inside_sqrt": [True, False], "max_grad_norm": [0.0, 1.0]},
    "lamb": {
        "bias_correction": [True, False],
        "adam_w_mode": [True, False],
        "grad_averaging": [True, False],
        "use_nvlamb": [True, False],
    },
    "novograd": {
        "bias_correction": [True, False],
        "reg_inside_moment": [True, False],
        "grad_averaging": [True, False],
        "norm_type": [0, 2],
        "init_zero": [True, False],
    },
}
CLOSURE = frozenset({("step", "closure")})
LEFT = {"betas": (0.9, 0.999), "weight_decay": 0.01, "amsgrad": False}


@pytest.mark.parametrize("module", OPTIONS)
def test_an_optimizer_without_what_is_not_used_computes_the_same(module: str) -> None:
    names, whole = list(OPTIONS[module]), made(template(module))
    for values in product(*OPTIONS[module].values()):
        options = dict(zip(names, values, strict=True))
        weights = parameters(torch.float32)
        wanted = trained(whole(groups(weights), lr=0.02, **LEFT, **options), weights)
        for gone in subsets(names):
            given = {name: value for name, value in options.items() if name not in gone}
            for keys, idle in product([frozenset[str](), frozenset(names)], [frozenset(), CLOSURE]):
                known = Known(
                    {**LEFT, **options},
                    frozenset({*gone, *LEFT}),
                    keys,
                    idle,
                    asked=lambda name: False,
                    grouped=frozenset({*names} - keys).__contains__,
                )
                text = specialised(template(module), known)
                weights = parameters(torch.float32)
                assert_equal(trained(made(text)(groups(weights), lr=0.02, **given), weights), wanted)
                assert max(map(len, text.splitlines()[3:])) <= WIDTH


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_adam_keeps_what_half_weights_need(kind: torch.dtype) -> None:
    values = {"bias_correction": False, "max_grad_norm": 1.0, "adam_w_mode": True}
    known = Known(
        values, frozenset(values), frozenset(values), asked=lambda name: False, grouped=lambda key: False
    )
    results = []
    for text, given in ((template("adam"), values), (specialised(template("adam"), known), {})):
        weights = parameters(kind)
        results.append(trained(made(text)(groups(weights), lr=0.02, **given), weights))
    assert_equal(*results)


MEMBERS = ["param_groups", "param_groups=", "zero_grad", "state_dict", "load_state_dict", "clip_master_grads"]
SCALES = [
    ({"dynamic_loss_scale": True}, {}),
    ({"dynamic_loss_scale": True}, {"verbose": False}),
    ({"dynamic_loss_scale": False}, {"static_loss_scale": 128.0}),
    ({"dynamic_loss_scale": True, "dynamic_loss_args": {"init_scale": 2.0**10}}, {}),
    ({"dynamic_loss_scale": True, "dynamic_loss_args": {"scale_window": 2, "min_loss_scale": 2.0**15}}, {}),
]
IDLE = frozenset(
    {
        ("step", "closure"),
        ("zero_grad", "set_grads_to_None"),
        ("backward", "update_master_grads"),
        ("backward", "retain_graph"),
        ("clip_master_grads", "norm_type"),
    }
)


def half_trained(optimizer: Any, model: nn.Module, clips: bool) -> list[torch.Tensor]:
    """Weights and copies behind some steps, one of which overflows; the copies that an optimizer steps come last."""
    torch.manual_seed(2)
    for step in range(8):
        loss = model(torch.randn(5, 4).half()).float().pow(2).mean()
        for p in model.parameters():
            p.grad = None
        optimizer.backward(loss * (1e8 if step == 3 and optimizer.dynamic else 1.0))
        if clips:
            optimizer.clip_master_grads(0.5)
        optimizer.step()
    copies = [p for group in optimizer.optimizer.param_groups for p in group["params"]]
    moments = [s["momentum_buffer"] for s in optimizer.optimizer.state.values()]
    return [one.detach().clone() for one in (*model.parameters(), *copies, *moments)]


def wrapped(cls: Any, dynamic: bool, **options: Any) -> tuple[Any, nn.Module]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)).half()
    model[1].float()
    model[1].register_forward_pre_hook(lambda module, given: given[0].float())
    optimizer = cls(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), **options)
    optimizer.dynamic = dynamic
    return optimizer, model


@pytest.mark.parametrize("module", ["fp16_optimizer", "fp16_contrib"])
@pytest.mark.parametrize(("switches", "more"), SCALES)
def test_master_weights_without_what_is_not_used(module: str, switches: dict[str, Any], more: dict[str, Any]) -> None:
    whole, options = made(template(module)), {**switches, **more}
    dynamic = switches["dynamic_loss_scale"]
    for asked in subsets(MEMBERS):
        clips = module == "fp16_optimizer" and "clip_master_grads" in asked
        wanted = half_trained(*wrapped(whole, dynamic, **options), clips)
        for fixed, idle in product([False, True], [frozenset(), IDLE]):
            spoken = {*asked, "backward", "step"}
            values: dict[str, Any] = {"dynamic_loss_args": None, "verbose": True, "static_loss_scale": 1.0, **options}
            values["dynamic_loss_args"] = (
                frozenset(options["dynamic_loss_args"]) if "dynamic_loss_args" in options else None
            )
            gone = {name for name, value in values.items() if value is None or isinstance(value, bool)} if fixed else ()
            known = Known(values if fixed else {}, frozenset(gone), idle=idle, asked=spoken.__contains__)
            cls = made(specialised(template(module), known))
            optimizer, model = wrapped(cls, dynamic, **{name: options[name] for name in options if name not in gone})
            assert_equal(half_trained(optimizer, model, clips), wanted)
            assert all(hasattr(optimizer, name) for name in asked if "=" not in name and hasattr(whole, name))
            assert hasattr(cls, "load_state_dict") is ("load_state_dict" in asked)


@pytest.mark.parametrize("module", ["fp16_optimizer", "fp16_contrib"])
def test_a_state_that_is_saved_goes_on_the_same(module: str) -> None:
    values = {"dynamic_loss_scale": True, "dynamic_loss_args": None, "verbose": True, "static_loss_scale": 1.0}
    asked = {"backward", "step", "state_dict", "load_state_dict"}
    known = Known(values, frozenset(values), idle=IDLE, asked=asked.__contains__)
    results = []
    for cls, options in (
        (made(template(module)), {"dynamic_loss_scale": True}),
        (made(specialised(template(module), known)), {}),
    ):
        first, model = wrapped(cls, True, **options)
        half_trained(first, model, clips=False)
        again, other = wrapped(cls, True, **options)
        other.load_state_dict(model.state_dict())
        again.load_state_dict(copy.deepcopy(first.state_dict()))
        results.append(half_trained(again, other, clips=False))
        results.append([torch.tensor(again.loss_scale if module == "fp16_optimizer" else again.cur_scale)])
    assert_equal(results[0], results[2])
    assert_equal(results[1], results[3])


def test_what_stays_reads_as_it_was_written() -> None:
    assert specialised(template("lamb"), Known()) == template("lamb")
    for module in ("adam", "adam_contrib", "novograd", "fp16_optimizer", "fp16_contrib"):
        assert specialised(template(module), Known()) == template(module), module
