# expect: manual the model is called in the statement that also runs a backward or step
import torch
from apex import amp


def train(output, y):
    loss = criterion(output, y)
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
    optimizer.zero_grad()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    train(model(x), y)
    log(train(model(x), y) if y.any() else None)
