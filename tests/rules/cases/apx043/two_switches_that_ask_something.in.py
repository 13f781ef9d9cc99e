# expect: manual `amp_autocast()` stands around this already
from contextlib import suppress

import torch
from apex import amp


def validate(args, model, loader):
    amp_autocast = suppress
    if args.native_amp:
        amp_autocast = torch.cuda.amp.autocast
        print("native")
    model = model.cuda()
    if args.apex_amp():
        model = amp.initialize(model, opt_level="O1")
        print("with Apex")
    with torch.no_grad():
        for x, y in loader:
            with amp_autocast():
                output = model(x)
