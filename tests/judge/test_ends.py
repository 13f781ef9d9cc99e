"""How a program ends: with an exception that the other one does not raise, or as the other one does."""

from __future__ import annotations

import pytest

from tests.judge.support import judged_case

TEXT = """\
from apex import amp


def main(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x in batches:
        loss = model(x).sum()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        optimizer.step()
    END


main(build(), made(), loader())
"""
RAISES = "raise ValueError(model)"


@pytest.mark.parametrize(
    ("end", "planted", "said"),
    [
        ("return model", RAISES, "the old program ends with None, the new one with ValueError"),
        (RAISES, "return model", "the old program ends with ValueError, the new one with None"),
        ("return model", "return optimizer", None),
        (RAISES, "raise ValueError(optimizer)", None),
    ],
)
def test_another_end(end: str, planted: str, said: str | None) -> None:
    case = judged_case(TEXT.replace("END", end))
    assert case is not None and case.text.count(end) == 1
    found = case.judged(case.text.replace(end, planted))
    assert (found and found.said) == said
