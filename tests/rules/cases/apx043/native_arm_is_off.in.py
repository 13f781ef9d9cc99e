# expect: manual the loss of this optimizer is not scaled in this file
import torch
from apex import amp
from contextlib import suppress
from functools import partial
from timm.utils import ApexScaler, NativeScaler


def main(use_amp, model, optimizer, loader):
    amp_autocast = suppress
    if use_amp == "apex":
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
    elif use_amp == "native":
        amp_autocast = partial(torch.cuda.amp.autocast, enabled=False)
        loss_scaler = NativeScaler()
    for x, y in loader:
        with amp_autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss_scaler(loss, optimizer)
