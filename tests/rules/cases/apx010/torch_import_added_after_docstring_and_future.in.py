"""Trains. Needs apex (see the README)."""
from __future__ import annotations
from apex import amp
from models import build, make_optimizer

model = build().cuda()
optimizer = make_optimizer(model.parameters())
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
