from contextlib import suppress

import torch
from timm.utils import NativeScaler


def main(args, model, optimizer, loader):
    amp_autocast = suppress
    loss_scaler = None
    if args.apex:
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = NativeScaler()
    elif args.cpu:
        print("float32")
    elif args.torch_amp:
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = NativeScaler()
    for x, y in loader:
        with amp_autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss_scaler(loss, optimizer)
