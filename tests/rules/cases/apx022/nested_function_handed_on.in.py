# expect: manual
import torch
from apex import amp


def main(loader):
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    hooks = []

    def step(loss, opt):
        with amp.scale_loss(loss, opt) as scaled_loss:
            scaled_loss.backward()
        opt.step()

    hooks.append(step)
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        for hook in hooks:
            hook(loss, optimizer)
