# expect: safe
# shape: amp.state_dict() saved beside model and optimizer, never loaded

import io

import torch
import torch.nn as nn
from apex import amp

torch.manual_seed(90)
model = nn.Linear(4, 2).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
best = None
for epoch in range(4):
    loss = nn.functional.mse_loss(model(torch.randn(3, 4).cuda()), torch.zeros(3, 2).cuda())
    if epoch == 1:
        loss = loss * float("inf")
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    checkpoint = {
        'epoch': epoch + 1,
        'model': model.state_dict(),
        'optimizer': optimizer.state_dict(),
        'amp': amp.state_dict(),
    }
    buffer = io.BytesIO()
    torch.save(checkpoint, buffer)
    buffer.seek(0)
    best = torch.load(buffer, weights_only=False)
    print(epoch, loss.item(), sorted(best))
