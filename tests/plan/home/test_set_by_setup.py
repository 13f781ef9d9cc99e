"""A scaler asks what the function sets that initializes, so it is made behind that."""

from __future__ import annotations

import pytest

from migrate.linked import migrate_linked
from migrate.model import FileText, Settings

COMMON = """\
import torch
from apex import amp

USE_AMP = False
STATE = {"amp": False}


def setup(model, optimizer, fp16):
    global USE_AMP
    ASKED = fp16
    if ASKED:
        return amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def backward(loss, optimizer):
    if ASKED:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
"""
MAIN = """\
import torch
import torch.nn.functional as F
IMPORT


def main(args):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = PREFIXsetup(model, optimizer, args.fp16)
    for x, y in args.data:
        optimizer.zero_grad()
        PREFIXbackward(F.cross_entropy(model(x), y), optimizer)
        optimizer.step()


main(parse())
"""


def _main(asked: str, import_: str, prefix: str = "") -> str | None:
    common = COMMON.replace("ASKED", asked)
    main = MAIN.replace("IMPORT", import_).replace("PREFIX", prefix)
    files = [FileText(common, name="common.py"), FileText(main, links={"common": 0})]
    return migrate_linked(files, Settings())[1].new_text


@pytest.mark.parametrize("asked", ["USE_AMP", 'STATE["amp"]'])
def test_the_scaler_is_made_behind_the_call(asked: str) -> None:
    text = _main(asked, "import common", "common.")
    assert text is not None
    called, made = "common.setup(model, optimizer, args.fp16)", f"enabled=bool(common.{asked}))"
    assert text.index(called) < text.index(made)


def test_a_name_that_was_taken_before_it_is_set_says_nothing() -> None:
    assert _main("USE_AMP", "from common import USE_AMP, backward, setup") is None
