# expect: review
# shape: a helper runs the backward of each micro-batch and clips; its caller steps behind the loop over them

import torch
import torch.nn as nn
from apex import amp


def backward(model, optimizer, loss, max_norm):
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    return torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), max_norm)


def train(model, optimizer, rounds, max_norm):
    for batches in rounds:
        for x, y in batches:
            loss = 1000 * nn.functional.cross_entropy(model(x), y) / len(batches)
            norm = backward(model, optimizer, loss, max_norm)
            print("%.6f %.5f" % (loss.item(), norm))
        optimizer.step()
        optimizer.zero_grad()


torch.manual_seed(31)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
rounds = [[(torch.randn(3, 4), torch.tensor([0, 1, 1])) for _ in range(2)] for _ in range(4)]
train(model, optimizer, rounds, 0.1)
