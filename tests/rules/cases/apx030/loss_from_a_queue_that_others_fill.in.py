# expect: manual
import torch
from apex import amp
from queue import Queue

losses = shared(Queue)
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    print(criterion(model(x), y))
while not losses.empty():
    optimizer.zero_grad()
    loss = losses.get()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
