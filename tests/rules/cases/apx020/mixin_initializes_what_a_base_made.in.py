import torch
from apex import amp


class AmpMixin:
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")


class Base:
    def __init__(self, lr):
        self.model = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()


class Trainer(AmpMixin, Base):
    pass


Trainer(0.1).fit([])
