# expect: manual gradients are read or changed here while they are still scaled
import torch
import torch.nn.functional as F
from apex import amp


class Weighter:
    def __init__(self, model):
        self.model = model

    def weights(self, n):
        g = self.model.weight.grad
        return torch.ones(n) if g is None else torch.full((n,), 1.0 + g.abs().sum().item())


def train(loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    weighter = Weighter(model)
    for i, (x, y) in enumerate(loader):
        weights = weighter.weights(len(x))
        loss = (F.cross_entropy(model(x), y, reduction="none") * weights).mean() / 2
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        if i % 2:
            optimizer.step()
            optimizer.zero_grad()
