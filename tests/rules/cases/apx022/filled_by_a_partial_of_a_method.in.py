# expect: manual called through functools.partial
import functools
import torch
from apex import amp


class Trainer:
    def __init__(self, level):
        self.level = level

    def step(self, model, optimizer, batch):
        loss = model(batch).pow(2).mean()
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        return loss.item()


loader = [torch.randn(4, 3) for _ in range(3)]
model = torch.nn.Linear(3, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
step = functools.partial(Trainer(1).step, model, optimizer)
print([step(batch) for batch in loader])
