import torch
from apex import amp


class Trainer:
    def __init__(self, model):
        self.model = model

    def fit(self, optimizer, loader):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(self.model(x), y)
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
trainer = Trainer(model)
trainer.fit(optimizer, load())
