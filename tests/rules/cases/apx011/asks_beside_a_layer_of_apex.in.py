import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    import apex
    from apex import amp

    HAS_APEX = True
except ImportError:
    HAS_APEX = False


def recalibrate(model):
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d) or (HAS_APEX and isinstance(layer, apex.parallel.SyncBatchNorm)):
            layer.reset_running_stats()
        if HAS_APEX and isinstance(layer, apex.parallel.SyncBatchNorm):
            layer.momentum = None


def train(model, loader, args):
    recalibrate(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if HAS_APEX and args.amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if HAS_APEX and args.amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
