# expect: review this runs for `scaler`, too, from now on
import torch
from apex import amp


class Tracked:
    def __setattr__(self, name, value):
        print("set", name)
        object.__setattr__(self, name, value)


class Trainer(Tracked):
    def __init__(self, model):
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def step(self, x, y):
        loss = criterion(self.model(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()


trainer = Trainer(build())
for x, y in loader:
    trainer.step(x, y)
