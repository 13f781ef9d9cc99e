# expect: review the native backend of this file serves here too
from contextlib import suppress

import torch
from timm.utils import NativeScaler, ApexScaler

try:
    from apex import amp

    has_apex = True
except ImportError:
    has_apex = False


def main(args, model, optimizer, loader):
    amp_autocast = suppress
    loss_scaler = None
    if args.torch_amp:
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = NativeScaler()
    elif has_apex and args.other_amp:  # only where it is installed
        # this changes the optimizer
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
    else:
        print("float32")
    for x, y in loader:
        with amp_autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss_scaler(loss, optimizer)
