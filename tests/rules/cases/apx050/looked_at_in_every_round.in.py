# expect: manual
import torch
from apex import amp

model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for step, (x, y) in enumerate(loader):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    for name, weight in model.named_parameters():
        if "bn" in name:
            weight.grad.data.add_(0.01 * torch.sign(weight.data))
    if step % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
