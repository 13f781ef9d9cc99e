# expect: safe
# shape: a wrapper that sets the rate takes the name of the optimizer that it wraps

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class NoamOpt:
    """Optim wrapper that implements rate."""

    def __init__(self, model_size, factor, warmup, optimizer):
        self.optimizer = optimizer
        self._step = 0
        self.warmup = warmup
        self.factor = factor
        self.model_size = model_size

    def step(self):
        self._step += 1
        for p in self.optimizer.param_groups:
            p["lr"] = self.rate()
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()

    def rate(self):
        return self.factor * self.model_size ** -0.5 * min(self._step ** -0.5, self._step * self.warmup ** -1.5)


torch.manual_seed(5)
model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 3)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
optimizer = NoamOpt(8, 1, 4, optimizer)
for i in range(6):
    loss = F.cross_entropy(model(torch.randn(4, 5).cuda()), torch.randint(0, 3, (4,)).cuda())
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer.optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    print("%d %.6f %.6f" % (i, loss.item(), optimizer.rate()))
