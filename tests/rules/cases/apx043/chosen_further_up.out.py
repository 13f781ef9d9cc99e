from contextlib import suppress
from functools import partial

import torch


def validate(args, model, loader, device):
    use_amp = None
    amp_autocast = suppress
    if args.amp:
        if args.amp_impl == "apex":
            amp_autocast = partial(torch.autocast, device_type="cuda", dtype=torch.float16)
            assert args.amp_dtype == "float16"
            use_amp = "apex"
            print("with Apex")
        else:
            use_amp = "native"
            amp_dtype = torch.bfloat16 if args.amp_dtype == "bfloat16" else torch.float16
            amp_autocast = partial(torch.autocast, device_type=device.type, dtype=amp_dtype)
    with torch.no_grad():
        for x, y in loader:
            with amp_autocast():
                output = model(x)
