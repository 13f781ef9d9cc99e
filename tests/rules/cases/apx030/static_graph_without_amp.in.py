import torch

model = torch.nn.parallel.DistributedDataParallel(net)
model._set_static_graph()
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
