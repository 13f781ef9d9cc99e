# expect: manual scaler.step() finds no gradients
import torch
import torch.nn as nn
from apex import amp


class Callback:
    known = []

    def __init_subclass__(cls):
        Callback.known.append(cls)

    def __call__(self, event):
        getattr(self, event)()

    def __init__(self, learner):
        self.learner = learner

    def after_backward(self):
        pass


class Hist(Callback):
    def after_backward(self):
        self.learner.opt.zero_grad()


class Learner:
    def __init__(self, model, names):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.opt = amp.initialize(self.model, self.opt, opt_level="O1")
        self.cbs = [cls(self) for cls in Callback.known]

    def one_batch(self, xb, yb):
        loss = nn.functional.cross_entropy(self.model(xb), yb)
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()
        for cb in self.cbs:
            cb("after_backward")
        self.opt.step()
        self.opt.zero_grad()


def main(names):
    learn = Learner(nn.Linear(5, 3), names)
    for _ in range(3):
        learn.one_batch(torch.randn(6, 5), torch.randint(0, 3, (6,)))
