import torch
import torch.nn.functional as F

from .base import BaseTrainer


class LinearTrainer(BaseTrainer):
    def __init__(self, encoder, head, fp16):
        super(LinearTrainer, self).__init__(fp16)
        self.encoder = encoder
        self.head = head
        self.optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
        self.head, self.optimizer = self.wrap(self.head, self.optimizer)

    def fit(self, data):
        out = []
        for a, _, y in data:
            with torch.no_grad():
                feat = self.encoder(a)
            loss = F.cross_entropy(self.head(feat), y)
            self.optimizer.zero_grad()
            self.backward(loss, self.optimizer)
            self.optimizer.step()
            out.append(loss.item())
        return out
