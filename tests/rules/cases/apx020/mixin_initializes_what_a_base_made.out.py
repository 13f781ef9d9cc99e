import torch


class AmpMixin:
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)


class Base:
    def __init__(self, lr):
        self.model = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler("cuda")

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            with torch.autocast("cuda", dtype=torch.float16):
                loss = torch.nn.functional.mse_loss(self.model(x), y)
            self.scaler.scale(loss).backward()
            self.scaler.step(self.optimizer)
            self.scaler.update()


class Trainer(AmpMixin, Base):
    pass


Trainer(0.1).fit([])
