# expect: safe

import torch
import torch.nn as nn
from apex import amp

from trainlib import Averager, train_fn, valid_fn


def run_fold(fold):
    torch.manual_seed(fold)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1", verbosity=0)
    data = [(torch.randn(4, 4), torch.randint(0, 2, (4,))) for _ in range(4)]
    best = None
    for epoch in range(2):
        train_fn(model, data, optimizer)
        loss = valid_fn(model, data[:2])
        scheduler.step(loss)
        if best is None or loss < best:
            best = loss
    return best, list(model.parameters())


def main():
    return [run_fold(f) for f in range(2)]


if __name__ == "__main__":
    print(main())
