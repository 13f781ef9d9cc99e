# expect: manual the model is called without casts
import torch
from apex import amp


class AmpMixin:
    fp16 = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")


class Base:
    fp16 = False

    def __init__(self, lr):
        self.model = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            if self.fp16:
                with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            self.optimizer.step()


class Trainer(AmpMixin, Base):
    pass


Base(0.1).fit([])
Trainer(0.1).fit([])
