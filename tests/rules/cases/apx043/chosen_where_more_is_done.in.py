# expect: manual two backends side by side
from contextlib import suppress
from functools import partial

import torch
from apex import amp


def validate(args, model, loader, device):
    use_amp = None
    amp_autocast = suppress
    if args.amp:
        if args.amp_impl == "apex":
            assert args.amp_dtype == "float16"
            use_amp = "apex"
            model = model.half()
        else:
            use_amp = "native"
            amp_dtype = torch.bfloat16 if args.amp_dtype == "bfloat16" else torch.float16
            amp_autocast = partial(torch.autocast, device_type=device.type, dtype=amp_dtype)
    if use_amp == "apex":
        model = amp.initialize(model, opt_level="O1")
    with torch.no_grad():
        for x, y in loader:
            with amp_autocast():
                output = model(x)
