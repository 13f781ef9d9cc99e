# expect: manual this step would use gradients that are not unscaled rightly
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
import elsewhere


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        return self.head(self.body(x))


def main(batches):
    model = Net()
    opt_b = torch.optim.SGD(elsewhere.part(model, "body").parameters(), lr=0.01)
    opt_h = torch.optim.SGD(elsewhere.part(model, "head").parameters(), lr=0.1)
    model, [opt_b, opt_h] = amp.initialize(model, [opt_b, opt_h], opt_level="O1")
    for x, y in batches:
        opt_b.zero_grad()
        opt_h.zero_grad()
        loss_h = F.cross_entropy(elsewhere.part(model, "head")(elsewhere.part(model, "body")(x)), y)
        with amp.scale_loss(loss_h, opt_h) as scaled:
            scaled.backward()
        opt_h.step()
        loss = elsewhere.part(model, "body")(x).pow(2).mean()
        with amp.scale_loss(loss, opt_b) as scaled:
            scaled.backward()
        opt_b.step()
