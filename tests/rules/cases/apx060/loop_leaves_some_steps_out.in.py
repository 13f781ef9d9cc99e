# expect: review several optimizers share this loss
import torch
from apex import amp

models = [build().cuda() for _ in range(3)]
optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in models]
models, optimizers = amp.initialize(models, optimizers, opt_level="O1")
for x, y in loader:
    loss = criterion(sum(m(x) for m in models), y)
    for optimizer in optimizers:
        optimizer.zero_grad()
    with amp.scale_loss(loss, optimizers) as scaled_loss:
        scaled_loss.backward()
    for i, optimizer in enumerate(optimizers):
        if i == frozen:
            continue
        optimizer.step()
