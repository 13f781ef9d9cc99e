# expect: manual no call of the model was found in this file
# rule: APX091
import torch
from packaging import version

from apex import amp

if version.parse(torch.__version__) < version.parse("1.6"):
    _use_native_amp = False
else:
    _use_native_amp = True


def train(model, optimizer, args):
    if args.fp16 and args.native and _use_native_amp:
        pass
    elif args.fp16:
        model, optimizer = amp.initialize(model, optimizer)
    return model, optimizer
