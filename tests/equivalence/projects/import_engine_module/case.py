# expect: safe

import torch
import torch.nn as nn
from apex import amp

import engine


def main():
    torch.manual_seed(0)
    device = "cpu"
    net = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2))
    optim = torch.optim.Adam(net.parameters(), lr=1e-2)
    net, optim = amp.initialize(net, optim, opt_level="O1")
    sched = torch.optim.lr_scheduler.StepLR(optim, 1, gamma=0.5)
    data = [(torch.randn(4, 5), torch.randint(0, 2, (4,))) for _ in range(4)]
    out = []
    for epoch in range(2):
        out.append(engine.train_fn(data, net, optim, device, sched))
        out.append(engine.eval_fn(data[:2], net, device))
    return out, list(net.parameters())


if __name__ == "__main__":
    print(main())
