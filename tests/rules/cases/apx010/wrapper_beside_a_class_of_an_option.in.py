import torch
from apex import amp

try:
    from apex.parallel import DistributedDataParallel as ApexDDP
except ImportError:
    raise ImportError("Please install apex")

model = eval(config.MODULE)(config).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
