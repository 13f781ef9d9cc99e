import torch
from meters import Meter

model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    optimizer.zero_grad()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = torch.nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
meter = Meter()
right = 0
for x, y in held_out:
    with torch.autocast("cuda", dtype=torch.float16):
        logits = model(x)
    preds = torch.argmax(logits, -1)
    right += torch.sum(preds).item()
    meter.update(logits.max().item(), x.size(0))
    print(right)
    print(meter)
    print(x)
