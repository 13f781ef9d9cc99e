# expect: manual anew on every call
import functools
import torch
import torch.nn as nn
import torch.nn.functional as F
from apex import amp


def batches(n=4):
    return [(torch.randn(8, 4) * (1e7 if i == 1 else 1), torch.randint(0, 2, (8,))) for i in range(n)]


@functools.lru_cache(maxsize=None)
def get():
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    return model, optimizer


def step(x, y):
    model, optimizer = get()
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()


def main():
    torch.manual_seed(0)
    for x, y in batches():
        step(x, y)
    return [p.detach() for p in get()[0].parameters()]
