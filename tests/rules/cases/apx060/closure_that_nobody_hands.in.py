import torch
from apex import amp


class Lookahead:
    def __init__(self, optimizer, k=5):
        self.optimizer = optimizer
        self.k, self.counter = k, 0

    def step(self, closure=None):
        loss = self.optimizer.step(closure) if closure is not None else self.optimizer.step()
        self.counter += 1
        return loss


model = build().cuda()
base = torch.optim.SGD(model.parameters(), lr=0.1)
model, base = amp.initialize(model, base, opt_level="O1")
optimizer = Lookahead(base)
for x, y in loader:
    base.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, base) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
