"""Apex behind a switch that a library's class keeps."""

from __future__ import annotations

import pytest

from migrate.plan.backends.foreign import chosen, foreign
from migrate.units.conditions import Conditions
from tests.asking import context

TRAINER = """
from elsewhere import Trainer, use_apex
from apex import amp

class Mine({bases}):
    {member} = 1
    def step(self, loss{more}):
        {before}
        if {test}:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        else:
            self.accelerator.backward(loss)
"""
PLAIN = {"bases": "Trainer", "member": "other", "more": "", "before": "pass", "test": "self.use_apex"}

SWITCHES = {
    "an attribute of the library's class": ({}, True),
    "one of several that have to be true": ({"test": "self.args.fp16 and self.use_apex"}, True),
    "a name of the library": ({"test": "use_apex"}, True),
    "either of two": ({"test": "self.use_apex or self.fp16"}, False),
    "the other arm's": ({"test": "not self.use_apex"}, False),
    "no word of Apex": ({"test": "self.fp16"}, False),
    "no base that is elsewhere": ({"bases": "object"}, False),
    "the class has it": ({"member": "use_apex"}, False),
    "set in a method": ({"before": "self.use_apex = True"}, False),
    "set by its name": ({"before": "setattr(self, 'use_apex', True)"}, False),
    "a parameter": ({"more": ", use_apex", "test": "use_apex"}, False),
    "a variable": ({"before": "use_apex = True", "test": "use_apex"}, False),
    "an option": ({"test": "self.args.use_apex"}, False),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_what_is_a_librarys_switch(name: str) -> None:
    said, wanted = SWITCHES[name]
    assert (foreign(context(TRAINER.format(**{**PLAIN, **said}))) is not None) is wanted


OWN = """
from apex import amp

class Trainer:
    def __init__(self, args):
        self.use_apex = self.use_native = False
        if {asked}:
            self.use_apex = {value}
        elif args.backend == "native":
            self.use_native = True

    def step(self, loss):
        if {test}:
            with amp.scale_loss(loss, self.optimizer) as scaled:
                scaled.backward()
        {beside}
"""
BY_NAME = {
    "asked": 'args.fp16 and args.backend == "apex"',
    "value": "True",
    "test": "self.use_apex",
    "beside": "else:\n            self.accelerator.backward(loss)",
}
NATIVE = """elif self.use_native:
            with autocast():
                self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()
"""
OWN_SWITCHES = {
    "set where Apex is asked for by its name": ({}, True),
    "a word that names it": ({"test": "self.backend == 'apex'"}, True),
    "a member that names it": ({"test": "self.backend is Backend.APEX"}, True),
    "set in any run in half": ({"asked": "args.fp16"}, False),
    "any value": ({"value": "args.fp16"}, False),
    "an option": ({"test": "args.apex"}, False),
    "another word": ({"test": "self.backend == 'half'"}, False),
    "no native arm": ({"beside": "else:\n            loss.backward()"}, False),
    "set in any run in half, beside a native switch": ({"asked": "args.fp16", "beside": NATIVE}, True),
    "beside a native switch that never updates": (
        {"asked": "args.fp16", "beside": NATIVE.replace("            self.scaler.update()\n", "")},
        False,
    ),
    "beside a native switch without autocast": (
        {"asked": "args.fp16", "beside": NATIVE.replace("with autocast():", "if loss > 0:")},
        False,
    ),
}


@pytest.mark.parametrize("name", OWN_SWITCHES)
def test_a_switch_of_the_programs_own(name: str) -> None:
    said, wanted = OWN_SWITCHES[name]
    ctx = context(OWN.format(**{**BY_NAME, **said}))
    assert foreign(ctx) is None
    assert (chosen(ctx) is not None) is wanted


def test_who_asks_whether_apex_is_there() -> None:
    """A library's function, where nothing but amp is asked for by it."""
    text = "from elsewhere import is_apex_available\n{}\nif is_apex_available():\n    from apex import amp\n"

    def asked(more: str) -> bool:
        conditions: Conditions = context(text.format(more)).conditions
        return conditions.asks_elsewhere("is_apex_available")

    assert asked("")
    assert not asked("from apex.optimizers import FusedAdam")
    assert not asked("def is_apex_available():\n    return look()")
