# expect: review and will not load
import os

import torch


def train(model, optimizer, loader, amp):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if amp is not None:
            with amp.scale_loss(loss, optimizer) as scaled_loss:
                scaled_loss.backward()
        else:
            loss.backward()
        optimizer.step()


def main(args, p, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.nvidia_apex:
        from apex import amp
        model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
    else:
        amp = None
    start_epoch = 0
    if os.path.exists(p["checkpoint"]):
        checkpoint = torch.load(p["checkpoint"])
        model.load_state_dict(checkpoint["model"])
        if args.nvidia_apex:
            amp.load_state_dict(checkpoint["amp"])
        start_epoch = checkpoint["epoch"]
    for epoch in range(start_epoch, p["epochs"]):
        train(model, optimizer, loader, amp)
        if args.nvidia_apex:
            torch.save({"model": model.state_dict(), "amp": amp.state_dict(), "epoch": epoch + 1}, p["checkpoint"])
        else:
            torch.save({"model": model.state_dict(), "epoch": epoch + 1}, p["checkpoint"])
