# expect: review

import argparse
from contextlib import suppress
from functools import partial

import torch
import torch.nn as nn
from tools import ApexScaler, NativeScaler

try:
    from apex import amp
    has_apex = True
except ImportError:
    has_apex = False

parser = argparse.ArgumentParser()
parser.add_argument("--amp-impl", default="apex")
parser.add_argument("--clip-grad", type=float, default=0.5)


def train_one_epoch(model, loader, optimizer, loss_fn, args, amp_autocast=suppress, loss_scaler=None):
    losses = []
    for i, (x, y) in enumerate(loader):
        with amp_autocast():
            loss = loss_fn(model(x), y)
        losses.append(loss.item())
        if loss_scaler is not None:
            update = i % 2 == 1
            loss_scaler(
                loss, optimizer, clip_grad=args.clip_grad, parameters=model.parameters(), need_update=update
            )
        else:
            loss.backward()
            optimizer.step()
        if i % 2 == 1:
            optimizer.zero_grad()
    return losses


def main():
    args = parser.parse_args([])
    use_amp = None
    if args.amp_impl == "apex":
        assert has_apex, "AMP impl specified as APEX but APEX is not installed."
        use_amp = "apex"
    else:
        use_amp = "native"
    torch.manual_seed(1)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    amp_autocast = suppress
    loss_scaler = None
    device, amp_dtype = torch.device("cuda"), torch.float16
    if use_amp == "apex":
        assert device.type == "cuda"
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
        loss_scaler = ApexScaler()
        print("Training in mixed precision.")
    elif use_amp == "native":
        try:
            amp_autocast = partial(torch.autocast, device_type=device.type, dtype=amp_dtype)
        except (AttributeError, TypeError):
            amp_autocast = torch.cuda.amp.autocast
        if device.type == "cuda" and amp_dtype == torch.float16:
            loss_scaler = NativeScaler()
        print("Training in mixed precision.")
    loader = [(torch.randn(4, 4), torch.randint(0, 3, (4,))) for _ in range(6)]
    loader[2] = (loader[2][0] * 1e36, loader[2][1])
    out = [train_one_epoch(model, loader, optimizer, nn.CrossEntropyLoss(), args, amp_autocast, loss_scaler)]
    return out, list(model.parameters())


if __name__ == "__main__":
    print(main())
