# expect: safe
# casts: real

"""5-fold-ish cross validation (3 folds): each fold builds and initializes its own model; the scaling context is chosen by a flag."""
from contextlib import contextmanager, nullcontext
import random

import torch
import torch.nn as nn

try:
    from apex import amp
except ImportError:
    amp = None


class Config:
    apex = True
    folds = [0, 1, 2]
    epochs = 2
    lr = 5e-3
    accumulation = 1
    max_len = 6


class DisasterModel(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.backbone = nn.ModuleDict({"emb": nn.Embedding(35, 8), "lin": nn.Linear(8, 8)})
        self.attention = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1), nn.Softmax(dim=1))
        self.regressor = nn.Linear(8, 1)

    def forward(self, ids):
        h = torch.relu(self.backbone["lin"](self.backbone["emb"](ids)))
        weights = self.attention(h)
        return self.regressor(torch.sum(weights * h, dim=1)).squeeze(-1)


class RMSELoss(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.mse, self.eps = nn.MSELoss(), eps

    def forward(self, yhat, y):
        return torch.sqrt(self.mse(yhat, y) + self.eps)


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)


def train_fn(cfg, batches, model, criterion, optimizer, scheduler):
    model.train()
    running = 0.0
    for x, y in batches:
        y_preds = model(x)
        loss = criterion(y_preds, y)
        with (amp.scale_loss(loss, optimizer) if cfg.apex else nullcontext(loss)) as scaled_loss:
            scaled_loss.backward()
        grad_norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()
        running += loss.item()
    return running / len(batches), float(grad_norm)


def valid_fn(batches, model, criterion):
    model.eval()
    preds = []
    for x, y in batches:
        with torch.no_grad():
            preds.append(model(x))
    preds = torch.cat(preds).float()
    return criterion(preds, torch.cat([y for _, y in batches])).item(), preds


def train_loop(cfg, data, fold):
    seed_everything(100 + fold)
    valid = [data[fold]]
    train = [d for i, d in enumerate(data) if i != fold]
    model = DisasterModel(cfg)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=8)
    if cfg.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level='O1', verbosity=0)
    criterion = RMSELoss()
    best, log = float("inf"), []
    for epoch in range(cfg.epochs):
        log.append(train_fn(cfg, train, model, criterion, optimizer, scheduler))
        score, preds = valid_fn(valid, model, criterion)
        if score < best:
            best, best_preds = score, preds
    return best, best_preds, log


def main():
    seed_everything(0)
    data = [(torch.randint(0, 35, (5, Config.max_len)), torch.rand(5)) for _ in range(4)]
    oof = [train_loop(Config, data, fold) for fold in Config.folds]
    cv = sum(o[0] for o in oof) / len(oof)
    return cv, oof


if __name__ == "__main__":
    main()
