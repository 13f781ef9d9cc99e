"""Two scripts of one program that initialize each for themselves: each has its own scaler, scale and state."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module, migrate_program
from migrate.model import FileText, ModuleResult, Settings

SCRIPT = """\
import torch
import torch.nn.functional as F
from apex import amp


def main(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", loss_scale=args.scale)
    load(model, optimizer, args.path)
    for x, y in loader:
        optimizer.zero_grad()
        with amp.scale_loss(F.cross_entropy(model(x), y), optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


def load(model, optimizer, path):
    state = torch.load(path)
    optimizer.load_state_dict(state["optimizer"])
    amp.load_state_dict(state["amp"])
"""
BOTH = """\
from first import main as first
from second import main as second


def run(which, options, loader):
    if which == "first":
        return first(options, loader)
    return second(options, loader)
"""
# One function trains for both; one script initializes by a helper, the other beside its optimizer.
SHARED = """\
import torch
import torch.nn.functional as F
from apex import amp


def load_state(model, optim, use_amp):
    if use_amp:
        model, optim = amp.initialize(model, optim, opt_level="O1")
    return 1


def train(model, optimizer, loader, use_amp):
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        if use_amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()


def begin(args, loader):
    net = torch.nn.Linear(4, 2).cuda()
    optim = torch.optim.SGD(net.parameters(), lr=0.1)
    load_state(net, optim, use_amp=args.amp)
    train(net, optim, loader, args.amp)


def tune(trial, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=trial)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train(model, optimizer, loader, True)
"""
EVALUATED = """\
import torch
import torch.nn.functional as F
from apex import amp


def load(model=None, optimizer=None, path="last"):
    state = torch.load(path)
    if optimizer is not None:
        optimizer.load_state_dict(state["optimizer"])
    amp.load_state_dict(state["amp"])


def main(args, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    if args.evaluate:
        load(model, None, path=args.path)
    else:
        load(model, optimizer, path=args.path)
    for x, y in loader:
        optimizer.zero_grad()
        with amp.scale_loss(F.cross_entropy(model(x), y), optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
"""


def _program(*scripts: str) -> list[ModuleResult]:
    links = {"first": 0, "second": 1}
    files = [FileText(text, name=f"{name}.py") for text, name in zip(scripts, links, strict=True)]
    return migrate_program([*files, FileText(BOTH, name="both.py", links=links)], Settings())


def test_each_script_has_its_own_scale_and_state() -> None:
    first, second, both = _program(SCRIPT.replace("args", "options"), SCRIPT.replace("args.scale", "128.0"))
    assert first.new_text is not None and second.new_text is not None and both.new_text is None
    for result in (first, second):
        assert result.new_text is not None
        assert "def load(model, optimizer, scaler, path):" in result.new_text
        assert 'scaler.load_state_dict(state["amp"])' in result.new_text
    assert "float(options.scale)" in first.new_text and "128.0" not in first.new_text
    assert "init_scale=128.0" in second.new_text and "options" not in second.new_text


def test_a_scaler_is_made_where_a_helper_initializes_and_where_the_script_does() -> None:
    text = migrate_module(SHARED, Settings()).new_text
    assert text is not None and "apex" not in text
    begin, tune = text.split("def begin")[1].split("def tune")
    assert 'scaler = torch.amp.GradScaler("cuda", enabled=bool(args.amp))' in begin
    assert 'scaler = torch.amp.GradScaler("cuda")' in tune


@pytest.mark.parametrize("handed", ["model, None, path=args.path", "model, path=args.path"])
def test_what_loads_without_an_optimizer_is_handed_the_scaler_all_the_same(handed: str) -> None:
    text = migrate_module(EVALUATED.replace("model, None, path=args.path", handed), Settings()).new_text
    assert text is not None and "apex" not in text
    assert "def load(model=None, optimizer=None, scaler=None, path=" in text
    assert sum("load(model" in line and "scaler" in line for line in text.splitlines()) == 3
