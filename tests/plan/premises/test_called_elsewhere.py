"""What reads gradients whenever code that is not here, or a thread, likes."""

from __future__ import annotations

import pytest

from migrate import engine
from migrate.model import Settings

TEXT = """\
import logging
import threading
from torch import nn
from apex import amp
from elsewhere import Callback


def watch(model):
    print(SIZE)


class Told(BASE):
    def __init__(self, model):
        self.model = model

    def filter(self, record):
        model = self.model
        record.size = SIZE
        return True


def train(model, optimizer, batches):
    told = MADE
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        CALLED
        optimizer.step()


def main(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    train(model, optimizer, batches)
"""
PLAIN = {"SIZE": "model.weight.grad.norm()", "BASE": "logging.Filter", "MADE": "Told(model)", "CALLED": "pass"}
CASES = {
    "a method of another file's class": ({}, "calls this whenever it likes"),
    "of a callback": ({"BASE": "Callback"}, "`Callback`, whose code is not here"),
    "that looks at weights": ({"SIZE": "model.weight.norm()"}, ""),
    "of nobody's class": ({"BASE": "object"}, ""),
    "of a network": ({"BASE": "nn.Module"}, ""),
    "of a class that nobody makes": ({"MADE": "None"}, ""),
    "that the program calls": ({"CALLED": "told.filter(x)"}, ""),
    "a thread": ({"BASE": "object", "MADE": "threading.Thread(target=watch)"}, "`Thread` runs this"),
    "a thread of a method": (
        {"BASE": "object", "MADE": "threading.Thread(target=Told(model).filter)"},
        "`Thread` runs this",
    ),
    "a thread that looks at weights": (
        {"SIZE": "model.weight", "BASE": "object", "MADE": "threading.Thread(target=watch)"},
        "",
    ),
    "a thread that trains": ({"BASE": "object", "MADE": "threading.Thread(target=main)"}, ""),
}


@pytest.mark.parametrize("case", CASES)
def test_who_reads_when_it_likes(case: str) -> None:
    changed, says = CASES[case]
    text = TEXT
    for name, written in (PLAIN | changed).items():
        text = text.replace(name, written)
    result = engine.migrate_module(text, Settings())
    found = [one.message for one in result.findings if one.rule == "APX056"]
    assert [unit.applicability.value for unit in result.units] == ["review" if says else "safe"]
    assert any(says in message for message in found) if says else not found


TASKS = """\
import asyncio
from apex import amp


async def watch(model):
    while True:
        print(SIZE)
        await asyncio.sleep(0)


async def train(model, optimizer, batches):
    STARTED
    for x in batches:
        optimizer.zero_grad()
        loss = model(x).sum()
        with amp.scale_loss(loss, optimizer) as scaled:
            scaled.backward()
        WAITED
        optimizer.step()


async def both(model, optimizer, batches):
    await asyncio.gather(train(model, optimizer, batches)BESIDE)


def main(model, optimizer, batches):
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    asyncio.run(both(model, optimizer, batches))
"""
WAITS = {"SIZE": "model.weight.grad.norm()", "STARTED": "pass", "WAITED": "await asyncio.sleep(0)", "BESIDE": ""}
TASK_CASES = {
    "a task": ({"STARTED": "task = asyncio.create_task(watch(model))"}, "review"),
    "a coroutine in a list": ({"STARTED": "tasks = [watch(model)]"}, "review"),
    "beside training": ({"BESIDE": ", watch(model)"}, "review"),
    "that looks at weights": ({"STARTED": "asyncio.create_task(watch(model))", "SIZE": "model.weight.norm()"}, "safe"),
    "that is waited for": ({"WAITED": "await watch(model)"}, "safe"),
    "that are all waited for": ({"WAITED": "await asyncio.gather(watch(model), watch(model))"}, "safe"),
}


@pytest.mark.parametrize("case", TASK_CASES)
def test_tasks_that_read(case: str) -> None:
    changed, grade = TASK_CASES[case]
    text = TASKS
    for name, written in (WAITS | changed).items():
        text = text.replace(name, written)
    result = engine.migrate_module(text, Settings())
    found = [one.message for one in result.findings if one.rule == "APX056"]
    assert [unit.applicability.value for unit in result.units] == [grade]
    assert any("the event loop runs this" in message for message in found) == (grade == "review")
