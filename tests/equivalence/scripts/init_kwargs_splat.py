# expect: review: options of the dict other than enabled and opt_level no longer act
# shape: apex.amp.initialize(model, optimizer, **self.amp_args)

import json

import torch
import torch.nn as nn
import apex


class Task:
    def __init__(self, config):
        self.amp_args = json.loads(config)["amp_args"]

    def prepare(self):
        self.model = nn.Linear(4, 2).cuda()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        if self.amp_args is not None:
            self.model, self.optimizer = apex.amp.initialize(self.model, self.optimizer, **self.amp_args)

    def train_step(self, x):
        loss = self.model(x).pow(2).mean()
        self.optimizer.zero_grad()
        if self.amp_args is not None:
            with apex.amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(167)
task = Task('{"amp_args": {"opt_level": "O1"}}')
task.prepare()
for i in range(3):
    print(i, "%.6f" % task.train_step(torch.randn(3, 4).cuda()))
