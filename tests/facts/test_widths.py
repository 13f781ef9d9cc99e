"""Names of a function that hold no half result, whatever it is handed."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import elsewhere, outline
from migrate.facts.widths import wide

PRECISION = """\
def mean_average_precision(output, labels):
    with torch.no_grad():
        order = torch.argsort(output, dim=-1, descending=True)
        hits = torch.gather(labels, -1, order).float()
        found = torch.cumsum(hits, dim=-1)
        precision = found / torch.arange(start=1, end=10)[None, :]
        precision = precision * hits
        total = torch.sum((labels != 0).float())
        mean = torch.mean(torch.sum(precision, dim=-1) / total)
    return mean
"""


def test_a_metric_that_widens_what_it_is_handed_has_nothing_to_lose() -> None:
    found = elsewhere([outline(PRECISION)])
    assert not found.widening and not found.computing
    half = elsewhere([outline(PRECISION.replace("order).float()", "order)"))])
    assert half.widening == {"mean_average_precision"}


@pytest.mark.parametrize(
    "line",
    [
        "y = x.float()",
        "y = (x + z).float()",
        "y = x.argmax(1).long()",
        "y = torch.exp(wide)",
        "y = wide[:, 0] * x",
        "y = wide.mean()",
    ],
)
def test_what_is_wide(line: str) -> None:
    assert "y" in wide(f"    wide = x.float()\n    {line}\n    return y\n", ["x", "z"])


@pytest.mark.parametrize(
    "line",
    [
        "y = x",
        "y = x.float() + z",
        "y = x + z.float()",
        "y = torch.mm(wide, z)",
        "y = wide @ z",
        "y = wide.half()",
        "y = wide.sum() if z else x",
        "y = (\n        x.float()",
        "y = wide\n    y = x",
        "y, z = wide, x",
        "for y in x:\n        y = wide",
        "x = x.float()",
    ],
)
def test_what_may_be_half(line: str) -> None:
    assert not {"y", "x"} & wide(f"    wide = x.float()\n    {line}\n    return y\n", ["x", "z"])
