# The trainer is looked up by the target; what does not take these arguments is none.
import torch
from torch import nn


def train_and_save(args):
    worker(args, nn.Linear(4, 1).cuda())


def worker(args, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    globals().get("train_" + args.target)(args, args.loader, model, optimizer, scaler)


def train_lm(args, loader, model, optimizer, scaler):
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = (model(x) - y).abs().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def train_cls(args, loader, model, optimizer, scaler):
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = nn.functional.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
