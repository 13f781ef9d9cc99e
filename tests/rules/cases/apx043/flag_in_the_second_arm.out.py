from contextlib import suppress

import torch
from timm.utils import NativeScaler


def main(args, model, optimizer, loader):
    amp_autocast = suppress
    loss_scaler = None
    if args.torch_amp or args.other_amp:
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = NativeScaler()
    else:
        print("float32")
    for x, y in loader:
        with amp_autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss_scaler(loss, optimizer)
