import torch
from apex import amp


class Trainer:
    def __init__(self):
        self.model = build().cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def _clip(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = criterion(self.model(x), y)
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self._clip()
        self.optimizer.step()
