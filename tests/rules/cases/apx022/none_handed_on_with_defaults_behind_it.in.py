import torch
from apex import amp


def run(model, loader, optimizer=None, epoch=0):
    for x, y in loader:
        loss = criterion(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()
    print("epoch", epoch)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
run(model, train_loader, optimizer, 1)
run(model, test_loader, None, 1)
