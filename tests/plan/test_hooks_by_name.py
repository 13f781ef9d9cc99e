"""What a hook initializes that is found by its name, and loops that fill attributes."""

from __future__ import annotations

from migrate.engine import migrate_module
from migrate.model import Settings

TEXT = """\
import torch
from apex import amp


class Mixed:
    def begin(self):
        l = self.learn
        l.net, l.opt = amp.initialize(l.net, l.opt, opt_level="O1")
        l.backward = self.backward

    def backward(self, loss):
        with amp.scale_loss(loss, self.learn.opt) as scaled:
            scaled.backward()


class Other:
    def end(self):
        print(self.learn.loss.item())


class Learner:
    def __init__(self, net, hooks):
        self.net, self.hooks = net, hooks
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for hook in hooks:
            hook.learn = self

    def ask(self, name):
        FOUND

    def fit(self, data):
        self.ask("begin")
        for self.x, self.y in data:
            self.loss = (self.net(self.x) - self.y).pow(2).mean()
            self.opt.zero_grad()
            self.backward(self.loss)
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
            self.opt.step()

    def backward(self, loss):
        loss.backward()


def main(data):
    Learner(torch.nn.Linear(4, 2), [Mixed(), Other()]).fit(data)
"""
FOUND = "for hook in self.hooks:\n            if hasattr(hook, name):\n                getattr(hook, name)()"
LISTED = "return [getattr(hook, name)() for hook in self.hooks if hasattr(hook, name)]"
OTHER = "for hook in self.hooks:\n            if hasattr(hook, 'ready'):\n                getattr(hook, name)()"


def test_a_hook_that_runs_is_there() -> None:
    for found in (FOUND, LISTED):
        text = migrate_module(TEXT.replace("FOUND", found), Settings()).new_text
        assert text is not None and '        l.scaler = torch.amp.GradScaler("cuda")\n' in text
        # a loop that fills attributes of self goes over no optimizers
        assert "            self.scaler.unscale_(self.opt)\n            torch.nn.utils.clip_grad_norm_" in text
        assert "            self.scaler.step(self.opt)\n            self.scaler.update()\n" in text


def test_what_else_a_hook_is_asked_for_is_a_condition() -> None:
    text = migrate_module(TEXT.replace("FOUND", OTHER), Settings()).new_text
    assert text is not None and '        self.scaler = torch.amp.GradScaler("cuda", enabled=False)\n' in text
