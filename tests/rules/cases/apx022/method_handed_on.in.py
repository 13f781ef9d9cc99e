# expect: manual
import torch
from apex import amp


class Trainer:
    def step(self, loss, optimizer):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
trainer = Trainer()
engine = Engine(trainer.step)
for x, y in loader:
    engine.run(criterion(model(x), y), optimizer)
