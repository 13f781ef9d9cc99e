# expect: safe

import torch
import torch.nn as nn

from saver import snapshot
from trainer import Trainer


def main():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    data = [(torch.randn(3, 4), torch.randint(0, 2, (3,))) for _ in range(4)]
    trainer = Trainer(model, optimizer, {"epochs": 3}, data)
    log = trainer.train()
    state = snapshot(trainer)
    return log, [v for v in state["model"].values()], list(trainer.model.parameters())


if __name__ == "__main__":
    main()
