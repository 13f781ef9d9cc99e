# rule: APX054
# expect: review gradients are looked at after every backward
import torch
import torch.nn as nn
from apex import amp


class Callback:
    def __init__(self, learner):
        self.learner = learner

    def after_backward(self):
        pass


class Hist(Callback):
    def after_backward(self):
        for p in self.learner.model.parameters():
            print(p.grad.float().sum())


class Learner:
    def __init__(self, model, names):
        self.model, self.seen = model, 0
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.opt = amp.initialize(self.model, self.opt, opt_level="O1")
        self.cbs = [globals()[n](self) for n in names]

    def one_batch(self, xb, yb):
        self.seen += 1
        loss = nn.functional.cross_entropy(self.model(xb), yb)
        with amp.scale_loss(loss, self.opt) as scaled:
            scaled.backward()
        for cb in self.cbs:
            getattr(cb, "after_backward")()
        if self.seen % 2 == 0:
            self.opt.step()
            self.opt.zero_grad()


def main(names):
    learn = Learner(nn.Linear(5, 3), names)
    for _ in range(3):
        learn.one_batch(torch.randn(6, 5), torch.randint(0, 3, (6,)))
