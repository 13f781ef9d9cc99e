import torch.nn.functional as F
from apex import amp

from builder import build


def fit(cfg, loader):
    model, optimizer = build(cfg)
    losses = []
    for epoch in range(cfg["epochs"]):
        for i, (x, y) in enumerate(loader):
            pred = model(x)
            loss = F.mse_loss(pred, y)
            if cfg["blow_up"] == (epoch, i):
                loss = loss * 1e36
            optimizer.zero_grad()
            if cfg["fp16"]:
                with amp.scale_loss(loss, optimizer) as scaled:
                    scaled.backward()
            else:
                loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return model, losses
