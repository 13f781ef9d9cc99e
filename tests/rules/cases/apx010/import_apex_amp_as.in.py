import torch as T
import apex.amp as A

model = build().cuda()
optimizer = T.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = A.initialize(model, optimizer, opt_level="O1")
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    with A.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
