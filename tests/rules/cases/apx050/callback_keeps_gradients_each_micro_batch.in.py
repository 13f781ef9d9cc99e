# expect: manual
import torch
from apex import amp


class LogGradients:
    def on_backward_end(self, model):
        self.last = [p.grad for p in model.parameters()]


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
callback = LogGradients()
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    callback.on_backward_end(model)
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
