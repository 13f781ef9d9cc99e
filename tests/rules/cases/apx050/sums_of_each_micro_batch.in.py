# expect: manual unscale_ may run only once per step
import torch
import torch.nn.functional as F
from apex import amp


class Accumulator:
    def __init__(self, params):
        self.params = list(params)
        self.sums = [torch.zeros_like(p) for p in self.params]

    def pull(self):
        for p, s in zip(self.params, self.sums):
            s += p.grad
            p.grad = None

    def push(self):
        for p, s in zip(self.params, self.sums):
            p.grad = s.clone()
            s.zero_()


def train(loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    sums = Accumulator(model.parameters())
    for i, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x), y) / 2
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        sums.pull()
        if i % 2:
            sums.push()
            optimizer.step()
