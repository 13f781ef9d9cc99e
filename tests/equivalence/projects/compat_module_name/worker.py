import torch.nn as nn

import common as C


def work(model, optim, batches):
    criterion = nn.SmoothL1Loss()
    losses = []
    for i, (x, y) in enumerate(batches):
        loss = criterion(model(x), y)
        if i == 1:
            loss = loss * 1e37
        optim.zero_grad()
        if C.has_apex:
            with C.amp.scale_loss(loss, optim) as sl:
                sl.backward()
        else:
            loss.backward()
        optim.step()
        losses.append(loss.item())
    return losses
