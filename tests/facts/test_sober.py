"""Functions of other files that compute nothing where O1's casts would have reached it."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import elsewhere, outline

METRIC = """\
def mean_rank(output, target):
    with torch.no_grad():
        order = torch.argsort(output, dim=-1, descending=True)
        ranks = torch.nonzero(order == target[:, None])[:, 1]
        BODY
    return torch.mean(ranks.float())
"""


def _sober(text: str) -> bool:
    return elsewhere([outline(text)]).sober["mean_rank"]


@pytest.mark.parametrize(
    "body", ["pass", "total = float(len(target))", "best = output.topk(3)[1].size(0)", "other = np.exp(2)"]
)
def test_a_metric_is(body: str) -> None:
    assert _sober(METRIC.replace("BODY", body))


@pytest.mark.parametrize(
    "body",
    [
        "scores = torch.softmax(output, 1).sum()",
        "scores = output.exp()",
        "scores = output @ target",
        "scores = torch.mm(output, target)",
        "scores = output ** 2",
        "scores = F.relu(output)",
        "scores = criterion(output)",
        "scores = target(output)",
        "scores = self.loss(output)",
        "scores = decoder.forward(output)",
        "scores = other(output)",
    ],
)
def test_what_computes_is_not(body: str) -> None:
    assert not _sober(METRIC.replace("BODY", body))


def test_all_functions_of_a_name_have_to_be() -> None:
    working = METRIC.replace("BODY", "scores = output.exp()")
    plain = METRIC.replace("BODY", "pass")
    assert not elsewhere([outline(plain), outline(working)]).sober["mean_rank"]
    assert not elsewhere([outline(plain)]).with_(elsewhere([outline(working)])).sober["mean_rank"]


def test_what_it_calls_has_to_be() -> None:
    calls = METRIC.replace("BODY", "scores = scaled(output)")
    assert _sober(calls + "\n\ndef scaled(x):\n    return x * 2\n")
    assert not _sober(calls + "\n\ndef scaled(x):\n    return x.exp()\n")
