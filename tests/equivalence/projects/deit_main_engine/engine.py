import math
import sys

import torch
from apex import amp


def train_one_epoch(model, criterion, data_loader, optimizer, epoch, args):
    model.train()
    total = 0.0
    for step, (images, targets) in enumerate(data_loader):
        outputs = model(images)
        loss = criterion(outputs, targets)
        loss_value = loss.item()
        if not math.isfinite(loss_value):
            print("Loss is {}, stopping training".format(loss_value))
            sys.exit(1)
        if step == 2:
            loss = loss * 1e36
        optimizer.zero_grad()
        if args.use_amp:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
            torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), args.clip_grad)
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)
        optimizer.step()
        total += loss_value
    return {"loss": total / len(data_loader)}


@torch.no_grad()
def evaluate(model, criterion, data_loader):
    model.eval()
    total, hits, n = 0.0, 0, 0
    for images, targets in data_loader:
        output = model(images)
        loss = criterion(output, targets)
        total += loss.item()
        hits += int((output.argmax(1) == targets).sum())
        n += len(targets)
    return {"loss": total / len(data_loader), "acc": hits / n}
