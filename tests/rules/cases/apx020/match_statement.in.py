# expect: manual
import torch
from apex import amp

model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
match args.precision:
    case "mixed":
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    case _:
        model = model.float()
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if args.precision == "mixed":
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
