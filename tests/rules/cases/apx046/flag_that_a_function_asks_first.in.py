# expect: manual no call of the model was found in this file
# rule: APX091
import torch
from packaging import version

_use_native_amp = False


def ready():
    return _use_native_amp


READY = ready()
if version.parse(torch.__version__) < version.parse("1.6"):
    from apex import amp
else:
    _use_native_amp = True


def train(model, optimizer, args):
    if args.fp16 and _use_native_amp:
        pass
    elif args.fp16:
        model, optimizer = amp.initialize(model, optimizer)
    return model, optimizer
