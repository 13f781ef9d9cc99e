import torch
import torch.nn.functional as F


def slim(layers, s):
    for layer in layers:
        layer.weight.grad.data.add_(s * torch.sign(layer.weight.data))


def train(model, loader, opt):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    model.train()
    for i, (images, labels) in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(images), labels)
        scaler.scale(loss).backward()
        loss_scale = scaler.get_scale()
        if (i + 1) % opt.accumulate == 0:
            scaler.unscale_(optimizer)
            loss_scale = 1.0
        slim(model.layers, opt.s * loss_scale)
        if (i + 1) % opt.accumulate == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def main(opt, loader):
    train(torch.nn.Linear(4, 2).cuda(), loader, opt)
