# expect: manual `model(probe).sum().backward()` runs beside a scaled backward of the same step
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    loss = torch.nn.functional.cross_entropy(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    probe = torch.randn(2, 4, requires_grad=True)
    model(probe).sum().backward()
    print(probe.grad.sum().item())
