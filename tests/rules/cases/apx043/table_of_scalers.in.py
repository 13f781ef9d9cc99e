# expect: manual the loss of this optimizer is not scaled in this file
import torch
from apex import amp
from contextlib import suppress
from timm.utils import ApexScaler, NativeScaler


def main(use_amp, model, optimizer, loader):
    amp_autocast = suppress
    if use_amp == "apex":
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    elif use_amp == "native":
        amp_autocast = torch.cuda.amp.autocast
    loss_scaler = {"apex": ApexScaler, "native": NativeScaler}[use_amp]()
    for x, y in loader:
        with amp_autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss_scaler(loss, optimizer)
