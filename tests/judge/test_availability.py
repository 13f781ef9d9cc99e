"""A function that only says whether Apex is there says yes, to the judge as to the planner."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module, migrate_program
from migrate.model import Applicability, FileText, Settings

TEXT = """\
import torch
try:
    from apex import amp
    _has_apex = True
except ImportError:
    _has_apex = False


def is_apex_available(SELF):
    "Whether Apex is there."
    BODY


class Trainer:
    def __init__(self, model, args, loader):
        self.model, self.args, self.loader = model, args, loader

    def train(self):
        model = self.model
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if self.args.fp16:
            if not is_apex_available():
                raise ImportError("Please install apex to use fp16 training.")
            model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        model.zero_grad()
        for x in self.loader:
            loss = model(x)[0]
            if self.args.fp16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
            model.zero_grad()
"""


@pytest.mark.parametrize(
    ("given", "body", "kept", "grade"),
    [
        ("", "return _has_apex", False, Applicability.SAFE),
        ("", "print('asked'); return _has_apex", True, Applicability.SAFE),
        ("flag=False", "return flag", True, Applicability.REVIEW),  # amp is never on, so no scaled loss was compared
    ],
)
def test_what_says_that_apex_is_there(given: str, body: str, kept: bool, grade: Applicability) -> None:
    result = migrate_module(TEXT.replace("SELF", given).replace("BODY", body), Settings())
    assert [one.applicability for one in result.units] == [grade]
    assert ("raise ImportError" in (result.new_text or "")) is kept


GUARD = """\
try:
    from apex import amp
    HAS_APEX = True
except ImportError:
    HAS_APEX = False
"""
BASE = f"""\
import torch
{GUARD}

class BaseTrainer:
    def __init__(self, model, optimizer, callbacks, use_amp=False):
        self.model, self.optimizer, self.callbacks = model, optimizer, callbacks
        self.use_amp = use_amp and HAS_APEX
        self.stopped = False
        if self.use_amp:
            self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def call(self, name, *given):
        for one in self.callbacks:
            getattr(one, name)(self, *given)

    def backward(self, loss):
        if self.use_amp:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()

    def step(self, batch):
        self.optimizer.zero_grad()
        loss = self.loss(batch)
        self.backward(loss)
        params = amp.master_params(self.optimizer) if self.use_amp else self.model.parameters()
        self.norm = float(torch.nn.utils.clip_grad_norm_(params, 1.0))
        self.optimizer.step()
        return loss.item()

    def fit(self, train, epochs):
        for epoch in range(epochs):
            for batch in train:
                self.call("on_batch_end", self.step(batch))
            self.call("on_epoch_end", epoch)
            if self.stopped:
                break
"""
DERIVED = f"""\
import torch
from base import BaseTrainer
{GUARD}

class Classifier(BaseTrainer):
    def __init__(self, *given, smoothing=0.1, **more):
        super().__init__(*given, **more)
        self.criterion = torch.nn.CrossEntropyLoss(label_smoothing=smoothing)

    def loss(self, batch):
        return self.criterion(self.model(batch[0]), batch[1])
"""


@pytest.mark.parametrize("asks", ["", "\n\ndef available():\n    return HAS_APEX\n"])
def test_a_flag_that_another_file_has_too_hangs_on_nothing(asks: str) -> None:
    """Each file looks for Apex by itself, and only one of them asks."""
    files = [FileText(BASE, name="base.py"), FileText(DERIVED + asks, name="main.py", links={"base": 0})]
    results = migrate_program(files, Settings())
    assert [unit.applicability for one in results for unit in one.units] == [Applicability.SAFE]


SCALER = """\
import torch

try:
    from apex import amp
    has_apex = True
except ImportError:
    has_apex = False


class ApexScaler:
    def __call__(self, loss, optimizer, clip_grad=None):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if clip_grad is not None:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip_grad)
        optimizer.step()
"""
TRAINING = """\
import torch
from scalers import ApexScaler, has_apex

if has_apex:
    from apex import amp


def train(model, loader, optimizer, args, loss_scaler=None):
    for x in loader:
        loss = model(x).sum()
        optimizer.zero_grad()
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, clip_grad=args.clip_grad)
        else:
            loss.backward()
            if args.clip_grad is not None:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)
            optimizer.step()


def main(args, loader):
    model = torch.nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_scaler = None
    if has_apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
    train(model, loader, optimizer, args, loss_scaler)
"""


def test_a_flag_that_another_file_takes_over_is_that_flag() -> None:
    """Whoever imports what says that Apex is there asks the same (timm)."""
    files = [FileText(SCALER, "scalers.py"), FileText(TRAINING, "train.py", links={"scalers": 0})]
    results = migrate_program(files, Settings())
    assert [unit.applicability for one in results for unit in one.units] == [Applicability.SAFE]
