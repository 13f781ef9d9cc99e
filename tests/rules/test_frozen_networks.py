"""A network of which no parameter requires a gradient: Apex's wrapper took it, torch's raises."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
from apex.parallel import DistributedDataParallel


def wrapped(net, other):
    {frozen}
    return DistributedDataParallel(net)
"""


@pytest.mark.parametrize(
    ("frozen", "told"),
    [
        ("for p in net.parameters(): p.requires_grad = False", True),
        ("for p in net.parameters(): p.requires_grad_(False)", True),
        ("net.requires_grad_(False)", True),
        ("for p in net.parameters(): p.requires_grad = True", False),
        ("for p in net.head.parameters(): p.requires_grad = False", False),
        ("for p in other.parameters(): p.requires_grad = False", False),
        ("other.requires_grad_(False)", False),
    ],
)
def test_wrapping_it_is_told(frozen: str, told: bool) -> None:
    result = migrate_module(TEXT.format(frozen=frozen), Settings())
    assert any("no parameter of what is wrapped here" in one.message for one in result.findings) is told
