"""Trains. Needs apex (see the README)."""
from __future__ import annotations
from models import build, make_optimizer
import torch

model = build().cuda()
optimizer = make_optimizer(model.parameters())
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = criterion(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
