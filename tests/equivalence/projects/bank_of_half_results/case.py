# expect: review
# casts: real

import torch
import torch.nn.functional as F
from apex import amp

import bank
from net import Net


class Trainer(bank.Thresholds):
    def __init__(self):
        torch.manual_seed(0)
        self.model = Net()
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.model, self.opt = amp.initialize(self.model, self.opt, opt_level="O1")
        self.bank = bank.Bank(12, 3)

    def train(self):
        logs = []
        for i in range(3):
            x, y = torch.randn(4, 4), torch.randint(0, 3, (4,))
            out = self.model(x)
            loss = F.cross_entropy(out, y)
            self.opt.zero_grad()
            with amp.scale_loss(loss, self.opt) as scaled:
                scaled.backward()
            self.opt.step()
            # behind the step, in another file: softmax into a float32 buffer, a product with one
            self.bank.update(torch.arange(4) + 4 * i, out)
            logs.append([loss.item(), self.bank.similar(out), self.confident(out), bank.spread(out)])
        return logs


def main():
    trainer = Trainer()
    return [trainer.train(), trainer.bank.z, list(trainer.model.parameters())]


if __name__ == "__main__":
    print(main())
