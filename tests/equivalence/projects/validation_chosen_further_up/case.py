# expect: review

import argparse
from contextlib import suppress
from functools import partial

import torch
import torch.nn as nn

from scores import accuracy

has_apex = False
try:
    from apex import amp

    has_apex = True
except ImportError:
    pass

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
parser.add_argument("--amp-impl", default="native")
parser.add_argument("--amp-dtype", default="float16")


def validate(args, loader):
    use_amp = None
    amp_autocast = suppress  # do nothing
    if args.amp:
        if args.amp_impl == "apex":
            assert has_apex, "AMP impl specified as APEX but APEX is not installed."
            assert args.amp_dtype == "float16"
            use_amp = "apex"
        else:
            assert args.amp_dtype in ("float16", "bfloat16")
            use_amp = "native"
            amp_dtype = torch.bfloat16 if args.amp_dtype == "bfloat16" else torch.float16
            amp_autocast = partial(torch.autocast, device_type="cuda", dtype=amp_dtype)

    model = nn.Linear(4, 3).cuda()
    if use_amp == "apex":
        model = amp.initialize(model, opt_level="O1")

    criterion = nn.CrossEntropyLoss().cuda()
    model.eval()
    found = []
    with torch.no_grad():
        for x, y in loader:
            with amp_autocast():
                output = model(x)
                loss = criterion(output, y)
            found.append((round(loss.item(), 3), accuracy(output, y)))
    return found


def main():
    torch.manual_seed(5)
    loader = [(torch.randn(4, 4).cuda(), torch.randint(0, 3, (4,)).cuda()) for _ in range(3)]
    return validate(parser.parse_args(["--amp", "--amp-impl", "apex"]), loader)


if __name__ == "__main__":
    print(main())
