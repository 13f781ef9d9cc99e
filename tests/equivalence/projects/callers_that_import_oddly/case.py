# expect: safe
"""Who calls `step` imports it behind a backslash, behind a colon, and behind a semicolon."""

import torch
import torch.nn as nn
from apex import amp

import one
import other


def step(net, opt, x):
    opt.zero_grad()
    loss = net(x).pow(2).mean()
    with amp.scale_loss(loss, opt) as scaled:
        scaled.backward()
    opt.step()
    return loss.item()


def main():
    torch.manual_seed(0)
    net = nn.Linear(3, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net, opt = amp.initialize(net, opt, opt_level="O1")
    return one.more(net, opt), other.more(net, opt), list(net.parameters())


if __name__ == "__main__":
    print(main())
