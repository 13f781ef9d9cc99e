# expect: safe

import torch
import torch.nn as nn
from apex import amp

from utils import AverageMeter, grad_norm


def train(model, optimizer, loader, meter):
    norms = []
    for x, y in loader:
        loss = nn.functional.l1_loss(model(x), y)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        norms.append(grad_norm(optimizer))
        optimizer.step()
        meter.update(loss.item(), len(x))
    return norms


def main():
    torch.manual_seed(0)
    model = nn.Linear(5, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer)
    meter = AverageMeter()
    loader = [(torch.randn(3, 5), torch.randn(3, 2)) for _ in range(4)]
    norms = train(model, optimizer, loader, meter)
    return norms, meter.avg, list(model.parameters())


if __name__ == "__main__":
    print(main())
