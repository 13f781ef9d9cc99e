import torch


class Agent:
    def __init__(self, lr):
        self.net, self.target = build().cuda(), build().cuda()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=lr)
        self.scaler = torch.amp.GradScaler("cuda")

    def learn(self, x, y):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(self.net(x), y)
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()


def main(loader):
    agent = Agent(0.1)
    for x, y in loader:
        agent.learn(x, y)
