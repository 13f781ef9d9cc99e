import torch
import torch.nn as nn
import torch.nn.functional as F


def recalibrate(model):
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d) or isinstance(layer, nn.SyncBatchNorm):
            layer.reset_running_stats()
        if isinstance(layer, nn.SyncBatchNorm):
            layer.momentum = None


def train(model, loader, args):
    recalibrate(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.amp))
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
