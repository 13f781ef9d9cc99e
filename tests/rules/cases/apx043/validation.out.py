import torch
from contextlib import suppress
from functools import partial


def validate(args, model, loader):
    amp_autocast = suppress
    if args.native_amp or args.apex_amp:
        amp_autocast = partial(torch.autocast, "cuda")
        print("native")
    else:
        print("float32")
    model = model.cuda()
    with torch.no_grad():
        for x, y in loader:
            with amp_autocast():
                out = model(x)
            print(out.float().mean(), y)
