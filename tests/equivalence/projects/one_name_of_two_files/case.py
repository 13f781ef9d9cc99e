# expect: review

import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp
import os
if os.environ.get("SLOW", "1") == "1":
    from slow import step
else:
    from fast import step


def main():
    torch.manual_seed(0)
    model = nn.Linear(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    out = []
    for i in range(6):
        loss = F.cross_entropy(model(torch.randn(4, 5)), torch.randint(0, 3, (4,)))
        optimizer.zero_grad()
        step(loss, optimizer)
        out.append(loss.item())
    return out, list(model.parameters())
