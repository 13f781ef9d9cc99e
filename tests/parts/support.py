"""What the tests of replaced parts share: texts that are migrated and run, and a small network to train."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import nn

from migrate.engine import migrate_module
from migrate.model import Settings

STEPS = 24
Batches = list[tuple[torch.Tensor, torch.Tensor]]
Weights = list[torch.Tensor]


def migrated(text: str, settings: Settings | None = None) -> str:
    """The text that the tool makes of a file; it needs no Apex."""
    result = migrate_module(text, settings or Settings())
    assert result.new_text is not None, [one.message for one in result.findings]
    assert "import apex" not in result.new_text and "from apex" not in result.new_text, result.new_text
    return result.new_text


def executed(text: str, names: dict[str, Any]) -> dict[str, Any]:
    """All names of a program once it has run with some that it is given."""
    space = {"__name__": "script", **names}
    exec(compile(text, "script.py", "exec"), space)
    return space


def network(seed: int = 0) -> nn.Sequential:
    """Two layers in double precision, so that rounding hides nothing."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3)).double()


def regression(seed: int = 1, steps: int = STEPS) -> Batches:
    generator = torch.Generator().manual_seed(seed)
    made = torch.randn(steps, 2, 8, 6, generator=generator, dtype=torch.float64)
    return [(one[0], one[1, :, :3]) for one in made]


def twins(seed: int = 0) -> tuple[nn.Sequential, nn.Sequential]:
    model = network(seed)
    return model, copy.deepcopy(model)


def weights(model: nn.Module) -> Weights:
    return [one.detach().clone() for one in model.parameters()]


def assert_same(found: Weights, wanted: Weights, tolerance: float = 1e-10) -> None:
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=tolerance, atol=tolerance)


def moved(found: Weights, before: Weights) -> bool:
    """Whether a training has changed every tensor, so that a comparison says something."""
    return all(not torch.allclose(one, other, rtol=1e-4, atol=1e-4) for one, other in zip(found, before, strict=True))
