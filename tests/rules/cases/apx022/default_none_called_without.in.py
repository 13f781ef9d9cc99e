import torch
from apex import amp


def run(model, loader, optimizer=None):
    for x, y in loader:
        loss = criterion(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            optimizer.step()


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
run(model, train_loader, optimizer)
run(model, test_loader)
