# expect: manual gradients are read after every backward, but the optimizer s
import torch
import torch.nn.functional as F
from apex import amp


def slim(layers, s):
    for layer in layers:
        layer.weight.grad.data.add_(s * torch.sign(layer.weight.data) + 0.1)


def train(model, loader, opt):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    model.train()
    for i, (images, labels) in enumerate(loader):
        loss = F.cross_entropy(model(images), labels)
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        slim(model.layers, opt.s)
        if (i + 1) % opt.accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()


def main(opt, loader):
    train(torch.nn.Linear(4, 2).cuda(), loader, opt)
