# expect: manual
import torch
from apex import amp

model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    smooth = torch.nn.functional.mse_loss(model(x + noise), target)
    smooth.backward()
    optimizer.step()
