# expect: safe
# shape: a function returns closures over model and optimizer; it is called once in float32, once with amp

import torch
import torch.nn as nn
from apex import amp


def make(model, optimizer, fp16):
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    count = 0

    def step(x, y):
        nonlocal count
        loss = nn.functional.mse_loss(model(x), y)
        if fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        count += 1
        if count % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()
        return loss.item()

    return step


for fp16 in (False, True):
    torch.manual_seed(410)
    model = nn.Linear(3, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = make(model, optimizer, fp16)
    for i in range(5):
        print(fp16, i, "%.6f" % step(torch.randn(4, 3).cuda(), torch.randn(4, 2).cuda()))
