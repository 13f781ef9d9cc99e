"""A file that may import one of several stays by hand, and both are named."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from migrate import cli
from tests.shell.support import tree

HELPERS = """\
from apex import amp


def backward(loss, optimizer):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
"""
TRAIN = """\
import os
import sys

sys.path += [os.path.join(os.path.dirname(__file__), "..", name) for name in ("lib", "src")]
import torch
from apex import amp
from helpers import backward


def main(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer)
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        backward(loss, optimizer)
        optimizer.step()
"""


def _said(root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    cli.main([str(root), "-j", "1"])
    return capsys.readouterr().out


def test_both_files_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree(tmp_path, {"tools/train.py": TRAIN, "lib/helpers.py": HELPERS, "src/helpers.py": HELPERS})
    said = _said(tmp_path, capsys)
    assert "line 7: `helpers` may be lib/helpers.py or src/helpers.py" in said
    assert "0 to change" in said


def test_one_alone_is_meant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree(tmp_path, {"tools/train.py": TRAIN, "lib/helpers.py": HELPERS, "third/helpers.py": ""})
    said = _said(tmp_path, capsys)
    assert "may be" not in said
    assert "2 to change" in said


def test_what_python_has_to_say_of_the_file_is_not_heard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = TRAIN + "\n\nDIGITS = '\\d+'\n"
    tree(tmp_path, {"tools/train.py": text, "lib/helpers.py": HELPERS, "src/helpers.py": HELPERS})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "line 7: `helpers` may be" in _said(tmp_path, capsys)
