# expect: safe
# shape: the base class owns model and optimizer, a subclass in the same file holds the forward

import torch
import torch.nn as nn
from apex import amp


class BaseTrainer:
    def __init__(self, model, lr):
        self.model = model.cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
        self.model, self.optimizer = amp.initialize(self.model, self.optimizer, opt_level="O1")

    def compute_loss(self, batch):
        raise NotImplementedError

    def run(self, batches):
        for i, batch in enumerate(batches):
            self.optimizer.zero_grad()
            loss = self.compute_loss(batch)
            with amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
            self.optimizer.step()
            print(type(self).__name__, i, "%.6f" % loss.item())


class Classification(BaseTrainer):
    def compute_loss(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self.model(x.cuda()), y.cuda())


torch.manual_seed(152)
Classification(nn.Linear(4, 2), 0.1).run([(torch.randn(3, 4), torch.tensor([0, 1, 1])) for _ in range(4)])
