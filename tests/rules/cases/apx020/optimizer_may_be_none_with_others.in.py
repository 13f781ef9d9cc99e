# expect: review O2 kept float16 weights
import torch
from apex import amp

model = build().cuda()
optimizer, scheduler = None, None
if train:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
pair = amp.initialize(model, optimizer, opt_level="O2")
model, optimizer = pair if train else (pair, None)
for x, y in loader:
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
