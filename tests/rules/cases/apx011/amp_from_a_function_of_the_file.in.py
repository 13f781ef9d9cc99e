import torch


def get_amp(fp16):
    if fp16:
        from apex import amp
    else:
        amp = None
    return amp


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
mixed = get_amp(True)
if mixed is not None:
    model, optimizer = mixed.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if mixed is not None:
        with mixed.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
