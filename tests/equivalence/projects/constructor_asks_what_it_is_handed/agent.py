import torch
from torch import nn
from apex import amp


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)

    def act(self, x):
        out = self(x)
        return out.sum(1)


class PPO:
    def __init__(self):
        self.policy = Net()
        self.optimizer = torch.optim.SGD(self.policy.parameters(), lr=0.1)
        self.policy, self.optimizer = amp.initialize(self.policy, self.optimizer, opt_level="O1")

    def update(self, x):
        loss = self.policy.act(x).pow(2).mean()
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as s:
            s.backward()
        self.optimizer.step()
        return loss.item()
