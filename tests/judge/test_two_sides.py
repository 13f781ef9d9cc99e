"""Two backends behind one switch: Apex's side is compared with the native one that it became, the native one with
itself."""

from __future__ import annotations

import re

import pytest

from migrate.model import Applicability
from tests.judge.support import Case, judged_case

FLAGS = """\
import torch
from apex import amp


class Task:
    def begin(self, args, model):
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.use_apex = False
        self.use_amp = False
        if args.backend == "amp":
            self.use_amp = True
            self.scaler = torch.amp.GradScaler("cuda")
        elif args.backend == "apex":
            self.use_apex = True
        if self.use_apex:
            model, self.optimizer = amp.initialize(model, self.optimizer, opt_level="O1")
        self.model = model

    def train(self, loader):
        for x, y in loader:
            with torch.autocast("cuda", enabled=self.use_amp):
                loss = torch.nn.functional.cross_entropy(self.model(x), y)
            self.optimizer.zero_grad()
            self.backward(loss)
            if self.use_amp:
                self.scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.step()

    def backward(self, loss):
        if self.use_amp:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()

    def step(self):
        if self.use_amp:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
"""
VALUES = FLAGS.replace(
    "        self.use_apex = False\n        self.use_amp = False\n", "        self.backend = args.backend\n"
)
VALUES = VALUES.replace('        elif args.backend == "apex":\n            self.use_apex = True\n', "")
VALUES = VALUES.replace('if args.backend == "amp":\n            self.use_amp = True', 'if self.backend == "amp":')
VALUES = VALUES.replace("self.use_amp", '(self.backend == "amp")').replace("self.use_apex", 'self.backend == "apex"')
MEMBERS = VALUES.replace("class Task:", "class Backend(Enum):\n    AMP = 1\n    APEX = 2\n    NO = 3\n\n\nclass Task:")
MEMBERS = MEMBERS.replace("import torch\n", "from enum import Enum\nimport torch\n", 1)
MEMBERS = MEMBERS.replace('"amp"', "Backend.AMP").replace('"apex"', "Backend.APEX")
SIDES = {"flags": FLAGS, "values": VALUES, "members": MEMBERS}
FAULTS = {
    "unscale dropped": (r"            if [^\n]*\n +self\.scaler\.unscale_\(self\.optimizer\)\n", ""),
    "clip before unscale": (
        r"(            if [^\n]*\n +self\.scaler\.unscale_\(self\.optimizer\)\n)( +torch.*\n)",
        r"\2\1",
    ),
    "unscale twice": (r"( +self\.scaler\.unscale_\(self\.optimizer\)\n)", r"\1\1"),
    "update twice": (r"( +self\.scaler\.update\(\)\n)", r"\1\1"),
    "no update": (r" +self\.scaler\.update\(\)\n", ""),
    "step without the scaler": (r"self\.scaler\.step\(self\.optimizer\)", "self.optimizer.step()"),
    "not scaled": (r"self\.scaler\.scale\(loss\)\.backward", "loss.backward"),
    "autocast lost": (r"with torch\.autocast.*:", "if True:"),
    "never in autocast": (r"(with torch\.autocast\(.*)enabled=.*\):", r"\1enabled=False):"),
}
OF_FLAGS = {
    "no scaler on Apex's side": (
        r'(        elif args\.backend == "apex":\n            self\.use_amp = True\n) +self\.scaler = .*\n',
        r"\1",
    ),
    "no scaler on the native side": (
        r'(        if args\.backend == "amp":\n            self\.use_amp = True\n) +self\.scaler = .*\n',
        r"\1",
    ),
    "what chose Apex chooses nothing": (
        r'(        elif args\.backend == "apex":\n            self\.use_amp = )True\n',
        r"\1False\n",
    ),
    "what chose native chooses nothing": (
        r'(        if args\.backend == "amp":\n            self\.use_amp = )True\n',
        r"\1False\n",
    ),
    "what chose nothing chooses the native side": (
        r"        self\.use_amp = False\n",
        '        self.use_amp = True\n        self.scaler = torch.amp.GradScaler("cuda")\n',
    ),
}


def case_of(text: str) -> Case:
    case = judged_case(text)
    assert case is not None
    return case


@pytest.mark.parametrize("text", SIDES.values(), ids=SIDES)
def test_two_sides_that_do_the_same_are_for_review(text: str) -> None:
    case = case_of(text)
    assert not case.verdict.differences and case.verdict.unknown is None
    assert case.grade is Applicability.REVIEW


def test_the_native_side_may_look_at_the_loss_scale() -> None:
    """As Apex's side has none that anybody could look at, nothing is missing there."""
    steps = "            self.scaler.step(self.optimizer)\n            self.scaler.update()\n"
    assert steps in FLAGS
    asked = "self.scaler.get_scale()"
    looks = f"            before = {asked}\n{steps}            print({asked} < before)\n"
    case = case_of(FLAGS.replace(steps, looks))
    assert not case.verdict.differences and case.verdict.unknown is None
    assert case.grade is Applicability.REVIEW


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("text", SIDES.values(), ids=SIDES)
def test_a_fault_of_the_native_side_is_found(text: str, fault: str) -> None:
    case = case_of(text)
    pattern, instead = FAULTS[fault]
    planted = re.sub(pattern, instead, case.text, count=1)
    assert planted != case.text
    assert case.judged(planted) is not None


@pytest.mark.parametrize("fault", OF_FLAGS)
def test_a_fault_where_the_switch_is_set_is_found(fault: str) -> None:
    case = case_of(FLAGS)
    pattern, instead = OF_FLAGS[fault]
    planted = re.sub(pattern, instead, case.text, count=1)
    assert planted != case.text
    assert case.judged(planted) is not None


@pytest.mark.parametrize(
    "old,new,said",
    [
        (
            "            self.optimizer.zero_grad()\n",
            "",
            "gradients are read or changed here while they are still scaled",
        ),
        (
            "            self.backward(loss)\n",
            "            self.backward(loss)\n            print(self.model.weight.grad.norm())\n",
            "gradients are read or changed here while they are still scaled",
        ),
    ],
)
def test_a_native_side_that_does_something_else_does_not_serve(old: str, new: str, said: str) -> None:
    """It may be as the author wants it natively; what chose Apex would get it without having asked."""
    text = FLAGS.replace(old, new)
    assert text != FLAGS
    case = judged_case(text)
    assert case is None or case.grade is Applicability.MANUAL
    if case is not None:
        assert any(said in finding.message for finding in case.result.findings), case.result.findings


def test_a_property_that_tells_the_switch_is_asked() -> None:
    told = '    @property\n    def native(self):\n        return self.backend == "amp"\n\n    def train(self'
    text = VALUES.replace('(self.backend == "amp")', "self.native").replace("    def train(self", told)
    case = case_of(text)
    assert not case.verdict.differences and case.verdict.unknown is None
    planted = case.text.replace("            self.scaler.update()\n", "")
    assert planted != case.text and case.judged(planted) is not None


def test_a_side_that_no_path_leads_to_is_not_called_the_same() -> None:
    text = FLAGS.replace('elif args.backend == "apex"', 'elif args.backend == "amp"')
    case = case_of(text)
    assert case.verdict.unknown == "no path was found on which Apex scales a loss"
    assert any(finding.rule == "APX092" for finding in case.result.findings)


LIBRARYS = """\
from transformers import Trainer
from apex import amp


class MyTrainer(Trainer):
    def training_step(self, model, inputs):
        loss = self.compute_loss(model, inputs)
        if self.do_grad_scaling:
            self.scaler.scale(loss).backward()
        elif self.use_apex:
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            self.accelerator.backward(loss)
        return loss.detach()
"""
_STOP = 'raise RuntimeError("use_apex: Apex is no longer supported, use native AMP")'


def test_a_librarys_switch_stops_only_what_chose_apex() -> None:
    """What stands beside Apex's arm is compared; behind a stop there is nothing to compare."""
    case = case_of(LIBRARYS)
    assert case.grade is Applicability.REVIEW and not case.verdict.differences and case.verdict.unknown is None
    assert _STOP in case.text


@pytest.mark.parametrize(
    "old,new",
    [
        (_STOP, "pass"),
        (_STOP, "loss.backward()"),
        ("self.scaler.scale(loss).backward()", _STOP),
        ("self.accelerator.backward(loss)", _STOP),
        ("self.accelerator.backward(loss)", "pass"),
        (
            "        if self.do_grad_scaling",
            f"        if self.use_apex:\n            pass\n        {_STOP}\n        if self.do_grad_scaling",
        ),
    ],
)
def test_a_fault_beside_a_librarys_switch_is_found(old: str, new: str) -> None:
    case = case_of(LIBRARYS)
    planted = case.text.replace(old, new)
    assert planted != case.text
    assert case.judged(planted) is not None
