# expect: safe

from types import SimpleNamespace

import torch
import torch.nn as nn

from helper import backward, clip_and_step, init_amp


def main():
    args = SimpleNamespace(fp16=True, opt_level="O1", max_norm=1.0)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model, optimizer = init_amp(args, model, optimizer)
    losses, norms = [], []
    for i in range(6):
        x, y = torch.randn(4, 5), torch.randint(0, 2, (4,))
        loss = nn.functional.cross_entropy(model(x), y)
        if i == 4:
            loss = loss * 1e37
        backward(args, loss, optimizer)
        norm = clip_and_step(args, model, optimizer)
        losses.append(loss.item())
        norms.append(0.0 if i == 4 else float(norm))
    return losses, norms, list(model.parameters())


if __name__ == "__main__":
    print(main())
