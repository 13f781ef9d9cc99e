# expect: manual belongs to two optimizers
import torch
from apex import amp

model = build().cuda()
one = torch.optim.SGD(list(model.trunk.parameters()) + list(model.left.parameters()), lr=0.1)
two = torch.optim.SGD(list(model.trunk.parameters()) + list(model.right.parameters()), lr=0.1)
model, [one, two] = amp.initialize(model, [one, two], opt_level="O1")
for x, y in loader:
    one.zero_grad()
    two.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, [one, two]) as scaled_loss:
        scaled_loss.backward()
    one.step()
    two.step()
