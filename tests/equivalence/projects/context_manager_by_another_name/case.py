# expect: safe
# shape: what a context manager of another file hands out goes by another name there; one batch overflows

import torch
import torch.nn as nn
from apex import amp

from precision import parameters_to_clip, scaled


def train(model, optimizer, data, fp16):
    losses = []
    for x, y in data:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        with scaled(loss, optimizer, fp16) as loss_to_use:
            loss_to_use.backward()
        nn.utils.clip_grad_norm_(parameters_to_clip(model, optimizer, fp16), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


def main(fp16=True):
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    data = [(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(5)]
    data[2][1][0, 0] = float("inf")
    return train(model, optimizer, data, fp16), list(model.parameters())


if __name__ == "__main__":
    print(main())
