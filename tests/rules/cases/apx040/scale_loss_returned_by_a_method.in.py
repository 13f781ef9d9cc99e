# expect: manual
import torch
from apex import amp


class Precision:
    def scaled(self, loss, optimizer):
        return amp.scale_loss(loss, optimizer)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
precision = Precision()
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with precision.scaled(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
