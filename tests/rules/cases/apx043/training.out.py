import logging
from contextlib import suppress

import torch
from timm.utils import NativeScaler


def main(args, model, optimizer, loader):
    use_amp = None
    if args.apex_amp:
        use_amp = "apex"
    elif args.native_amp:
        use_amp = "native"

    amp_autocast = suppress  # do nothing
    loss_scaler = None
    if use_amp in ("apex", "native"):
        amp_autocast = torch.cuda.amp.autocast
        loss_scaler = NativeScaler()
        if args.local_rank == 0:
            logging.info("Using native AMP. Training in mixed precision.")
    train(model, loader, optimizer, amp_autocast, loss_scaler)


def train(model, loader, optimizer, amp_autocast=suppress, loss_scaler=None):
    for x, y in loader:
        with amp_autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        if loss_scaler is not None:
            loss_scaler(loss, optimizer, parameters=model.parameters())
        else:
            loss.backward()
            optimizer.step()
