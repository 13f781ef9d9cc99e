import torch
from apex import amp

from guardrail import check


def one_epoch(model, optimizer, bad):
    total = 0.0
    for i in range(3):
        loss = model(torch.randn(4, 3)).pow(2).mean()
        if bad and i == 1:
            loss = loss * float("nan")
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        check(loss.item())
        optimizer.step()
        total += loss.item()
    return total
