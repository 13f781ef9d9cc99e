"""What is said of the parts of Apex that stay."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

IMPORT = "from apex.parallel import DistributedDataParallel as DDP\n"


def suggested(text: str) -> list[str]:
    return [one.suggestion or "" for one in migrate_module(text, Settings()).findings]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("", False),
        (", delay_allreduce=True", True),
        (", delay_allreduce=False", False),
        (", delay_allreduce=late", True),
    ],
)
def test_a_delayed_allreduce_does_not_mind_unused_parameters(words: str, answer: bool) -> None:
    (suggestion,) = suggested(f"{IMPORT}model = DDP(model{words})\n")
    assert ("find_unused_parameters=True" in suggestion) is answer


@pytest.mark.parametrize("name", ["float_function", "half_function"])
def test_a_decorator_in_a_file_without_training(name: str) -> None:
    text = f"from apex import amp\n@amp.{name}\ndef up(x):\n    return F.interpolate(x)\n"
    findings = migrate_module(text, Settings()).findings
    (decorator,) = (one for one in findings if "this decorator does nothing" in one.message)
    assert decorator.line == 2 and "torch.autocast" in (decorator.suggestion or "")


@pytest.mark.parametrize(
    ("words", "kept"), [("", False), (", bias_correction=False", True), (", bias_correction=True", False)]
)
def test_an_adam_without_bias_correction_has_no_counterpart(words: str, kept: bool) -> None:
    text = f"from apex.optimizers import FusedAdam\noptimizer = FusedAdam(model.parameters(){words})\n"
    assert all(("without bias correction" in one) is kept for one in suggested(text))
