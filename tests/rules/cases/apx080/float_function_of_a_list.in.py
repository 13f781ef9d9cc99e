# expect: manual
import torch
from apex import amp


@amp.float_function
def total(outputs, targets):
    return sum(criterion(o, t) for o, t in zip(outputs, targets))


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = total([model(x)], [y])
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
