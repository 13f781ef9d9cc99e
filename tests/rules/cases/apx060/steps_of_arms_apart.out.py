import torch
import torch.nn.functional as F


def train(model, optimizer, scaler, loader, args):
    for images, targets, attributes in loader:
        with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
            outputs, found = model(images)
            loss = F.cross_entropy(outputs, targets)
        if args.attributes:
            with torch.autocast("cuda", dtype=torch.float16, enabled=scaler.is_enabled()):
                loss = loss + F.cross_entropy(found, attributes)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main(model, loader, args):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda", enabled=bool(args.fp16))
    train(model, optimizer, scaler, loader, args)
