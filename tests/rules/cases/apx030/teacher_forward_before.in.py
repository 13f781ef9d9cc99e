import torch
from apex import amp

teacher = build_teacher().cuda().eval()
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    with torch.no_grad():
        hints = teacher(x)
    output = model(x)
    loss = distill(output, hints, y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
