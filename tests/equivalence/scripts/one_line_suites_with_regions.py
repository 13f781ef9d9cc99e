# expect: safe

import torch, torch.nn as nn, torch.nn.functional as F
from apex import amp


class Trainer:
    def __init__(self, fp16=True):
        torch.manual_seed(0)
        self.net = nn.Linear(6, 3); self.crit = nn.CrossEntropyLoss()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)
        if fp16: self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")

    def loss(self, batch):
        x, y = batch
        return self.crit(self.net(x), y)

    def optimize(self, loss):
        self.opt.zero_grad()
        with amp.scale_loss(loss, self.opt) as scaled: scaled.backward()
        self.opt.step()

    def fit(self, batches):
        for b in batches: self.optimize(self.loss(b))
        seen = 0
        for b in batches: seen += 1; self.optimize(self.loss(b))
        while batches: self.optimize(self.loss(batches.pop()))
        return seen


def main():
    trainer = Trainer()
    batches = [(torch.rand(4, 6), torch.randint(0, 3, (4,))) for _ in range(3)]
    trainer.fit(batches)
    net, opt, out = trainer.net, trainer.opt, []
    for i in range(3):
        x, y = torch.rand(4, 6), torch.randint(0, 3, (4,)); loss = F.cross_entropy(net(x), y)
        if i >= 1:
            extra = net(x).pow(2).mean(); loss = loss + extra; out.append(extra.item())
        opt.zero_grad()
        with amp.scale_loss(loss, opt) as scaled: scaled.backward()
        opt.step(); out.append(loss.item())
        if i % 2: out += net(x).flatten().tolist()[:2]
    return out + [p.sum().item() for p in net.parameters()]


if __name__ == "__main__":
    print(main())
