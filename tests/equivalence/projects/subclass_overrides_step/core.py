import torch
from apex import amp


class Core:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def update(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

    def run(self, batches):
        out = []
        for x, y in batches:
            loss = (self.model(x) - y).pow(2).mean()
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.update()
            out.append(loss.item())
        return out
