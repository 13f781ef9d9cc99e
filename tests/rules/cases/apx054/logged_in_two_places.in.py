# expect: manual unscale_ may run only once per step
import torch
from apex import amp


def log_norms(model):
    for name, p in model.named_parameters():
        print(name, p.grad.norm())


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    log_norms(model)
    if (i + 1) % 4 == 0:
        optimizer.step()
        log_norms(model)
        optimizer.zero_grad()
