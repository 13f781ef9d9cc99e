# expect: safe
# shape: networks that are initialized in a comprehension of a function, two optimizers with a backward each in a round

import torch
import torch.nn as nn
from apex import amp


def train(nets, opts, data):
    for step, x in enumerate(data):
        for net, opt in zip(nets, opts):
            loss = net(x).pow(2).mean()
            opt.zero_grad()
            with amp.scale_loss(loss, opt) as scaled_loss:
                scaled_loss.backward()
            opt.step()
            print(round(loss.item(), 4) if step != 2 else "much")


def members(count):
    nets = [nn.Linear(4, 3).cuda() for _ in range(count)]
    opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
    pairs = [amp.initialize(net, opt, opt_level="O1") for net, opt in zip(nets, opts)]
    return [net for net, _ in pairs], [opt for _, opt in pairs]


def main():
    torch.manual_seed(2)
    data = [torch.randn(5, 4).cuda() * (1e20 if step == 2 else 1) for step in range(5)]
    nets, opts = members(2)
    train(nets, opts, data)
    for net in nets:
        print(net.weight)


main()
