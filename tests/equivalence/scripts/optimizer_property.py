# expect: safe
# shape: model and optimizer are properties that make what they hand out when it is asked for first
# argv: --fp16
# argv:

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Trainer:
    def __init__(self, args):
        self.args = args
        self._model = None
        self._optimizer = None

    @property
    def model(self):
        if self._model is None:
            self._model = nn.Linear(6, 4).cuda()
        return self._model

    @property
    def optimizer(self):
        if self._optimizer is None:
            self._optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
            if self.args.fp16:
                self._model, self._optimizer = amp.initialize(self.model, self._optimizer, opt_level="O1")
        return self._optimizer

    def backward(self, loss):
        if not self.args.fp16:
            return loss.backward()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            return scaled_loss.backward()

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = F.mse_loss(self.model(x), y)
        self.backward(loss)
        if self.args.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
        self.optimizer.step()
        return loss.item()


parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true")
parser.add_argument("--clip", type=float, default=0.5)
args = parser.parse_args()
torch.manual_seed(5)
trainer = Trainer(args)
for step in range(4):
    print(step, "%.5f" % trainer.step(torch.randn(5, 6).cuda(), torch.randn(5, 4).cuda()))
