import torch
import torch.nn as nn

try:
    from apex import amp
except ImportError:
    amp = None

from solver import make_optimizer
from meter import AverageMeter


def do_train(cfg, model, train_loader, val_loader, loss_fn):
    optimizer = make_optimizer(cfg, model)
    if cfg.SOLVER.FP16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    loss_meter = AverageMeter()
    acc_meter = AverageMeter()
    for epoch in range(cfg.SOLVER.MAX_EPOCHS):
        loss_meter.reset()
        acc_meter.reset()
        model.train()
        for n_iter, (img, vid) in enumerate(train_loader):
            optimizer.zero_grad()
            score, feat = model(img, vid)
            loss = loss_fn(score, feat, vid)
            if cfg.SOLVER.FP16:
                with amp.scale_loss(loss, optimizer) as scaled_loss:
                    scaled_loss.backward()
            else:
                loss.backward()
            optimizer.step()
            acc = (score.max(1)[1] == vid).float().mean()
            loss_meter.update(loss.item(), img.shape[0])
            acc_meter.update(acc, 1)
    return loss_meter.avg, float(acc_meter.avg)


def do_inference(cfg, model, val_loader):
    model.eval()
    feats = []
    with torch.no_grad():
        for img, _ in val_loader:
            feats.append(model(img))
    return torch.cat(feats)
