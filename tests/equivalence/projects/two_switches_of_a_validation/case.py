# expect: review

import argparse
from contextlib import suppress

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
parser.add_argument("--apex-amp", action="store_true")
parser.add_argument("--native-amp", action="store_true")


def validate(args, loader):
    amp_autocast = suppress  # do nothing
    if args.amp:
        if has_apex:
            args.apex_amp = True
        else:
            args.native_amp = True
    assert not args.apex_amp or not args.native_amp, "Only one AMP mode should be set."
    if args.native_amp:
        amp_autocast = torch.cuda.amp.autocast

    model = nn.Linear(4, 3).cuda()
    if args.apex_amp:
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
    return validate(parser.parse_args(["--amp"]), loader)


if __name__ == "__main__":
    print(main())
