"""Steps that a registry of the program keeps: who takes one out of it hands it the scaler."""

from __future__ import annotations

import pytest

from migrate.engine import migrate_module
from migrate.model import Settings

TOP = "import torch\nfrom apex import amp\n"
NAMED = """\
STEPS = {}
def register(name):
    def put(fn):
        STEPS[name] = fn
        return fn
    return put
"""
OF_A_CLASS = """\
class Registry:
    def __init__(self):
        self.table = {}
    def __call__(self, name):
        return self.put
    def put(self, fn):
        self.table[fn.__name__] = fn
        return fn
    def get(self, name):
        return self.table[name]
STEPS = Registry()
"""
STEP = """\
def each(optimizer, it):
    optimizer.step()
    optimizer.zero_grad()
"""
WINDOW = """\
def window(optimizer, it):
    if it % 2:
        optimizer.step()
        optimizer.zero_grad()
"""
TRAIN = """\
def train(model, loader, kind):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for it, x in enumerate(loader):
        loss = model(x).mean()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        RUN
"""


def program(registry: str, decorators: tuple[str, str], run: str, more: str = "") -> str:
    one, other = decorators
    return TOP + registry + f"{one}\n{STEP}{other}\n{WINDOW}" + TRAIN.replace("RUN", run) + more


BY_NAME, BY_METHOD = ('@register("each")', '@register("window")'), ("@STEPS.put", "@STEPS.put")
GOES = {
    "an item": program(NAMED, BY_NAME, "STEPS[kind](optimizer, it)"),
    "get": program(NAMED, BY_NAME, "STEPS.get(kind)(optimizer, it)"),
    "a method of the registry": program(OF_A_CLASS, BY_METHOD, "STEPS.get(kind)(optimizer, it)"),
}
STAYS = {
    "all of them step": program(NAMED, BY_NAME, "[f(optimizer, it) for f in STEPS.values()]"),
    "somebody else has the table": program(NAMED, BY_NAME, "STEPS[kind](optimizer, it)", "engine.run(STEPS)\n"),
    "another function is put away": program(
        NAMED.replace("= fn\n", "= lambda *args: fn(*args)\n"), BY_NAME, "STEPS[kind](optimizer, it)"
    ),
    "the decorator runs it as well": program(
        NAMED.replace("return fn\n", "fn(None, 0)\n        return fn\n"), BY_NAME, "STEPS[kind](optimizer, it)"
    ),
    "another function is given back": program(
        NAMED.replace("return fn\n", "return timed(fn)\n"), BY_NAME, "STEPS[kind](optimizer, it)"
    ),
    "a registry of a package": program("from engine import register, STEPS\n", BY_NAME, "STEPS[kind](optimizer, it)"),
}


@pytest.mark.parametrize("case", GOES)
def test_a_step_that_is_taken_out_is_handed_the_scaler(case: str) -> None:
    new = migrate_module(GOES[case], Settings()).new_text
    assert new is not None
    assert "def each(optimizer, scaler, it):\n    scaler.step(optimizer)\n    scaler.update()\n" in new
    assert "(optimizer, scaler, it)\n" in new.partition("def train")[2]


@pytest.mark.parametrize("case", STAYS)
def test_other_registries_stay(case: str) -> None:
    assert migrate_module(STAYS[case], Settings()).new_text is None
