import torch
from apex import amp

state = {"amp": None, "step": 0}
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if args.fp16:
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    state["amp"] = amp
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if args.fp16:
        with state["amp"].scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
    if state["amp"] is not None:
        print("mixed precision")
