# expect: manual the loss of this optimizer is not scaled in this file
import torch
from apex import amp
from contextlib import suppress
from timm.utils import ApexScaler, NativeScaler

def main(args, model, optimizer, loader):
    amp_autocast = suppress
    loss_scaler = None
    if args.apex:
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
        for p in model.parameters(): p.grad = None
    elif args.native:
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = NativeScaler()
    for x, y in loader:
        with amp_autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss_scaler(loss, optimizer)

