# expect: review the native backend of this file serves here too
# expect: review holds the scaler's state under 'amp', where nobody looks any more
import torch
from contextlib import suppress
from apex import amp


class ApexScaler:
    state_dict_key = "amp"

    def __call__(self, loss, optimizer):
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()


class NativeScaler:
    state_dict_key = "amp_scaler"

    def __init__(self):
        self._scaler = torch.cuda.amp.GradScaler()

    def __call__(self, loss, optimizer):
        self._scaler.scale(loss).backward()
        self._scaler.step(optimizer)
        self._scaler.update()


def main(args, model, optimizer, loader):
    amp_autocast = suppress
    loss_scaler = None
    if args.apex_amp:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
    elif args.native_amp:
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = NativeScaler()
    for x, y in loader:
        optimizer.zero_grad()
        with amp_autocast():
            loss = criterion(model(x), y)
        if loss_scaler is not None:
            loss_scaler(loss, optimizer)
        else:
            loss.backward()
            optimizer.step()
    print("saved under", loss_scaler.state_dict_key)
