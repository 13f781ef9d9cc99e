# expect: review

from contextlib import suppress

import torch
import torch.nn as nn
from scalers import ApexScalerAccum as ApexScaler
from scalers import NativeScalerAccum as NativeScaler

try:
    from apex import amp
    has_apex = True
except ImportError:
    has_apex = False

has_native_amp = False
try:
    if getattr(torch.cuda.amp, "autocast") is not None:
        has_native_amp = True
except AttributeError:
    pass


def train_one_epoch(model, loader, optimizer, loss_fn, amp_autocast=suppress, loss_scaler=None):
    losses = []
    for i, (x, y) in enumerate(loader):
        with amp_autocast():
            loss = loss_fn(model(x), y)
        losses.append(loss.item())
        update_grad = (i + 1) % 2 == 0
        if loss_scaler is not None:
            loss_scaler(
                loss / 2, optimizer, clip_grad=0.5, parameters=model.parameters(), update_grad=update_grad)
        else:
            (loss / 2).backward()
            if update_grad:
                optimizer.step()
        if update_grad:
            optimizer.zero_grad()
    return losses


def main(apex_amp=True):
    use_amp = None
    if apex_amp and has_apex:
        use_amp = "apex"
    elif has_native_amp:
        use_amp = "native"
    torch.manual_seed(1)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    amp_autocast = suppress
    loss_scaler = None
    if use_amp == "apex":
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
        print("Training in mixed precision.")
    elif use_amp == "native":
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = NativeScaler()
        print("Training in mixed precision.")
    loader = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(6)]
    out = [train_one_epoch(model, loader, optimizer, nn.CrossEntropyLoss(), amp_autocast, loss_scaler)]
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
