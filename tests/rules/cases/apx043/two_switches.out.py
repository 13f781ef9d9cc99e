from contextlib import suppress

import torch


def validate(args, model, loader):
    amp_autocast = suppress
    if args.native_amp or args.apex_amp:
        amp_autocast = torch.cuda.amp.autocast
        print("native")
    model = model.cuda()
    if args.apex_amp:
        print("with Apex")
    with torch.no_grad():
        for x, y in loader:
            with amp_autocast():
                output = model(x)
