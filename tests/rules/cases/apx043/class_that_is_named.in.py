# expect: review the native backend of this file serves here too
# expect: review ApexScaler keeps its interface
from contextlib import suppress

import torch
from apex import amp


__all__ = ["ApexScaler"]


class ApexScaler:
    def __call__(self, loss, optimizer):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()

        optimizer.step()


class TorchScaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler("cuda")

    def __call__(self, loss, optimizer):
        self._scaler.scale(loss).backward()
        self._scaler.step(optimizer)
        self._scaler.update()


def train(model, loader, optimizer, loss_scaler, amp_autocast):
    for x, y in loader:
        with amp_autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if loss_scaler is not None:
            loss_scaler(loss, optimizer)
        else:
            loss.backward()
            optimizer.step()


def run(args, loader):
    model = torch.nn.Linear(5, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)

    amp_autocast = suppress
    loss_scaler = None
    if args.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
        print("mixed precision")
    elif args.torch_amp:
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = TorchScaler()
        print("native mixed precision")
    train(model, loader, optimizer, loss_scaler, amp_autocast)
