# expect: manual this step would use other gradients than before
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for batches in loader:
    optimizer.zero_grad()
    for i in range(0, len(batches), 2):
        loss = criterion(model(batches[i]))
        with amp.scale_loss(loss, optimizer, delay_unscale=i < len(batches) - 1) as scaled_loss:
            scaled_loss.backward()
    optimizer.step()
