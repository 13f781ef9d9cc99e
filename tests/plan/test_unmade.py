"""Code with amp's state that nothing in the program runs."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.linked import migrate_linked
from migrate.model import Applicability, FileText, ModuleResult, Settings

CASE = """\
import torch
from apex import amp
from save import log

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    loss = torch.nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    log(loss)
"""
SAVE = """\
import torch
from apex import amp


def log(loss):
    print(loss)


"""
KEEPER = """\
class Keeper(object):
    def __init__(self, model, optimizer, path="last.pt"):
        self.model = model
        self.optimizer = optimizer
        self.path = path

    def save(self):
        torch.save(amp.state_dict(), self.path)
"""
FUNCTION = """\
def save(model, optimizer, path):
    torch.save(amp.state_dict(), path)
"""


def _migrated(save: str, case: str = CASE) -> list[ModuleResult]:
    files = [FileText(SAVE + save, name="save.py"), FileText(case, name="case.py", links={"save": 0})]
    return migrate_linked(files, Settings())


def test_the_constructor_of_a_class_that_nobody_uses_takes_the_scaler() -> None:
    saving, training = _migrated(KEEPER)
    assert saving.new_text is not None and training.new_text is not None and "apex" not in saving.new_text
    assert "(self, model, optimizer, scaler, path=" in saving.new_text
    assert "self.optimizer = optimizer\n        self.scaler = scaler\n" in saving.new_text
    assert "self.scaler.state_dict()" in saving.new_text
    assert [f.message for f in saving.findings if f.rule == "APX023"] == [
        "nothing that is read here calls Keeper(): whoever does hands it the GradScaler, too, from now on"
    ]


def test_a_function_that_nobody_calls_takes_the_scaler() -> None:
    saving, _ = _migrated(FUNCTION)
    assert saving.new_text is not None and "def save(model, optimizer, scaler, path):" in saving.new_text
    assert "torch.save(scaler.state_dict(), path)" in saving.new_text
    assert any(f.rule == "APX023" for f in saving.findings)


REACHED = {
    "by its name": KEEPER + "\nKEEPERS = {}\nKEEPERS['last'] = Keeper\n",
    "by a decorator": "@register\n" + KEEPER,
    "by a base": KEEPER.replace("(object)", "(Callback)"),
    "by a string": KEEPER + "\nNAME = 'Keeper'\n",
    "a function in a table": FUNCTION + "\nHOOKS = [save]\n",
    "a function with a decorator": "@hook\n" + FUNCTION,
}


@pytest.mark.parametrize("way", REACHED)
def test_what_somebody_may_call_after_all_stays(way: str) -> None:
    saving, training = _migrated(REACHED[way])
    assert saving.new_text is None and training.new_text is None


def test_another_script_that_calls_it_says_nothing_of_this() -> None:
    """Two scripts share the file, one of them makes the object: both want the same text of it."""
    kept = CASE.replace("from save import log", "from save import Keeper, log").replace(
        "for x, y", "keeper = Keeper(model, optimizer)\nfor x, y"
    )
    files = [
        FileText(SAVE + KEEPER, name="save.py"),
        FileText(CASE, name="case.py", links={"save": 0}),
        FileText(kept, name="kept.py", links={"save": 0}),
    ]
    saving, one, other = migrate_linked(files, Settings())
    assert saving.new_text is not None and one.new_text is not None and other.new_text is not None
    assert "Keeper(model, optimizer, scaler)" in other.new_text
    assert not [f for f in saving.findings if f.rule == "APX023"]
    assert [unit.applicability for result in (one, other) for unit in result.units] == [Applicability.SAFE] * 2


CALLED = """\
import torch
from apex import amp


class Scaling:
    def run(self, loss, optimizer):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()

    def state_dict(self):
        return amp.state_dict()

    def load_state_dict(self, state):
        if "load_state_dict" in amp.__dict__:
            amp.load_state_dict(state)


def named(one):
    return "scaling"


def main(loader, path):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    scaling = Scaling()
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaling.run(loss, optimizer)
"""


@pytest.mark.parametrize(
    ("more", "saves", "loads"),
    [
        ("", "def state_dict(self, scaler):", "def load_state_dict(self, state, scaler):"),
        (
            "torch.save(scaling.state_dict(), path)\n",
            "scaling.state_dict(scaler=scaler)",
            "def load_state_dict(self, state, scaler):",
        ),
        ("model.load_state_dict(torch.load(path))\n", "def state_dict(self, scaler):", "state, scaler):"),
        ("named(scaling)\n", "def state_dict(self, scaler):", "state, scaler):"),  # a function that is here
    ],
)
def test_methods_that_nobody_calls_take_the_scaler(more: str, saves: str, loads: str) -> None:
    result = migrate_module(CALLED + "    " + (more or "pass"), Settings())
    assert result.new_text is not None and saves in result.new_text and loads in result.new_text


@pytest.mark.parametrize("more", ["save(scaling)\n", "keep([scaling])\n", "call(scaling, 'load_state_dict')\n"])
def test_methods_that_somebody_may_call_do_not(more: str) -> None:
    """The class makes the scaler itself then."""
    text = migrate_module(CALLED + "    " + (more or "pass"), Settings()).new_text
    assert text is not None and "def state_dict(self):\n        return self.scaler.state_dict()" in text
