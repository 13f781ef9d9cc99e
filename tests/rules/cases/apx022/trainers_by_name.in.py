# The trainer is looked up by the target; what does not take these arguments is none.
import torch
from apex import amp
from torch import nn


def train_and_save(args):
    worker(args, nn.Linear(4, 1).cuda())


def worker(args, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.fp16:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    globals().get("train_" + args.target)(args, args.loader, model, optimizer)


def train_lm(args, loader, model, optimizer):
    for x, y in loader:
        loss = (model(x) - y).abs().mean()
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def train_cls(args, loader, model, optimizer):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        if args.fp16:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
