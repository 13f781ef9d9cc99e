# expect: manual: `model.zero_grad()` clears only some gradients of this optimizer: those of `criterion` stay
# shape: metric learning, one optimizer over the model and over a criterion that has parameters; model.zero_grad()

import torch
import torch.nn as nn
from apex import amp


class Proxies(nn.Module):
    def __init__(self):
        super().__init__()
        self.proxies = nn.Parameter(torch.randn(3, 8))

    def forward(self, x, y):
        return (x - self.proxies[y]).pow(2).mean()


def train_epoch(model, criterion, optimizer, loader):
    for x, y in loader:
        model.zero_grad()
        loss = criterion(model(x.cuda()), y.cuda())
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


torch.manual_seed(5)
model, criterion = nn.Linear(4, 8).cuda(), Proxies().cuda()
optimizer = torch.optim.SGD(list(model.parameters()) + list(criterion.parameters()), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
loader = [(torch.randn(6, 4), torch.randint(0, 3, (6,))) for _ in range(3)]
for epoch in range(2):
    train_epoch(model, criterion, optimizer, loader)
print(model.weight, criterion.proxies)
