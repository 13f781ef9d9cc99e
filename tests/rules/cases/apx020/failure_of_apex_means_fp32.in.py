import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    fp16 = True
except RuntimeError:
    fp16 = False
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if fp16:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
