# rule: APX020
import apex
import torch

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = apex.amp.initialize(model, optimizer, opt_level="O1")
model = apex.parallel.DistributedDataParallel(model)
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with apex.amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
