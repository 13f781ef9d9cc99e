# expect: manual this step would use gradients that are not unscaled rightly
import torch
import torch.nn.functional as F
from apex import amp


class Both(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.second = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.second(self.first(x))


def train(loader):
    model = Both()
    one = torch.optim.SGD(model.first.parameters(), lr=0.1)
    other = torch.optim.SGD(model.second.parameters(), lr=0.1)
    model, (one, other) = amp.initialize(model, [one, other], opt_level="O1")
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        one.zero_grad()
        with amp.scale_loss(loss, one) as scaled_loss:
            scaled_loss.backward()
        one.step()
        loss = F.mse_loss(model(x).sum(1), y.float())
        with amp.scale_loss(loss, other) as scaled_loss:
            scaled_loss.backward()
        other.step()
        other.zero_grad()
