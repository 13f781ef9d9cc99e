import torch
from apex import amp
from meters import Meter

model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
meter = Meter()
right = 0
for x, y in held_out:
    logits = model(x)
    preds = torch.argmax(logits, -1)
    right += torch.sum(preds).item()
    meter.update(logits.max().item(), x.size(0))
    print(right)
    print(meter)
    print(x)
