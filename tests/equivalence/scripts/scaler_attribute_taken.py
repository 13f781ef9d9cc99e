# expect: safe
# shape: self.scaler is taken by something else in a Trainer class

import torch
import torch.nn as nn
from apex import amp


class Supervisor:
    def __init__(self, scaler):
        self.scaler = scaler
        self.model = nn.GRU(2, 3, batch_first=True).cuda()
        self.proj = nn.Linear(3, 2).cuda()
        params = list(self.model.parameters()) + list(self.proj.parameters())
        self.optimizer = torch.optim.Adam(params, lr=0.02)
        [self.model, self.proj], self.optimizer = amp.initialize([self.model, self.proj], self.optimizer,
                                                                 opt_level="O1")

    def step(self, x, y):
        self.optimizer.zero_grad()
        h, _ = self.model(x * self.scaler)
        loss = nn.functional.l1_loss(self.proj(h[:, -1]), y * self.scaler)
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(114)
s = Supervisor(0.5)
for i in range(5):
    print(i, "%.6f" % s.step(torch.randn(3, 4, 2).cuda(), torch.randn(3, 2).cuda()))
