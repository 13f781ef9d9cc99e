"""What is said of the parts of Apex that stay."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Outside, Settings


@pytest.mark.parametrize("name", ["float_function", "half_function"])
def test_a_decorator_in_a_file_without_training(name: str) -> None:
    text = f"from apex import amp\n@amp.{name}\ndef up(x):\n    return F.interpolate(x)\n"
    findings = migrate_module(text, Settings()).findings
    (decorator,) = (one for one in findings if "this decorator does nothing" in one.message)
    assert decorator.line == 2 and "torch.autocast" in (decorator.suggestion or "")


@pytest.mark.parametrize(("keep", "severity"), [(False, "manual"), (True, "info")])
def test_what_has_no_counterpart_is_work_unless_it_is_to_be_kept(keep: bool, severity: str) -> None:
    text = "from apex.optimizers import FusedMixedPrecisionLamb as Lamb\noptimizer = Lamb(model.parameters())\n"
    (finding,) = migrate_module(text, Settings(keep_fused=keep)).findings
    assert finding.severity.value == severity and "FusedMixedPrecisionLamb" in finding.message
    assert "timm.optim.Lamb" in (finding.suggestion or "")


@pytest.mark.parametrize("taken", ["*", "FusedAdam", "other"])
def test_a_name_that_other_files_take_from_here(taken: str) -> None:
    text = "from apex.optimizers import FusedAdam\n"
    findings = migrate_module(text, Settings(), Outside(frozenset({taken}))).findings
    handed_on = [one for one in findings if "others take names from here" in one.message]
    assert bool(handed_on) == (taken != "other")
    assert all(one.suggestion and "from apex.optimizers import FusedAdam" in one.suggestion for one in handed_on)


def test_a_star_behind_what_the_file_defines_takes_its_place() -> None:
    star, own = "from apex.fp16_utils import *\n", "def to_python_float(t):\n    return t.item()\n"
    use = "print(to_python_float(loss))\n"
    assert migrate_module(star + own + use, Settings()).new_text == own + use
    behind = migrate_module(own + star + use, Settings())
    assert star in (behind.new_text or own + star) and behind.findings
