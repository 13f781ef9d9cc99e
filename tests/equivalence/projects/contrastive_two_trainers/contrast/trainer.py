import torch
import torch.nn.functional as F

from .base import BaseTrainer


class ContrastTrainer(BaseTrainer):
    def __init__(self, encoder, fp16):
        super(ContrastTrainer, self).__init__(fp16)
        self.optimizer = torch.optim.SGD(encoder.parameters(), lr=0.1)
        self.encoder, self.optimizer = self.wrap(encoder, self.optimizer)

    def fit(self, data):
        out = []
        for a, b, _ in data:
            q, k = self.encoder(a), self.encoder(b)
            loss = F.cross_entropy(q @ k.t(), torch.arange(len(a)))
            self.optimizer.zero_grad()
            self.backward(loss, self.optimizer)
            self.optimizer.step()
            out.append(loss.item())
        return out
