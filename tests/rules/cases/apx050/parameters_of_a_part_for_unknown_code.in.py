import torch
from apex import amp
from limits import bound

model = build().cuda()
task = Task(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
task, optimizer = amp.initialize(task, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = task(x, y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    bound(task.model.parameters(), 1.0)
    optimizer.step()
