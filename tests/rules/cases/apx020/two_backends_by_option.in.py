# expect: manual
import torch
from apex import amp
from torch.cuda import amp as native

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
backend = amp if args.apex else native
model, optimizer = backend.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
