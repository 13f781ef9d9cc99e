# settings: safe_only=true
# expect: review num_losses=2
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1", num_losses=2)
for x, y in loader:
    optimizer.zero_grad()
    output = model(x)
    loss = criterion(output, y)
    with amp.scale_loss(loss, optimizer, loss_id=0) as scaled_loss:
        scaled_loss.backward(retain_graph=True)
    loss = penalty(output)
    with amp.scale_loss(loss, optimizer, loss_id=1) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
