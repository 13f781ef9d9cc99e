import os

import torch


def train(model, optimizer, scaler, loader):
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def main(args, p, loader):
    model = torch.nn.Linear(4, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.nvidia_apex))
    start_epoch = 0
    if os.path.exists(p["checkpoint"]):
        checkpoint = torch.load(p["checkpoint"])
        model.load_state_dict(checkpoint["model"])
        if args.nvidia_apex:
            scaler.load_state_dict(checkpoint["amp"])
        start_epoch = checkpoint["epoch"]
    for epoch in range(start_epoch, p["epochs"]):
        train(model, optimizer, scaler, loader)
        if args.nvidia_apex:
            torch.save({"model": model.state_dict(), "amp": scaler.state_dict(), "epoch": epoch + 1}, p["checkpoint"])
        else:
            torch.save({"model": model.state_dict(), "epoch": epoch + 1}, p["checkpoint"])
