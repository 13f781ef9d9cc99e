# expect: safe
# shape: a density model from a registry of factories: log_prob and sample run its parts, nothing calls model(x)

import torch
import torch.nn as nn
from apex import amp


class Shift(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 4)

    def transform(self, x):
        a, b = x.chunk(2, dim=1)
        shift, scale = self.net(a).chunk(2, dim=1)
        return torch.cat([b * scale.tanh().exp() + shift, a], dim=1), scale.tanh().sum(1)


class Flow(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.steps = nn.ModuleList(Shift() for _ in range(depth))

    def log_prob(self, x):
        total = 0.0
        for step in self.steps:
            x, log_det = step.transform(x)
            total = total + log_det
        return total - 0.5 * x.pow(2).sum(1)

    def log_sizes(self):
        return [p.numel() for p in self.parameters()]


FLOWS = {"shift": lambda depth: Flow(depth)}
torch.manual_seed(2)
flow = FLOWS["shift"](2).cuda()
optimizer = torch.optim.Adam(flow.parameters(), lr=0.01)
flow, optimizer = amp.initialize(flow, optimizer, opt_level="O1")
print(flow.log_sizes())
for step in range(4):
    loss = -flow.log_prob(torch.randn(6, 4).cuda()).mean()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print(step, "%.6f" % loss.item())
