import torch
import torch.nn as nn

from ..utils import amp, clip_gradients
from .step import train_step


def fit(cfg, loader):
    model = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr)
    if cfg.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    losses = []
    for epoch in range(cfg.epochs):
        for i, batch in enumerate(loader):
            losses.append(train_step(cfg, model, optimizer, batch, explode=epoch == 1 and i == 0))
    return losses, list(model.parameters())
