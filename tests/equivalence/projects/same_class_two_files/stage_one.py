import torch
from apex import amp


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def step(self, loss):
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled:
            scaled.backward()
        self.optimizer.step()

    def fit(self, n):
        out = []
        for _ in range(n):
            loss = self.model(torch.randn(4, 3)).pow(2).mean()
            self.step(loss)
            out.append(loss.item())
        return out
