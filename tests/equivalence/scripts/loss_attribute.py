# expect: safe
# shape: self.loss as an attribute, forward and backward in one method of a class

import torch
import torch.nn as nn
from apex import amp


class Model:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1)).cuda()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=0.03)
        self.net, self.optimizer = amp.initialize(self.net, self.optimizer, opt_level="O1")
        self.loss = None

    def step(self, x, y):
        self.optimizer.zero_grad()
        self.out = self.net(x)
        self.loss = nn.functional.mse_loss(self.out, y)
        with amp.scale_loss(self.loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        self.optimizer.step()

    def report(self, i):
        print("%d %.6f" % (i, self.loss.item()))


torch.manual_seed(65)
m = Model()
for i in range(5):
    m.step(torch.randn(4, 3).cuda(), torch.ones(4, 1).cuda())
    m.report(i)
