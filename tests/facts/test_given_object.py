"""Files that run a network of an object which they were given, by their text."""

from __future__ import annotations

import pytest

from migrate.facts.elsewhere import may_hold_networks, outline

HOOK = """\
class Hook:
    def __init__(self, data):
        self.data = data

    def one(self):
        return self.data

    def after_step(self, runner):
        BODY
"""
RUNS = [
    "return self.trainer.model(self.data)",
    "return self.trainer.model.forward(self.data)",
    "return self.learn.model.module.encode(self.data)",
    "model = self.trainer.model\n        return model(self.data)",
    "trainer = self.trainer\n        return trainer.network(self.data)",
    "return evaluate(self.trainer.model, self.data)",
    "model = runner.model\n        return model(self.data)",
    "return self.trainer().model(self.data)",
    "return self.state['model'](self.data)",
    "model = self.trainer.get_model()\n        return model(self.data)",
    "return runner.netG(self.data)",
    "return lambda learner: learner.model(self.data)",
]
RUNS_NONE = [
    "return self.trainer.model.state_dict()",
    "return self.trainer.build_model(self.data)",
    "return self.trainer.save_model(self.data)",
    "return self.one().model",
    "return self.trainer.storage(self.data)",
    "return self.cfg.model(self.data)",
    "return self.tokenizer.decoder(self.data)",
    "return self.trainer.with_decoder(self.data)",
    "return save(self.trainer.model, self.data)",
    "return print(self.trainer.model)",
    "return torch.hub.model(self.data)",
]


@pytest.mark.parametrize("body", RUNS)
def test_an_object_that_was_given_runs_its_network(body: str) -> None:
    assert may_hold_networks(outline(HOOK.replace("BODY", body)), [])


@pytest.mark.parametrize("body", RUNS_NONE)
def test_what_runs_none(body: str) -> None:
    assert not may_hold_networks(outline(HOOK.replace("BODY", body)), [])


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("def log(trainer):\n    print(trainer.model(x))\n", True),
        ("def log(into):\n    def call(trainer):\n        into.append(trainer.model(x))\n    return call\n", True),
        ("def log(trainer):\n    print(trainer.model)\n", False),
        ("class B:\n    @property\n    def net(self):\n        return self.trainer.model\n", True),
        ("class B:\n    @property\n    def lr(self):\n        return self.trainer.lr\n", False),
        ("def log(args):\n    return args.model(x)\n", False),
    ],
)
def test_functions_that_are_handed_one(text: str, runs: bool) -> None:
    assert may_hold_networks(outline(text), []) is runs
