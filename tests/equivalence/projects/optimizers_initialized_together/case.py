# expect: safe

from types import SimpleNamespace

import torch
import torch.nn as nn

from models import create_optimizers


def main():
    opt = SimpleNamespace(fp16=True, lr=1e-2, scales=2)
    torch.manual_seed(0)
    net_g = nn.Linear(3, 4)
    net_d = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
    net_g, net_d, optimizer_g, optimizer_d, optimizers_t = create_optimizers(opt, net_g, net_d)
    losses = []
    for i in range(6):
        z, real = torch.randn(5, 3), torch.randn(5, 4)
        fake = net_g(z)
        loss_g = torch.mean((net_d(fake) - 1) ** 2)
        loss_d = torch.mean((net_d(real) - 1) ** 2) + torch.mean(net_d(fake.detach()) ** 2)
        if i == 3:
            loss_g = loss_g * 1e37
        loss_backward(opt, loss_g, optimizer_g)
        losses.append(loss_d.item())
        loss_backward(opt, torch.mean((net_d(real) - 1) ** 2), optimizer_d)
        for optimizer in optimizers_t:
            loss_backward(opt, torch.mean(net_d(real) ** 2), optimizer)
    return losses, list(net_g.parameters()), list(net_d.parameters())


def loss_backward(opt, loss, optimizer):
    optimizer.zero_grad()
    if opt.fp16:
        from apex import amp
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()


if __name__ == "__main__":
    print(main())
