import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
native = torch.cuda.amp.GradScaler()
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if args.native:
        native.scale(loss).backward()
        native.step(optimizer)
        native.update()
    else:
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
