# expect: manual the loss of this optimizer is not scaled in this file
import accelerate
import torch
from apex import amp
from contextlib import suppress
from functools import partial
from timm.utils import ApexScaler, NativeScaler

def main(args, model, optimizer, loader, device, amp_dtype):
    amp_autocast = suppress
    loss_scaler = None
    if args.amp_impl == "apex":
        assert device.type == "cuda"
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
        print("with Apex")
    elif args.amp_impl == "native":
        try:
            amp_autocast = partial(accelerate.autocast, device_type=device.type, dtype=amp_dtype)
        except (AttributeError, TypeError):
            amp_autocast = accelerate.autocast
        if device.type == "cuda" and amp_dtype == torch.float16:
            loss_scaler = NativeScaler()
    for x, y in loader:
        with amp_autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss_scaler(loss, optimizer)
