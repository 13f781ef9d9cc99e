import torch
from apex import amp
from shards import calibrated, sharded

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
model = sharded(model, group=cfg.group)
model = calibrated(model, rows)
for x, y in loader:
    loss = model(x, y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
