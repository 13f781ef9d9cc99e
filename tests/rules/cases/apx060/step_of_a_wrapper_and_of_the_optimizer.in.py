# expect: manual
import torch
from apex import amp
from lookahead import Lookahead

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
lookahead = Lookahead(optimizer)
for i, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    if i < 100:
        optimizer.step()
    else:
        lookahead.step()
