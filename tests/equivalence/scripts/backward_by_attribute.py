# expect: safe
# shape: a trainer keeps one of two methods in an attribute, by the condition under which it initializes

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


class Trainer:
    def __init__(self, net, use_amp):
        self.net, self.use_amp = net, use_amp
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        if use_amp:
            self.net, self.opt = amp.initialize(self.net, self.opt, opt_level="O1")
            self.update = self.update_amp
        else:
            self.update = self.update_plain
        self.backward = self.amp_backward if use_amp else self.plain_backward

    def amp_backward(self, loss):
        with amp.scale_loss(loss, self.opt) as scaled_loss:
            scaled_loss.backward()

    def plain_backward(self, loss):
        loss.backward()

    def update_amp(self):
        nn.utils.clip_grad_norm_(amp.master_params(self.opt), 0.5)
        self.opt.step()

    def update_plain(self):
        nn.utils.clip_grad_norm_(self.net.parameters(), 0.5)
        self.opt.step()

    def fit(self, data):
        for x, y in data:
            loss = F.cross_entropy(self.net(x), y)
            self.opt.zero_grad()
            self.backward(loss)
            self.update()
            print(round(loss.item(), 4))


def main():
    torch.manual_seed(3)
    data = [(torch.randn(6, 4).cuda(), torch.randint(0, 3, (6,)).cuda()) for _ in range(5)]
    data[2] = (data[2][0] * 1e36, data[2][1])
    trainer = Trainer(nn.Linear(4, 3).cuda(), use_amp=True)
    trainer.fit(data)
    print(trainer.net.weight)


main()
