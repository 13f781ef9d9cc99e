# expect: manual amp.scale_loss is handed on as an object here
import torch
from apex import amp

scaled = amp.scale_loss
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with scaled(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
report(scaled)
