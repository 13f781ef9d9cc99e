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
    kept = [p for n, p in model.named_parameters() if n.startswith("body")]
    elsewhere.grow(kept, model)
    opt_b = torch.optim.SGD(kept, lr=0.01)
    opt_h = torch.optim.SGD([model.head.weight], lr=0.1)
    model, [opt_b, opt_h] = amp.initialize(model, [opt_b, opt_h], opt_level="O1")
    for x, y in batches:
        opt_b.zero_grad()
        opt_h.zero_grad()
        loss_h = F.cross_entropy(model.head(model.body(x).detach()), y)
        with amp.scale_loss(loss_h, opt_h) as scaled:
            scaled.backward()
        opt_h.step()
        loss = model.body(x).pow(2).mean()
        with amp.scale_loss(loss, opt_b) as scaled:
            scaled.backward()
        opt_b.step()
