# expect: manual
import torch
from apex import amp
from helpers import run_backward

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    loss = criterion(model(x), y)
    run_backward(amp, loss, optimizer)
    optimizer.step()
