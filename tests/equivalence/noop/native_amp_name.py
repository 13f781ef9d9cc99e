# moved away from apex: this file uses native AMP under the name amp
import torch
from torch.cuda import amp

model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = amp.GradScaler(enabled=False)
for _ in range(2):
    optimizer.zero_grad()
    with amp.autocast(enabled=False):
        loss = model(torch.ones(2, 3)).pow(2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
