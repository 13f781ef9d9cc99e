# expect: safe

import torch
import torch.nn as nn
import torch.nn.functional as F
import asyncio
from apex import amp


class Source:
    def __init__(self, n):
        self.n = n

    async def __aiter__(self):
        for _ in range(self.n):
            await asyncio.sleep(0)
            yield torch.randn(6, 4), torch.randint(0, 2, (6,))


async def validate(model, x, y):
    await asyncio.sleep(0)
    with torch.no_grad():
        return F.cross_entropy(model(x), y).item()


async def train(model, optimizer, source):
    pending = []
    held = torch.randn(6, 4), torch.randint(0, 2, (6,))
    async for x, y in source:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        pending.append(asyncio.ensure_future(validate(model, *held)))
    return await asyncio.gather(*pending)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    scores = asyncio.run(train(model, optimizer, Source(4)))
    return [scores, list(model.parameters())]


if __name__ == "__main__":
    main()
