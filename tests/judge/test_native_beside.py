"""Where a program's own native side serves in Apex's place, the judge compares it with what Apex did."""

from __future__ import annotations

import re

import pytest

from migrate.model import Applicability, Leads, Standing
from tests.judge.support import Case, judged_case

BACKEND = """\
import torch
from apex import amp
from contextlib import suppress


class ApexScaler:
    def __call__(self, loss, optimizer, clip=None):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip)
        optimizer.step()


class TorchScaler:
    def __init__(self):
        self._scaler = torch.cuda.amp.GradScaler()

    def __call__(self, loss, optimizer, clip=None):
        self._scaler.scale(loss).backward()
        if clip is not None:
            self._scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_([p for g in optimizer.param_groups for p in g["params"]], clip)
        self._scaler.step(optimizer)
        self._scaler.update()


def train(model, loader, criterion, optimizer, loss_scaler, amp_autocast, args):
    for inputs, targets in loader:
        with amp_autocast():
            outputs = model(inputs)
            loss = criterion(outputs, targets)
        optimizer.zero_grad()
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, args.clip)
        else:
            loss.backward()
            optimizer.step()


def run(args, loader):
    model = torch.nn.Linear(4, 4)
    criterion = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    amp_autocast = suppress
    loss_scaler = None
    if args.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
        print("Apex")
    elif args.torch_amp:
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = TorchScaler()
        print("native")
    train(model, loader, criterion, optimizer, loss_scaler, amp_autocast, args)
"""
FAULTS = {
    "unscale dropped": (r" +self\._scaler\.unscale_\(optimizer\)\n", ""),
    "clip before unscale": (
        r"( +self\._scaler\.unscale_\(optimizer\)\n)( +torch.*\n)",
        r"\2\1",
    ),
    "update twice": (r"( +self\._scaler\.update\(\)\n)", r"\1\1"),
    "no update": (r" +self\._scaler\.update\(\)\n", ""),
    "step twice": (r"( +self\._scaler\.step\(optimizer\)\n)", r"\1\1"),
    "step without the scaler": (r"self\._scaler\.step\(optimizer\)", "optimizer.step()"),
    "not scaled": (r"self\._scaler\.scale\(loss\)\.backward", "loss.backward"),
    "autocast lost": (r"with amp_autocast\(\):", "if True:"),
    "autocast never set": (r"amp_autocast = torch\.cuda\.amp\.autocast", "amp_autocast = suppress"),
    "no scaler on Apex's side": (
        r"        loss_scaler = TorchScaler\(\)\n",
        "        if args.torch_amp:\n            loss_scaler = TorchScaler()\n",
    ),
    "no scaler on the native side": (
        r"        loss_scaler = TorchScaler\(\)\n",
        "        if args.apex:\n            loss_scaler = TorchScaler()\n",
    ),
    "a scaler on neither side": ("    loss_scaler = None\n", "    loss_scaler = TorchScaler()\n"),
}


def backend() -> Case:
    case = judged_case(BACKEND)
    assert case is not None
    return case


def test_a_backend_that_does_the_same_is_for_review() -> None:
    case = backend()
    assert not case.verdict.differences and case.verdict.unknown is None
    assert case.grade is Applicability.REVIEW
    assert any("was compared with what Apex did" in finding.message for finding in case.result.findings)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_native_backend_is_found(fault: str) -> None:
    case = backend()
    pattern, instead = FAULTS[fault]
    planted = re.sub(pattern, instead, case.text, count=1)
    assert planted != case.text
    assert case.judged(planted) is not None


@pytest.mark.parametrize(
    "old,new,said",
    [
        ("            self._scaler.unscale_(optimizer)\n", "", "while they are still scaled"),
        ("        self._scaler.update()\n", "", "step() is called twice before update()"),
    ],
)
def test_a_native_backend_that_is_wrong_itself_does_not_serve(old: str, new: str, said: str) -> None:
    """What runs natively in the old program is as wrong there, but what chose Apex was right."""
    text = BACKEND.replace(old, new)
    assert text != BACKEND
    case = judged_case(text)
    assert case is not None and case.grade is Applicability.MANUAL
    assert any(said in finding.message for finding in case.result.findings)


def test_a_forward_that_only_apex_cast_is_named() -> None:
    """What runs under autocast is what the native side says: where that leaves a model out, its line is told."""
    text = BACKEND.replace(
        "        optimizer.zero_grad()\n", "        loss = loss + model(inputs).mean()\n        optimizer.zero_grad()\n"
    )
    case = judged_case(text)
    assert case is not None and case.grade is Applicability.REVIEW
    line = text[: text.index("loss + model")].count("\n") + 1
    assert [f.line for f in case.result.findings if "the model is called under Apex's casts" in f.message] == [line]


def test_a_scaler_of_a_library_is_said_not_to_be_compared() -> None:
    begin, end = BACKEND.index("class ApexScaler"), BACKEND.index("def train")
    text = BACKEND[:begin] + BACKEND[end:]
    text = text.replace("from contextlib", "from timm.utils import ApexScaler, TorchScaler\nfrom contextlib")
    case = judged_case(text)
    assert case is not None and case.grade is Applicability.REVIEW
    assert any("what TorchScaler() scales and steps is not read here" in f.message for f in case.result.findings)


ALONE = """\
import torch
from apex import amp


class ApexScaler:
    def __call__(self, loss, optimizer, clip=None, need_update=True):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if need_update:
            if clip is not None:
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), clip)
            optimizer.step()


class NativeScaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cuda")

    def __call__(self, loss, optimizer, clip=None, parameters=None, need_update=True):
        self._scaler.scale(loss).backward()
        if need_update:
            if clip is not None:
                self._scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(parameters, clip)
            self._scaler.step(optimizer)
            self._scaler.update()
"""


@pytest.mark.parametrize(
    "pattern,instead",
    [
        (r" +self\.scaler\.unscale_\(optimizer\)\n", ""),
        (r"( +self\.scaler\.unscale_\(optimizer\)\n)", r"\1\1"),
        (r" +self\.scaler\.update\(\)\n", ""),
        (r"self\.scaler\.step\(optimizer\)", "optimizer.step()"),
        (r"self\.scaler\.scale\(loss\)\.backward", "loss.backward"),
        (r"( +)self\.scaler\.update\(\)\n", r"\1self.scaler.update()\n\1self.scaler.update()\n"),
        (r"self\.scaler = .*", "self.scaler = None"),
    ],
)
def test_a_class_that_scales_is_compared_by_itself(pattern: str, instead: str) -> None:
    """Nobody here initializes Apex, or says what is cast: what the class does to gradients is compared all the same."""
    case = judged_case(ALONE, standing=Standing(Leads.NOBODY))
    assert case is not None and case.grade is Applicability.REVIEW
    assert not case.verdict.differences and case.verdict.unknown is None
    planted = re.sub(pattern, instead, case.text, count=1)
    assert planted != case.text
    assert case.judged(planted) is not None
