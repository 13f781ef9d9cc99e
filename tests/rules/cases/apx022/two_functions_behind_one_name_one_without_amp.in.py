import torch
from apex import amp


def train_amp(model, optimizer, loader):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


def train_debug(model, optimizer, loader):
    print(model, optimizer, loader)


model = build().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
train = train_debug if args.debug else train_amp
train(model, optimizer, load())
