import torch

from core import Core


class Clipped(Core):
    def update(self):
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 0.1)
        self.optimizer.step()
        self.optimizer.zero_grad()
