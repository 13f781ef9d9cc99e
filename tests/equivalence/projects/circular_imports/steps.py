import torch
from apex import amp

import state


def run(model, optimizer, n):
    for i in range(n):
        loss = (model(torch.randn(4, 3)) ** 2).mean()
        if i == 1:
            loss = loss * 1e37
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        state.record(loss.item())
