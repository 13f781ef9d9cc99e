import torch
from contextlib import suppress


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
    if args.apex_amp or args.native_amp:
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
