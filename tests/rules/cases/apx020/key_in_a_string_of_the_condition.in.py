import torch
from apex import amp

fp16 = False
model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if opt["fp16"] == "amp":
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    fp16 = True
print(fp16)
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if opt["fp16"] == "amp":
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
    else:
        loss.backward()
    optimizer.step()
