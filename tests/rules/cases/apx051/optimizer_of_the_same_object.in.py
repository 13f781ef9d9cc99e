import torch
from apex import amp


class Agent:
    def __init__(self, lr):
        self.net, self.target = build().cuda(), build().cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=lr)
        self.net, self.optimizer = amp.initialize(self.net, self.optimizer, opt_level="O1")

    def learn(self, x, y):
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        self.optimizer.zero_grad()
        with amp.scale_loss(loss, self.optimizer) as scaled_loss:
            scaled_loss.backward()
        torch.nn.utils.clip_grad_norm_(amp.master_params(self.optimizer), 1.0)
        self.optimizer.step()


def main(loader):
    agent = Agent(0.1)
    for x, y in loader:
        agent.learn(x, y)
