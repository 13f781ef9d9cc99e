# expect: manual
import torch
from apex import amp
from losses import next_loss

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
while True:
    optimizer.zero_grad()
    loss = next_loss()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
