import torch
import torch.nn.functional as F
from timm.utils import distribute_bn


def train(model, loader, optimizer, scaler, args):
    for i, (x, y) in enumerate(loader):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y) / args.rounds
        scaler.scale(loss).backward()
        if (i + 1) % args.rounds == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def main(args, model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for epoch in range(args.epochs):
        train(model, loader, optimizer, scaler, args)
        distribute_bn(model, args.world_size, True)


main(parse(), Net(), loader)
