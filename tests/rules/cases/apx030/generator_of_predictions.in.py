import torch
from apex import amp


def predictions(model, loader):
    with torch.no_grad():
        for x in loader:
            output = model(x)
            yield output.argmax(1)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
for labels in predictions(model, loader):
    print(labels.tolist())
